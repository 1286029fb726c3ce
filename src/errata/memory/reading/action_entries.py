"""What in a report may be an action: entries below headings for actions, and what headings and titles say of them."""

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from errata.memory.entries import columns_of
from errata.memory.reading.action_words import (
    State,
    is_change,
    state_of,
    state_of_cell,
    state_of_sentence,
    without_marks,
)
from errata.memory.reading.cases import names_in
from errata.memory.reading.dates import date_in, without_date
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.run_words import ids_in
from errata.memory.reading.sections import OF_LIST, topic_of
from errata.memory.reading.sentences import sentences
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.spelling import folded
from errata.text.lazy_regex import lazy_regex

_NOT_DONE = lazy_regex(
    r"(?i)\b(?:rejected|considered|planned|deferred|not (?:yet )?(?:done|made)|recommended|proposed|pending|left"
    r"|skipped|declined)\b"
)
OF_A_LINE = 90
"""The level of a line such as `Applied:`, below every heading."""


class Context(msgspec.Struct, kw_only=True):
    """What the headings and titles around an entry say of it."""

    level: int
    is_actions: bool
    is_log: bool = False
    """The heading promises that what follows was done."""
    is_advice: bool = False
    """A section of recommendations: some note there what became of each."""
    state: State = "unknown"
    date: str = ""
    cases: tuple[str, ...] = ()
    is_partial: bool = False
    """Not the section for actions, so others may stand elsewhere: carried over from an earlier report, or a list."""


class Entry(msgspec.Struct):
    piece: MarkdownPiece
    context: Context
    below: list[MarkdownPiece] = []


def entries_in(pieces: Sequence[MarkdownPiece], known: Vocabulary, *, year: str = "") -> Iterator[Entry]:
    """What may be an action: entries below headings for actions, each with its text below, and all else.

    `year` is that of days without one.
    """
    contexts: list[Context] = []
    held: Entry | None = None
    for at, piece in enumerate(pieces):
        current = contexts[-1] if contexts else Context(level=0, is_actions=False)
        if held is not None and _belongs_to(piece, held):
            held.below.append(piece)
            continue
        if held is not None:
            yield held
            held = None
        if piece.kind == "heading":
            contexts = [one for one in contexts if one.level < piece.level]
            context = _of_section(piece, contexts[-1] if contexts else None, known)
            contexts.append(context)
            if context.is_actions and len(contexts) > 1 and contexts[-2].is_actions and _is_action_heading(piece):
                held = Entry(piece, msgspec.structs.replace(contexts[-2], date=context.date), [])
        elif piece.kind in ("comment", "code"):
            continue
        elif current.is_actions and piece.kind == "text" and (_introduces(pieces, at) or is_frame(piece, known)):
            contexts.append(
                within(piece, current, known, OF_A_LINE, year=year)
            )  # until the next heading or the next such line
            contexts = [one for at, one in enumerate(contexts) if one.level < OF_A_LINE or at == len(contexts) - 1]
        else:
            held = Entry(piece, current, [])
    if held is not None:
        yield held


FEWEST = 0.6
"""The share of entries that have to be dated changes."""
_FILE = lazy_regex(r"[\w-]/[\w./-]+\.\w+|\b[\w-]+(?:\.[\w-]+)*\.(?:[cm]?[jt]sx?|json|txt|md|py|toml|ya?ml)\b")


_REPORT = lazy_regex(r"\S*_\d{4}-\d\d-\d\d\.md\b")


def is_log_of_changes(heading: str, section: Sequence[MarkdownPiece]) -> bool:
    """Whether the entries below a heading are changes by their form: entries with a day, and a file or a verb."""
    texts = [_REPORT.sub("", line) for piece in section for line in _lines_of(piece)]
    lines = [text for text in texts if not ids_in(text, needs_run=True)]
    changes = [line for line in lines if len(line.split()) > 4 and (_FILE.search(line) or is_change(line))]
    dated = changes if date_in(heading) else [line for line in changes if date_in(line)]
    return bool(dated) and len(dated) >= FEWEST * len(lines)


def _lines_of(piece: MarkdownPiece) -> list[str]:
    if piece.kind == "row":
        texts = tuple(cell.text for cell in piece.cells)
        return [] if texts == piece.header else [" · ".join(texts)]
    return piece.text.split("\n") if piece.kind in ("item", "text") and not piece.level > 1 else []


def _introduces(pieces: Sequence[MarkdownPiece], at: int) -> bool:
    """A sentence in front of a table or a list: `On 13 May, after Mia agreed, the following was changed:`."""
    following = pieces[at + 1].kind if at + 1 < len(pieces) else ""
    text = pieces[at].text.rstrip()
    return not pieces[at].level and text.endswith(":") and following in ("row", "item") and "\n" not in text


def _belongs_to(piece: MarkdownPiece, held: Entry) -> bool:
    if held.piece.kind == "heading":
        return piece.kind in ("item", "text", "code")
    return (
        held.piece.kind == "item"
        and held.context.is_actions
        and piece.kind in ("item", "text")
        and (piece.level > held.piece.level or (piece.kind == "text" and piece.level == held.piece.level > 0))
    )


