"""An action in a report: a line of a list or a row of a table. And whether a line is already this action.

`2026-03-04: `eslint.config.mjs` now ignores unused arguments (addresses 000-fundamentals/002-http_greeting).`
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import PurePosixPath

from errata.memory.history import same_case
from errata.memory.spelling import ends_alike, segments
from errata.model import Action
from errata.model.prior_report import PriorRecommendation, PriorReport
from errata.model.record import Struct
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import line_for_user

DAY = len("2026-03-04")
_CODE_SPAN = lazy_regex(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")
_BREAKS_OUT = lazy_regex(r"`|<(?=[A-Za-z/!?])|\\\Z")
_PLAIN_NAME = lazy_regex(r"[\w./:@#+-]+")
_ESCAPED = lazy_regex(r"\\([!-/:-@\[-`{-~])")
_MARKUP = lazy_regex(r"^\[[ xX]\]\s|`|\*\*")
_AROUND = r"[\s*_.!()|–—-]*"
_NONE = lazy_regex(
    rf"{_AROUND}(?:none(?: (?:yet|so far|taken|at this time))?"
    r"|no actions?(?: (?:were |was )?taken)?(?: (?:yet|so far))?"
    rf"|n/?a|nothing(?: yet| so far)?){_AROUND}",
    re.IGNORECASE,
)
_COLUMNS = {
    "date": "date|when|day|done on|date done",
    "what": (
        "what|actions?|actions? taken|changes?|description|what changed|what was done|what we did|fix|changes? made"
        "|action items?|items?"
    ),
    "path": "paths?|files?|where|target|changed files?|files? changed",
    "addresses": (
        "address(?:es|ed)?|for|evals?|cases?|failures?|fixes|addressed (?:evals?|failures?|cases?)|affects"
        "|affected evals?|tasks?|failures? addressed|evals? addressed"
    ),
    "author": "author|by|who|done by|owner",
    "expected": "expected|effect|expected effect",
    "status": "status|state|done|done\\?",
    "number": "#|no|nr|number",
}


class ActionEntry(Struct):
    date: str
    what: str
    path: str = ""
    addresses: tuple[str, ...] = ()
    author: str = ""
    expected: str = ""

    @property
    def core(self) -> str:
        """What makes it this action and no other."""
        path = f"{self.path} " if self.path else ""
        return f"{self.date}: {path}{self.what} (addresses {', '.join(self.addresses)}"

    @property
    def line(self) -> str:
        return "; ".join([self.core, *self.notes()]) + ")."

    def notes(self, columns: Sequence[str] = ()) -> list[str]:
        """The other details of the action, without those that have a column of their own."""
        details = {"author": f"by {self.author}", "expected": f"expected: {self.expected}"}
        return [text for name, text in details.items() if getattr(self, name) and name not in columns]


def entry_for(action: Action, suite: str = "") -> ActionEntry:
    """Cases are named as their harness names them, without the suite; of a time, reports tell the day."""
    names = (address.removeprefix(f"{suite}/") if suite else address for address in action.addresses)
    return ActionEntry(
        date=one_line(action.date)[:DAY],
        what=escaped(safe(action.what).rstrip(".")),
        path=as_code(safe(action.path)) if action.path else "",
        addresses=tuple(name if _PLAIN_NAME.fullmatch(name) else as_code(name) for name in map(safe, names)),
        author=escaped(safe(action.author)),
        expected=escaped(safe(action.expected_effect).rstrip(".")),
    )


def safe(text: str) -> str:
    """One line without controls and secrets."""
    return line_for_user(text)


def escaped(text: str) -> str:
    """A person's own markdown, but for what would swallow the text behind it: HTML, a code span that never ends."""
    pieces, at = [], 0
    for span in _CODE_SPAN.finditer(text):
        pieces += [_BREAKS_OUT.sub(r"\\\g<0>", text[at : span.start()]), span[0]]
        at = span.end()
    return "".join([*pieces, _BREAKS_OUT.sub(r"\\\g<0>", text[at:])])


def as_code(text: str) -> str:
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def is_none(text: str) -> bool:
    return _NONE.fullmatch(text) is not None


def is_blank(text: str) -> bool:
    """Whether it is empty; a dash counts as empty."""
    return re.fullmatch(_AROUND, text) is not None


def is_entry(text: str, entry: ActionEntry) -> bool:
    """Whether a line is this very action, in whatever markup."""
    written, core = _bare(text), _bare(entry.core)
    return written.startswith(core) and written[len(core) :][:1] in (")", ";")


def columns_of(header: Sequence[str]) -> tuple[str, ...]:
    return _columns_of(tuple(header))


@lru_cache(maxsize=64)
def _columns_of(header: tuple[str, ...]) -> tuple[str, ...]:
    names = [_bare(name).strip(" :.").casefold() for name in header]
    return tuple(next((to for to, like in _COLUMNS.items() if re.fullmatch(like, name)), "") for name in names)


