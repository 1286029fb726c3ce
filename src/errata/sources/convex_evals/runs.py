"""The run itself, out of all answers that speak of it."""

from pathlib import Path
from typing import Any

from errata.model import Evidence, Reported, Run, SourceInfo, SourceRef, Subject
from errata.sources.convex_evals.answers import TITLES
from errata.sources.convex_evals.collected import Collected
from errata.sources.convex_evals.moments import moment
from errata.sources.convex_evals.usage import usage_of
from errata.sources.convex_evals.vocabulary import NAME, SUITE
from errata.sources.shared.values import count, mapping, rest, sequence, text

HEADLINE = Reported(
    name="prefix_rule",
    metric="pass_rate",
    filter="reasons that start with [rate_limit] or [infrastructure] are dropped",
    headline=True,
)
"""passed / (passed + failed) by the harness's own rule. No saved answer states its value."""

_KNOWN = (
    "_id",
    "_creationTime",
    "benchmarkVersion",
    "evals",
    "experiment",
    "model",
    "plannedEvals",
    "provider",
    "runId",
    "status",
)


def run_of(collected: Collected, root: Path, *, part: str = "") -> Run:
    """`part` is what a file that was read alone tells of it: that must not take the place of the whole."""
    heads = collected.heads
    ref = heads[0][1]
    status = _first_mapping(heads, "status")
    created = next((head["_creationTime"] for head, _ in heads if head.get("_creationTime") is not None), None)
    return Run(
        native_id=".".join(filter(None, (collected.id, part))),
        external_id=_first(heads, "runId"),
        group=collected.id if part else "",
        source=SourceInfo(name=NAME),
        subject=Subject(model=_first(heads, "model"), provider=_first(heads, "provider")),
        variant={"experiment": _first(heads, "experiment") or "default"},
        suite=SUITE,
        suite_version=_first(heads, "benchmarkVersion"),
        expected_cases=len(collected.planned) or _stated(collected, "totalEvals"),
        started_at=moment(created),
        finished_at=moment(created, status.get("durationMs")),
        native_status=text(status.get("kind")),
        reported=_reported(collected),
        log_evidence=_reason_to_fail(status, ref),
        usage=usage_of(status),
        origin=str(root),
        extra=_extra(collected, heads, status),
        ref=ref,
    )


Heads = list[tuple[dict[str, Any], SourceRef]]


def _first(heads: Heads, key: str) -> str:
    return next((head[key] for head, _ in heads if text(head.get(key))), "")


def _first_mapping(heads: Heads, key: str) -> dict[str, Any]:
    return next((head[key] for head, _ in heads if mapping(head.get(key))), {})


def _stated(collected: Collected, key: str) -> int | None:
    """A number that getFailedEvalsForRun states of the whole run."""
    told = (count(answer.value.get(key)) for answer in collected.failed)
    return next((number for number in told if number is not None), None)


def _reported(collected: Collected) -> tuple[Reported, ...]:
    passed, total = _stated(collected, "passedCount"), _stated(collected, "totalEvals")
    if total is None:
        listed = [len(sequence(answer.value.get("evals"))) for answer in collected.answers if answer.kind == "details"]
        total = listed[0] if listed else None
    if total is None:
        return (HEADLINE,)
    value = passed / total if passed is not None and total else None
    return (HEADLINE, Reported(name="passedCount/totalEvals", metric="pass_rate", value=value, n=total))


def _reason_to_fail(status: dict[str, Any], ref: SourceRef) -> tuple[Evidence, ...]:
    reason = text(status.get("failureReason"))
    if not reason:
        return ()
    return (Evidence(name="failureReason", quote=reason, ref=ref.below("status", "failureReason")),)


def _extra(collected: Collected, heads: Heads, status: dict[str, Any]) -> dict[str, Any]:
    extra = rest(status, ("kind", "durationMs", "usage"))
    for head, _ in reversed(heads):
        extra |= rest(head, _KNOWN)
    for key in ("totalEvals", "passedCount", "failedCount"):
        if (number := _stated(collected, key)) is not None:
            extra[key] = number
    extra["answers"] = sorted({TITLES[answer.kind] for answer in collected.answers})
    contradicted = [
        {"file": ref.file, "status": text(mapping(head.get("status")).get("kind"))}
        for head, ref in heads
        if mapping(head.get("status")) and head["status"].get("kind") != status.get("kind")
    ]
    if contradicted:
        extra["contradicted_by"] = contradicted
    return extra
