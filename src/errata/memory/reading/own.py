"""What errata writes into its own reports to find it again: one comment, `<!-- errata:memory {…} -->`.

`as_memory` makes it, `from_memory` reads it; docs/memory.md tells what is in it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from errata.memory.reading.pieces import Piece
from errata.memory.spelling import segments
from errata.model import SourceRef
from errata.model.prior_report import PriorFailure, PriorRecommendation, PriorReport

MARK = "errata:memory"
FORMAT = 1
OPENS, ENDS = f"<!-- {MARK} ", "-->"


class _Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    case: str
    label: str = ""
    failed_check: str = ""
    reasoning: str = ""


class _Recommendation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    text: str
    group: str = ""
    cases: tuple[str, ...] = ()


class _Memory(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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


def as_memory(report: PriorReport) -> dict[str, object]:
    """For `Document.memory`: what the report says, as far as it is not edited by hand. Actions are read where they stand."""
    plain: dict[str, Any] = msgspec.to_builtins(report)
    told = {field: plain[field] for field in _Memory.__struct_fields__ if field in plain}
    memory = msgspec.convert({"format": FORMAT, **told}, _Memory)
    return {"format": FORMAT, **msgspec.to_builtins(memory)}


def memory_in(pieces: Sequence[Piece]) -> Mapping[str, Any] | None:
    """The last such comment of a report; none where there is none, or it was damaged or is of a newer errata."""
    for piece in reversed(pieces):
        content = piece.words.text.strip()
        if piece.kind == "comment" and content.startswith(OPENS) and content.endswith(ENDS):
            try:
                found = msgspec.json.decode(content[len(OPENS) : -len(ENDS)])
                return found if msgspec.convert(found, _Memory).format == FORMAT else None
            except (msgspec.MsgspecError, RecursionError):
                return None
    return None


def from_memory(memory: Mapping[str, Any], visible: PriorReport) -> PriorReport:
    """What is kept in the comment, where a person has not changed it: a label that was corrected by hand holds."""
    told = msgspec.convert(memory, _Memory)
    seen = {segments(one.case): one for one in visible.failures}
    failures = tuple(_failure(one, seen.get(segments(one.case)), visible.path) for one in told.failures)
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
        failures=failures,
        recommendations=kept,
        patterns=told.patterns,
    )


def _failure(one: _Failure, seen: PriorFailure | None, path: str) -> PriorFailure:
    label = seen.label if seen and seen.label else one.label
    return PriorFailure(
        case=one.case,
        label=label,
        failed_check=one.failed_check,
        reasoning=one.reasoning,
        ref=seen.ref if seen else SourceRef(file=path),
    )