def row_of(columns: Sequence[str], entry: ActionEntry, number: int) -> tuple[str, ...] | None:
    if "what" not in columns:
        return None
    notes = entry.notes(columns)
    parts = {
        "date": entry.date,
        "what": f"{_what(columns, entry)} ({'; '.join(notes)})" if notes else _what(columns, entry),
        "path": entry.path,
        "addresses": ", ".join(entry.addresses),
        "author": entry.author,
        "expected": entry.expected,
        "number": str(number),
    }
    given = [parts.pop(name, "") for name in columns]
    return tuple(cell.replace("|", r"\|") for cell in given)


def is_row(cells: Sequence[str], columns: Sequence[str], entry: ActionEntry) -> bool:
    if "what" not in columns:
        return False
    fields = {"date": entry.date, "path": entry.path, "addresses": ", ".join(entry.addresses)}
    for name, cell in zip(columns, cells, strict=False):
        if name in fields and _bare(cell) != _bare(fields.pop(name)):
            return False
    what, wanted = _bare(cells[columns.index("what")]), _bare(_what(columns, entry))
    return what == wanted or what.startswith((f"{wanted} (by ", f"{wanted} (expected: "))


def _what(columns: Sequence[str], entry: ActionEntry) -> str:
    what = entry.what
    if "path" not in columns and entry.path:
        what = f"{entry.path} {what}"
    if "date" not in columns:
        what = f"{entry.date}: {what}"
    return what if "addresses" in columns else f"{what} (addresses {', '.join(entry.addresses)})"


def _bare(text: str) -> str:
    """Without markup and a full stop at the end."""
    return " ".join(_MARKUP.sub("", _ESCAPED.sub(r"\1", text)).split()).rstrip(".")


# --- whether a recommendation has been carried out already, so that it is reported as done and not made again


SHARE = 0.5
"""The share of the significant words that two texts need in common, if nothing else shows that they are the same."""
SHARE_OF_A_CASE = 0.4
"""Less, where both are about the same case or file."""
FEWEST = 2
_WORD = lazy_regex(r"[^\W\d_]{3,}")
_EMPTY = frozenset(
    _WORD.findall(
        "the and for that this with now not its are was has have say says said what when where which who will would "
        "should can could may might must into from than then them they there their these those all any also only one "
        "two more some such very same other another make makes made use uses used add adds added change "
        "changes changed"  # words: quoted
    )
)


def find_action_for(
    text: str, actions: Iterable[Action], *, cases: Sequence[str] = (), path: str = ""
) -> Action | None:
    """The newest action that is the recommended change: two of the same case, the same file and the same words."""
    for action in sorted(actions, key=lambda one: one.date, reverse=True):
        shared = word_overlap(text, f"{action.what} {action.path}")
        is_its_case = any(same_case(case, other) for case in cases for other in action.addresses)
        is_its_file = bool(path) and _same_file(path, action.path)
        if is_its_case and (is_its_file or shared >= SHARE_OF_A_CASE):
            return action
        may_be_it = not cases or not action.addresses
        if may_be_it and ((is_its_file and shared >= SHARE_OF_A_CASE) or shared >= SHARE):
            return action
    return None


def times_recommended(text: str, reports: Iterable[PriorReport], *, cases: Sequence[str] = ()) -> int:
    return sum(any(_is_same(text, cases, one) for one in report.recommendations) for report in reports)


def _is_same(text: str, cases: Sequence[str], other: PriorRecommendation) -> bool:
    is_its_case = any(ends_alike(segments(case), segments(name)) for case in cases for name in other.cases)
    if cases and other.cases and not is_its_case:
        return False
    return word_overlap(text, other.text) >= (SHARE_OF_A_CASE if is_its_case else SHARE)


def word_overlap(left: str, right: str) -> float:
    """How many of the telling words of the shorter text the other has, too; a word inside of another is the same."""
    here, there = sorted((_content_words(left), _content_words(right)), key=len)
    shared = sum(any(_same_word(word, known) for known in there) for word in here)
    return shared / len(here) if shared >= FEWEST else 0.0


def _content_words(text: str) -> set[str]:
    return {word for word in map(str.lower, _WORD.findall(text)) if word not in _EMPTY}


def _same_word(left: str, right: str) -> bool:
    """`lint` and `eslint`, `config` and `configuration`, `ignore` and `ignores`."""
    short, long = sorted((left, right), key=len)
    return short == long or (len(short) >= 4 and short in long)


def _same_file(left: str, right: str) -> bool:
    here, there = PurePosixPath(left).parts, PurePosixPath(right).parts
    size = min(len(here), len(there))
    return size > 0 and here[-size:] == there[-size:]
