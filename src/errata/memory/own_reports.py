"""What errata leaves in its own reports for itself: one comment, `<!-- errata:memory {…} -->`; see docs/memory.md."""

from collections.abc import Sequence

import msgspec

from errata.memory.reading.markdown import ReportPart
from errata.memory.spelling import is_gap, segments
from errata.model import SourceRef
from errata.model.prior_report import PriorFailure, PriorRecommendation, PriorReport, PriorRun
from errata.model.record import Struct

FORMAT = 1
OPENS, ENDS = "<!-- errata:memory ", "-->"


class _Failure(Struct):
    case: str
    label: str = ""
    owner: str = ""
    """Takes the place of a missing label."""
    reviewed: bool = False
    failed_check: str = ""
    reasoning: str = ""


class _Recommendation(Struct):
    text: str
    group: str = ""
    cases: tuple[str, ...] = ()


class Memory(Struct):
    format: int
    run: str
    run_id: str = ""
    """Errata's own id: several runs may share the harness's."""
    model: str = ""
    provider: str = ""
    experiment: str = ""
    date: str = ""
    passed: int | None = None
    total: int | None = None
    failures: tuple[_Failure, ...] = ()
    recommendations: tuple[_Recommendation, ...] = ()
    patterns: tuple[str, ...] = ()

    def is_about(self, native_id: str, run_id: str) -> bool:
        return self.run_id == run_id if self.run_id else self.run == native_id


def memory_in(pieces: Sequence[ReportPart]) -> Memory | None:
    """The last such comment of a report; none where there is none, or it is damaged or of another errata."""
    for piece in reversed(pieces):
        content = piece.text.strip()
        if piece.kind == "comment" and content.startswith(OPENS) and content.endswith(ENDS):
            try:
                memory = msgspec.json.decode(content[len(OPENS) : -len(ENDS)], type=Memory)
            except (msgspec.MsgspecError, RecursionError, UnicodeEncodeError):
                return None
            return memory if memory.format == FORMAT else None
    return None


def from_memory(memory: Memory, visible: PriorReport) -> PriorReport:
    """What is kept in the comment, where a person has not changed it: a label that was corrected by hand holds."""
    seen = {segments(one.case): one for one in visible.failures}
    pairs = [(one, seen.get(segments(one.case))) for one in memory.failures]
    kept = tuple(PriorRecommendation(text=one.text, group=one.group, cases=one.cases) for one in memory.recommendations)
    return msgspec.structs.replace(
        visible,
        own=True,
        run=memory.run,
        run_id=memory.run_id,
        runs=(PriorRun(id=memory.run, model=memory.model, date=memory.date, passed=memory.passed, total=memory.total),),
        model=memory.model,
        provider=memory.provider,
        experiment=memory.experiment,
        date=memory.date,
        passed=memory.passed,
        total=memory.total,
        failures=tuple(_failure(one, found, visible.path) for one, found in pairs),
        recommendations=kept,
        patterns=memory.patterns or visible.patterns,
        gaps=tuple(one.case for one, found in pairs if _calls_a_gap(one, found)),
    )


def _failure(failure: _Failure, seen: PriorFailure | None, path: str) -> PriorFailure:
    return PriorFailure(
        case=failure.case,
        label=_corrected(failure, seen) or failure.label,
        by_rule=bool(failure.label) and not failure.reviewed and not _corrected(failure, seen),
        failed_check=failure.failed_check,
        owner=failure.owner,
        reasoning=failure.reasoning,
        ref=seen.ref if seen else SourceRef(file=path),
    )


def _corrected(failure: _Failure, seen: PriorFailure | None) -> str:
    return seen.label if seen and seen.label not in ("", failure.label, failure.owner) else ""


def _calls_a_gap(failure: _Failure, seen: PriorFailure | None) -> bool:
    """What only rules have called a gap was taken from other records, and adds none."""
    corrected = _corrected(failure, seen)
    return is_gap(corrected) if corrected else failure.reviewed and is_gap(failure.label)
