"""The run record from all answers about it; tokens, cost and times as Convex stores them."""

from pathlib import Path
from typing import Any

from errata.model import Evidence, Reported, Run, SourceInfo, SourceRef, Subject, Usage, UsageByRole
from errata.model.times import from_milliseconds
from errata.sources.base import number_or_none
from errata.sources.convex_evals import NAME
from errata.sources.convex_evals.answers import TITLES, RunAnswers
from errata.sources.convex_evals.steps import SUITE
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.values import count, mapping, number, reported_cost, rest, text

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
Heads = list[tuple[dict[str, Any], SourceRef]]


def run_of(run_answers: RunAnswers, root: Path, *, part: str = "") -> Run:
    """`part` is the eval of a single imported file: such a run must not replace the whole run."""
    heads = run_answers.heads
    ref = heads[0][1]
    status = _first_mapping(heads, "status")
    created = next((head["_creationTime"] for head, _ in heads if head.get("_creationTime") is not None), None)
    return Run(
        native_id=".".join(filter(None, (run_answers.id, part))),
        external_id=_first(heads, "runId"),
        group=run_answers.id if part else "",
        source=SourceInfo(name=NAME),
        subject=Subject(model=_first(heads, "model"), provider=_first(heads, "provider")),
        variant={"experiment": _first(heads, "experiment") or "default"},
        suite=SUITE,
        suite_version=_first(heads, "benchmarkVersion"),
        expected_cases=len(run_answers.planned) or _count_of(run_answers, "totalEvals"),
        measured_attempts=_measured_count(run_answers),
        measured_passes=_count_of(run_answers, "passedCount"),
        started_at=moment(created),
        finished_at=moment(created, status.get("durationMs")),
        native_status=text(status.get("kind")),
        reported=_reported(run_answers),
        log_evidence=_reason_to_fail(status, ref),
        usage=usage_of(status),
        origin=str(root),
        extra=_extra(run_answers, heads, status),
        ref=ref,
    )


def _first(heads: Heads, key: str) -> str:
    return next((head[key] for head, _ in heads if text(head.get(key))), "")


def _first_mapping(heads: Heads, key: str) -> dict[str, Any]:
    return next((head[key] for head, _ in heads if mapping(head.get(key))), {})


def _count_of(run_answers: RunAnswers, key: str) -> int | None:
    """A total of the run in the answer of getFailedEvalsForRun."""
    counts = (count(answer.value.get(key)) for answer in run_answers.failed)
    return next((number for number in counts if number is not None), None)


def _measured_count(run_answers: RunAnswers) -> int | None:
    """Evals with a result; the answer of getFailedEvalsForRun lists only the failures among them."""
    counts = [_count_of(run_answers, key) for key in ("passedCount", "failedCount")]
    return None if None in counts else sum(number or 0 for number in counts)


def _reported(run_answers: RunAnswers) -> tuple[Reported, ...]:
    passed, total = _count_of(run_answers, "passedCount"), _count_of(run_answers, "totalEvals")
    details = next((answer.value for answer in run_answers.answers if answer.kind == "details"), None)
    if details is not None and total is None and isinstance(details.get("evals"), list):
        # what getFailedEvalsForRun counts: the documents, with pending ones and without planned ones that have none
        statuses = [mapping(mapping(document).get("status")).get("kind") for document in details["evals"]]
        passed, total = statuses.count("passed"), len(statuses)
    if total is None:
        return (HEADLINE,)
    value = passed / total if passed is not None and total else None
    return (HEADLINE, Reported(name="passedCount/totalEvals", metric="pass_rate", value=value, n=total))


def _reason_to_fail(status: dict[str, Any], ref: SourceRef) -> tuple[Evidence, ...]:
    reason = text(status.get("failureReason"))
    if not reason:
        return ()
    return (Evidence(name="failureReason", quote=reason, ref=ref.below("status", "failureReason")),)


def _extra(run_answers: RunAnswers, heads: Heads, status: dict[str, Any]) -> dict[str, Any]:
    extra = rest(status, ("kind", "durationMs", "usage"))
    for head, _ in reversed(heads):
        extra |= rest(head, _KNOWN)
    for key in ("totalEvals", "passedCount", "failedCount"):
        if (number := _count_of(run_answers, key)) is not None:
            extra[key] = number
    extra["answers"] = sorted({TITLES[answer.kind] for answer in run_answers.answers})
    contradicted = [
        {"file": ref.file, "status": text(mapping(head.get("status")).get("kind"))}
        for head, ref in heads
        if mapping(head.get("status")) and head["status"].get("kind") != status.get("kind")
    ]
    if contradicted:
        extra["contradicted_by"] = contradicted
    return extra


def usage_of(status: dict[str, Any]) -> UsageByRole:
    used = JsonFields(mapping(status.get("usage")))
    if not used:
        return UsageByRole()
    into, out = (
        JsonFields(mapping(used.take("inputTokenDetails"))),
        JsonFields(mapping(used.take("outputTokenDetails"))),
    )
    raw = used.take("raw")
    cost = number_or_none(mapping(raw).get("cost"))
    cached, cache_read = count(used.take("cachedInputTokens")), count(into.take("cacheReadTokens"))
    reasoned, reasoning = count(used.take("reasoningTokens")), count(out.take("reasoningTokens"))
    usage = Usage(
        input=count(used.take("inputTokens")),
        output=count(used.take("outputTokens")),
        total=count(used.take("totalTokens")),
        cache_read=cached if cache_read is None else cache_read,
        cache_write=count(into.take("cacheWriteTokens")),
        reasoning=reasoned if reasoning is None else reasoning,
        **reported_cost(cost),
        includes_cache=_includes_cache(used.take("inputTokens"), into),
        extra=rest(used.rest()) | rest(into.rest()) | rest(out.rest()) | _other_raw(raw),
    )
    return UsageByRole(subject=usage)


def _includes_cache(total: Any, into: JsonFields) -> bool | None:
    """Whether the parts, if present, add up to `inputTokens`."""
    fresh, cached = count(into.get("noCacheTokens")), count(into.get("cacheReadTokens"))
    if fresh is None or not cached or count(total) is None:
        return None
    if count(total) == fresh:
        return False
    return True if count(total) == fresh + cached + (count(into.get("cacheWriteTokens")) or 0) else None


def _other_raw(raw: Any) -> dict[str, Any]:
    """The provider's own numbers without the cost, which has its own field."""
    if not isinstance(raw, dict):
        return rest({"raw": raw})
    left = rest(raw)
    if number_or_none(raw.get("cost")) is not None:
        left.pop("cost", None)
    return {"raw": left} if left else {}


def moment(milliseconds: Any, later: Any = 0) -> str | None:
    """A time plus a duration; None if either is missing."""
    start, more = number(milliseconds), number(later)
    if start is None or more is None:
        return None
    try:
        return from_milliseconds(start + more)
    except (OverflowError, ValueError, OSError):
        return None