def _of_section(piece: MarkdownPiece, outer: Context | None, known: Vocabulary) -> Context:
    kind, inside = topic_of(piece), outer is not None and outer.is_actions
    is_actions = kind == "actions" or (inside and kind != "recommendations" and not piece.topic)
    if not piece.text and not piece.topic:
        is_actions = inside
    name = folded(piece.text)
    is_log = kind == "actions" and name not in ("action", "actions") and not name.startswith("actions-and")
    state = state_of(piece.text)
    bare = re.sub(r"\([^()]*\)", "", piece.text)
    return Context(
        level=piece.level,
        is_actions=is_actions,
        is_advice=kind == "recommendations" or (kind is None and outer is not None and outer.is_advice),
        is_log=is_log or (inside and outer is not None and outer.is_log),
        state=state if state != "unknown" or not inside or outer is None else outer.state,
        date=date_in(piece.text) or (outer.date if outer and (inside or piece.header == OF_LIST) else ""),
        cases=tuple(name for _, name in names_in(Words(bare), known))
        or (outer.cases if inside and outer is not None else ()),
        is_partial="carried-over" in name or piece.header == OF_LIST or (outer is not None and outer.is_partial),
    )


def _is_action_heading(piece: MarkdownPiece) -> bool:
    """Not a group of them such as `Lint changes (done)`."""
    bare = re.sub(r"^\W*(?:\d+[.):]\s*)?|\([^()]*\)", "", piece.text).strip()
    is_of_list = piece.header == OF_LIST  # a sentence over the list of them
    return not is_of_list and state_of(piece.text) != "open" and len(bare.split()) > 2 and is_change(bare)


def is_frame(piece: MarkdownPiece, known: Vocabulary) -> bool:
    """A line that only names a day, a case, a file or a state: its entries stand below it."""
    text = piece.text.strip()
    if "\n" in text:
        return False
    rest = without_date(without_marks(text))
    for _, name in names_in(Words(rest, piece.words.codes if rest == piece.text else ()), known):
        rest = rest.replace(name, "")
    rest = re.sub(r"\([^()]*\)|`|\*", "", rest)
    words = re.findall(r"\w+", rest)
    return (text.endswith(":") and len(words) <= 8) or not words or (state_of(rest) != "unknown" and len(words) <= 3)


def within(piece: MarkdownPiece, outer: Context, known: Vocabulary, level: int, *, year: str = "") -> Context:
    title = piece.text.strip().rstrip(":")
    state = state_of(title)
    if state == "unknown" and _NOT_DONE.search(title):
        state = "open"
    return Context(
        level=level or outer.level,
        is_actions=True,
        is_log=outer.is_log,
        state=outer.state if state == "unknown" else state,
        date=date_in(piece.text, year=year) or outer.date,
        cases=tuple(name for _, name in names_in(piece.words, known)) or outer.cases,
    )


_DAY_IN_FRONT = lazy_regex(r"[\s*_`(\[]*\d[\d./-]{5,}\b|[\s*_`(\[]*\d{1,2}\.?\s+[A-Za-z]{3,9}\b")


def dated_lines(piece: MarkdownPiece) -> list[MarkdownPiece]:
    """The lines of a paragraph as entries where several begin with a day; otherwise all of it."""
    starts = [0, *(match.end() for match in re.finditer(r"\n", piece.text))]
    begins = [at for at in starts if _DAY_IN_FRONT.match(piece.text[at:]) and date_in(piece.text[at : at + 40])]
    if begins[:1] != [0]:
        return [piece]
    parts = zip(begins, [*begins[1:], None], strict=True)
    return [
        msgspec.structs.replace(
            piece, kind="item", words=piece.words.cut(begin, end), line=piece.line + piece.text.count("\n", 0, begin)
        )
        for begin, end in parts
    ]


def outcome(words: Words) -> Words | None:
    """The sentence of an advice that states what became of it: `Say which. Applied on 19 June 2026 in TASK.txt.`"""
    later = list(sentences(words))[1:]
    return next((one for one in later if state_of_sentence(one.text) != "unknown"), None)


def points_elsewhere(text: str) -> bool:
    return (
        re.match(
            r"(?i)\W*(?:see|as|listed|noted|described|recorded|marked|those)\b[^.;]*\b(?:above|below|earlier|boxes)\b",
            text,
        )
        is not None
    )


FIELD = lazy_regex(
    r"(?i)^\W*(date|day|when|files?|paths?|where|changed files?|address(?:es|ed)|evals?|cases?|failures?|for|fixes"
    r"|affects|why|reason|what for|status|state|author|by|who|expected(?: effect)?)\s*[:：]\W*"
)
SHORT = 8
"""Words of a cell or a sentence that only states what became of something."""


def fields_below(below: Sequence[MarkdownPiece]) -> dict[str, Words]:
    """`File: …`, `Addresses: …`, `Date: …` below an entry."""
    fields: dict[str, Words] = {}
    for piece in below:
        start = 0
        for text in piece.text.split("\n"):
            match = FIELD.match(text)
            if match:
                name = "addresses" if match[1].lower() in ("why", "reason", "what for") else columns_of([match[1]])[0]
                fields.setdefault(name or "path", piece.words.cut(start + match.end(), start + len(text)))
            start += len(text) + 1
    return fields


def states_of_row(cells: Mapping[str, Words], texts: Sequence[str]) -> list[str]:
    """The cell for the state; without one, cells that hold nothing else."""
    if "status" in cells:
        return [re.split(r"[,;(]|\s[–—-]\s", cells["status"].text, maxsplit=1)[0]]
    short = [text for text in texts if len(text.split()) <= SHORT and not re.fullmatch(r"[\s–—-]*", text)]
    return [text for text in short if len(text.split()) <= 3 or state_of_cell(text) == "done"]
