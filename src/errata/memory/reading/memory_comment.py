"""What errata leaves in its own reports for itself: one comment, `<!-- errata:memory {…} -->`; see docs/memory.md."""

from collections.abc import Sequence

import msgspec

from errata.memory.reading.drafts import is_gap
from errata.memory.reading.markdown import Piece
from errata.memory.spelling import segments
from errata.model import SourceRef
from errata.model.prior_report import PriorFailure, PriorRecommendation, PriorReport

FORMAT = 1
OPENS, ENDS = "<!-- errata:memory ", "-->"


class _Failure(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    label: str = ""
    owner: str = ""
    """What stands in the place of a label that there is not."""
    reviewed: bool = False
    failed_check: str = ""
    reasoning: str = ""


class _Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    group: str = ""
    cases: tuple[str, ...] = ()


class Memory(msgspec.Struct, frozen=True, kw_only=True):
    format: int
    run: str
    model: str = ""
    provider: str = ""
    experiment: str = ""
    date: str = ""
    passed: int | None = None
    total: int | None = None
    failures: tuple[_Failure, ...] = ()
    recommendations: tuple[_Recommendation, ...] = ()
    patterns: tuple[str, ...] = ()


def memory_in(pieces: Sequence[Piece]) -> Memory | None:
    """The last such comment of a report; none where there is none, or it is damaged or of another errata."""
    for piece in reversed(pieces):
        content = piece.text.strip()
        if piece.kind == "comment" and content.startswith(OPENS) and content.endswith(ENDS):
            try:
                found = msgspec.json.decode(content[len(OPENS) : -len(ENDS)], type=Memory)
            except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
                return None
            return found if found.format == FORMAT else None
    return None


def from_memory(told: Memory, visible: PriorReport) -> PriorReport:
    """What is kept in the comment, where a person has not changed it: a label that was corrected by hand holds."""
    seen = {segments(one.case): one for one in visible.failures}
    pairs = [(one, seen.get(segments(one.case))) for one in told.failures]
    kept = tuple(PriorRecommendation(text=one.text, group=one.group, cases=one.cases) for one in told.recommendations)
    return msgspec.structs.replace(
        visible,
        own=True,
        run=told.run,
        model=told.model,
        provider=told.provider,
        experiment=told.experiment,
        date=told.date,
        passed=told.passed,
        total=told.total,
        failures=tuple(_failure(one, found, visible.path) for one, found in pairs),
        recommendations=kept,
        patterns=told.patterns or visible.patterns,
        gaps=tuple(one.case for one, found in pairs if _calls_a_gap(one, found)),
    )


def _failure(one: _Failure, seen: PriorFailure | None, path: str) -> PriorFailure:
    return PriorFailure(
        case=one.case,
        label=_corrected(one, seen) or one.label,
        by_rule=bool(one.label) and not one.reviewed and not _corrected(one, seen),
        failed_check=one.failed_check,
        reasoning=one.reasoning,
        ref=seen.ref if seen else SourceRef(file=path),
    )


def _corrected(one: _Failure, seen: PriorFailure | None) -> str:
    """The label that a person has put in the place of errata's."""
    return seen.label if seen and seen.label not in ("", one.label, one.owner) else ""


def _calls_a_gap(one: _Failure, seen: PriorFailure | None) -> bool:
    """What only rules have called a gap was taken from other records, and adds none."""
    corrected = _corrected(one, seen)
    return is_gap(corrected) if corrected else one.reviewed and is_gap(one.label)
