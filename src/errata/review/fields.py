"""The fields of an answer, one by one: what can't be taken becomes a reason, what is not borne out is left out."""

from typing import Any, TypeVar, get_args

import msgspec

from errata.model import Fix, Packet, Quote, Recommendation
from errata.model.words import Confidence, Owner, RecommendationGroup
from errata.review.evidence import PlaceIndex
from errata.review.passages import Folded
from errata.review.places import Kind
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_others

CAUSE, LINE, REASONING, SNIPPET = 200, 400, 2_000, 4_000
PLACE = 80
MOST_LINES = 20
MOST_QUOTES = 100
LARGEST_STEP = 10**9

_CODE = lazy_regex(r"`[^`]*`|\"[^\"]*\"|“[^“”]*”")
_SENTENCE_END = lazy_regex(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)(?<!\b\w)[.!?][)\]'\"]*\s+(?=[A-Z“\"(`'])"
)
_SLUG = lazy_regex(r"[^a-z0-9]+")
Word = TypeVar("Word", bound=str)


class AnswerFields:
    def __init__(self, given: dict[str, Any], packet: Packet, index: PlaceIndex) -> None:
        self._given, self._packet, self._index = given, packet, index
        self.reasons: list[str] = []
        """Why the answer can't be taken."""
        self.notes: list[str] = []
        """What was left out of it."""

    def line(self, name: str, longest: int = LINE) -> str:
        return one_line(self._text(name), longest)

    def lines(self, name: str) -> tuple[str, ...]:
        """A list of texts; one text alone is taken for a list of one."""
        given = self._given.get(name, [])
        listed = [given] if isinstance(given, str) else given
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            self.reasons.append(f"`{name}` must be a list of texts")
            return ()
        texts = (one_line(for_others(one), LINE) for one in listed[:MOST_LINES])
        return tuple(one for one in texts if one)

    def cause(self) -> str:
        cause = one_line(self._text("cause"))
        if not cause:
            self.reasons.append("`cause` is missing: say in one sentence what went wrong")
        elif len(cause) > CAUSE:
            self.reasons.append(f"`cause` has {len(cause)} characters: one sentence of {CAUSE} at most")
        elif _SENTENCE_END.search(_CODE.sub("code", cause)):
            self.reasons.append("`cause` is more than one sentence: the rest belongs into `reasoning`")
        return cause

    def reasoning(self, *, needed: bool) -> str:
        reasoning = self.line("reasoning", REASONING)
        if needed and not reasoning:
            self.reasons.append("`reasoning` is missing: two or three sentences that say why")
        return reasoning

    def confidence(self, *, needed: bool) -> Confidence:
        if not needed and "confidence" not in self._given:
            return "likely"
        return self._word(self._given.get("confidence"), "confidence", get_args(Confidence)) or "weak"

    def also(self) -> tuple[Owner, ...]:
        owners = [self._word(one, "also", get_args(Owner)) for one in self.lines("also")]
        return tuple(dict.fromkeys(owner for owner in owners if owner))

    def bucket(self) -> str:
        return _SLUG.sub("-", self.line("bucket", 80).lower()).strip("-")

    def recommendation(self) -> Recommendation | None:
        given = self._given.get("recommendation")
        if given is None:
            return None
        if isinstance(given, str):
            given = {"group": given}
        if not isinstance(given, dict):
            self.reasons.append("`recommendation` must be an object with `group` and `text`")
            return None
        group = self._word(given.get("group"), "recommendation.group", get_args(RecommendationGroup))
        text, path = (one_line(for_others(str(given.get(name) or "")), LINE) for name in ("text", "target_path"))
        return Recommendation(group=group, text=text, target_path=path) if group else None

    def quotes(self) -> list[Quote]:
        given = self._given.get("evidence", [])
        try:
            listed = msgspec.convert(given, list[_Quoted])[:MOST_QUOTES]
        except msgspec.ValidationError:
            self.reasons.append("`evidence` must be a list of objects with `place` and `quote`, both texts")
            return []
        return [Quote(place=one.place, quote=one.quote, lines=_pair(one.lines)) for one in listed]

    def error_line(self) -> str:
        """As it is in a place, a signal or the harness's log; the harness's own if the reviewer gives none."""
        known = self._packet.facts.get("error_line")
        stated = one_line(known, LINE) if isinstance(known, str) else ""
        given = self.line("error_line")
        if not given or given == stated:
            return stated
        quoted = [signal.quote for signal in self._packet.signals]
        if self._index.holding(given) or any(Folded(one).holds(given) for one in (*quoted, stated)):
            return given
        self.notes.append("the error line is not in the packet and was dropped")
        return stated

    def snippet(self, name: str, kinds: tuple[Kind, ...] = ()) -> str:
        given = for_others(self._text(name)).strip("\n")
        if not given.strip():
            return ""
        wanted = given.strip()
        if len(given) <= SNIPPET and self._index.holding(wanted, kinds):
            return given
        problem = f"has {len(given)} characters, {SNIPPET} at most," if len(given) > SNIPPET else "is not in the packet"
        if len(given) <= SNIPPET and (elsewhere := self._index.holding(wanted)):
            problem = f"is in `{one_line(elsewhere[0], PLACE)}`, not in the {' or '.join(kinds)},"
        self.notes.append(f"the {name.replace('_', ' ')} {problem} and was dropped")
        return ""

    def fix(self) -> Fix | None:
        given = self._given.get("fix")
        if given is None:
            return None
        try:
            fix = msgspec.convert(given, _Fixed)
        except msgspec.ValidationError:
            self.reasons.append("`fix` must be an object with the texts `path`, `before` and `after`, or null")
            return None
        path, before, after = (for_others(text) for text in (fix.path, fix.before, fix.after))
        if before.strip() and not self._index.holding(before):
            self.notes.append("the fix changes text that is not in the packet and was dropped")
            return None
        return Fix(path=one_line(path, LINE), before=before[:SNIPPET], after=after[:SNIPPET])

    def _text(self, name: str) -> str:
        given = self._given.get(name, "")
        if isinstance(given, str):
            return for_others(given)
        self.reasons.append(f"`{name}` must be a text")
        return ""

    def _word(self, given: Any, name: str, words: tuple[Word, ...]) -> Word | None:
        word_given = given.strip().lower() if isinstance(given, str) else given
        match = next((word for word in words if word == word_given), None)
        if match is None:
            self.reasons.append(f"`{name}` is `{one_line(str(given), 40)}`: one of {', '.join(words)}")
        return match


class _Quoted(msgspec.Struct):
    place: str
    quote: str
    lines: Any = None


class _Fixed(msgspec.Struct):
    path: str
    before: str
    after: str


def _pair(lines: Any) -> tuple[int, int] | None:
    """The lines are looked up anyway: what is not a pair of numbers is passed over."""
    if isinstance(lines, int):
        lines = [lines, lines]
    if not isinstance(lines, list) or len(lines) != 2 or not all(isinstance(one, int) for one in lines):
        return None
    first, last = (min(max(one, 0), LARGEST_STEP) for one in lines)
    return first, last
