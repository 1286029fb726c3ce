"""A row as an attempt: what became of the call and of its grading, the answer, tokens and money."""

from typing import Any, NamedTuple

from errata.model import Attempt, Check, ErrorInfo, Output, Run, SourceRef, Usage, UsageByRole, attempt_id, case_key
from errata.model.words import CheckStatus, Execution, Measurement, Outcome
from errata.sources.promptfoo.cases import asked
from errata.sources.promptfoo.checks import (
    cut_short,
    error_of,
    graded,
    limit_of,
    named_scores,
    summary,
    thrown_while_grading,
)
from errata.sources.promptfoo.columns import Graders
from errata.sources.promptfoo.steps import HISTORIES, has_history, steps_of
from errata.sources.promptfoo.values import as_text, kept, moment, rest
from errata.sources.shared.values import count, mapping, number, plain, seconds, sequence, text

ASSERTION, ERROR = 1, 2
"""What `failureReason` says; 0 is for a pass, or for not knowing."""

_ROW = (
    "cost",
    "createdAt",
    "description",
    "error",
    "evalId",
    "failureReason",
    "gradingResult",
    "id",
    "latencyMs",
    "metadata",
    "namedScores",
    "prompt",
    "promptId",
    "promptIdx",
    "provider",
    "providerResponse",
    "response",
    "score",
    "success",
    "testCase",
    "tokenUsage",
    "vars",
)
_RESPONSE = ("output", "tokenUsage", "cost", "error", "finishReason", "metadata", "raw", "audio", "images", "video")
_GRADING = ("pass", "score", "reason", "assertion", "componentResults", "namedScores", "tokensUsed")
_KNOWN = ("prompt", "completion", "total", "cached", "numRequests", "completionDetails", "assertions")
_DETAILS = ("reasoning", "cacheReadInputTokens", "cacheCreationInputTokens")


class Facts(NamedTuple):
    execution: Execution
    measurement: Measurement
    outcome: Outcome
    errors: tuple[ErrorInfo, ...] = ()


class Place(NamedTuple):
    """Which try at which case a row is."""

    run: Run
    name: str
    number: int
    first: int | None
    """The number of the try that this one repeats, `testIdx` and all."""


def attempt_of(row: dict[str, Any], ref: SourceRef, place: Place, graders: Graders) -> Attempt:
    run, case = place.run, case_key(place.run.suite, place.name)
    row = with_response(row)
    found = graded(row, ref, graders)
    facts = facts_of(row, found.checks, ref)
    cut = cut_short(text(row.get("error"))) if facts.execution in ("limit", "cancelled") else None
    return Attempt(
        run=run.id,
        case=case,
        native_id=as_text(row["id"]) if row.get("id") is not None else "",
        index=place.number,
        duplicate_of=attempt_id(run.id, case, index=place.first) if place.first else None,
        execution=facts.execution,
        measurement=facts.measurement,
        outcome=facts.outcome,
        threshold=number(mapping(row.get("testCase")).get("threshold")),
        native_status=_native_status(row),
        reported=float(row["success"]) if isinstance(row.get("success"), bool) else None,
        reported_counted=True if isinstance(row.get("success"), bool) else None,
        output=_output(mapping(row.get("response"))),
        stop_reason=text(mapping(row.get("response")).get("finishReason")),
        limit=cut.limit if cut else limit_of(found.checks) if facts.outcome == "fail" else None,
        errors=facts.errors,
        checks=_checks(row, found.checks, facts, ref),
        judgements=found.judgements,
        steps=steps_of(row),
        usage=usage_of(row, graded=bool(found.judgements)),
        started_at=moment(row.get("createdAt")),
        duration=seconds(row.get("latencyMs")),
        extra=_extra(row, run, found.checks),
        ref=ref,
    )


def with_response(row: dict[str, Any]) -> dict[str, Any]:
    """What is shared calls the answer `providerResponse`."""
    told = row.get("providerResponse")
    return {**row, "response": told} if isinstance(told, dict) and not row.get("response") else row


def facts_of(row: dict[str, Any], checks: tuple[Check, ...], ref: SourceRef) -> Facts:
    success = row.get("success", mapping(row.get("gradingResult")).get("pass"))
    if success is True:
        return Facts("completed", "scored", "pass")
    if _is_error(row):
        return _error_facts(row, ref)
    broken = tuple(check.error for check in checks if check.status == "error" and check.error)
    if broken:
        # without a threshold one assertion that fails is enough, whatever a judge would have said
        decided = number(mapping(row.get("testCase")).get("threshold")) is None and any(one.failed for one in checks)
        return Facts("completed", "error", "fail" if decided else "none", broken)
    if success is False:
        return Facts("completed", "scored", "fail")
    return Facts("completed", "unscored", "none")


def _is_error(row: dict[str, Any]) -> bool:
    """An error, not an answer that failed. Old rows have no `failureReason`; without an answer none is graded."""
    if row.get("failureReason") in (ASSERTION, ERROR):
        return bool(row["failureReason"] == ERROR)
    response = mapping(row.get("response"))
    return not mapping(row.get("gradingResult")) and bool(response.get("error") or row.get("error"))


def _error_facts(row: dict[str, Any], ref: SourceRef) -> Facts:
    response = mapping(row.get("response"))
    told = row.get("error") or response.get("error")
    message = as_text(told) if told is not None else ""
    place = ref.below("error")
    answered = response.get("output") is not None and not response.get("error")
    cut = cut_short(message)
    if cut is None and (answered or thrown_while_grading(message)):
        return Facts("completed", "error", "none", (error_of(message, "scoring", place),))
    errors = (error_of(message, "subject", place, response),)
    if cut is not None:
        return Facts("cancelled" if cut.never_started else "limit", "not_run", "none", errors)
    return Facts("error", "not_run", "none", errors)


def _native_status(row: dict[str, Any]) -> str:
    if row.get("success") is True:
        return "PASS"
    if row.get("failureReason") == ERROR:
        return "ERROR"
    return "FAIL" if row.get("success") is False else ""


def _output(response: dict[str, Any]) -> Output:
    output, spoken = response.get("output"), mapping(response.get("audio")).get("transcript")
    if output is None and isinstance(spoken, str):
        return Output(text=spoken, extraction="audio transcript")
    if output is None or isinstance(output, str):
        return Output(text=output)
    return Output(text=as_text(output), structured=plain(output))


def _checks(row: dict[str, Any], checks: tuple[Check, ...], facts: Facts, ref: SourceRef) -> tuple[Check, ...]:
    if not checks:
        return tuple(named_scores(row, checks))
    status: CheckStatus = "pass" if facts.outcome == "pass" else "fail" if facts.outcome == "fail" else "error"
    return (*checks, *named_scores(row, checks), summary(row, status, ref))


def _extra(row: dict[str, Any], run: Run, checks: tuple[Check, ...]) -> dict[str, Any]:
    response, grading = mapping(row.get("response")), mapping(row.get("gradingResult"))
    extra = rest(row, _ROW) | told_otherwise(row) | _graded_extra(row, grading, checks)
    for name, told in (("response", _response_extra(response, row)), ("metadata", _metadata(row, response))):
        if told:
            extra[name] = told
    if row.get("vars") != asked(row):
        extra["vars"] = plain(row.get("vars"))
    prompt = rest(mapping(row.get("prompt")), ("raw",))
    if has_history(row):
        prompt["raw"] = plain(mapping(row.get("prompt")).get("raw"))
    elif prompt.get("label") == run.extra.get("prompt label"):
        del prompt["label"]
    if prompt:
        extra["prompt"] = prompt
    if text(row.get("promptId")) != run.extra.get("prompt id", ""):
        extra["promptId"] = row["promptId"]
    if row.get("evalId") not in (None, run.native_id):
        extra["evalId"] = plain(row["evalId"])
    provider = kept(row.get("provider"))
    if provider != run.extra.get("provider"):
        extra["provider"] = provider
    return extra


def _graded_extra(row: dict[str, Any], grading: dict[str, Any], checks: tuple[Check, ...]) -> dict[str, Any]:
    """What the grading says besides its checks, or against the row."""
    extra = {f"grading {key}": value for key, value in rest(grading, _GRADING).items()}
    reason = row.get("failureReason")
    if reason not in (None, 0 if row.get("success") else ASSERTION, ERROR):
        extra["failureReason"] = plain(reason)
    if not checks:
        extra |= rest({"score": row.get("score"), "reason": grading.get("reason")})
    for key, other in (("pass", "success"), ("score", "score"), ("namedScores", "namedScores")):
        if key in grading and grading[key] != row.get(other):
            extra[f"grading {key}"] = kept(grading[key])
    if not _is_error(row) and row.get("error") not in (None, grading.get("reason")):
        extra["error"] = plain(row["error"])
    return extra


def _response_extra(response: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    extra = rest(response, _RESPONSE)
    raw = response.get("raw")
    if raw is not None and raw != response.get("output"):
        extra["raw"] = kept(raw)
    if seconds(response.get("latencyMs")) == seconds(row.get("latencyMs")):
        extra.pop("latencyMs", None)
    if response.get("error") not in (None, row.get("error")):
        extra["error"] = plain(response["error"])
    metadata = mapping(response.get("metadata"))
    taken = next(((key,) for key in HISTORIES if sequence(metadata.get(key))), ())
    if told := rest(metadata, taken):
        extra["metadata"] = told
    return extra


def _metadata(row: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """promptfoo puts the metadata of the test and of the answer together; what stands there already is left out."""
    test = mapping(mapping(row.get("testCase")).get("metadata"))
    answer = mapping(response.get("metadata"))
    told = mapping(row.get("metadata"))
    return rest({key: value for key, value in told.items() if value not in (test.get(key), answer.get(key))})


def usage_of(row: dict[str, Any], *, graded: bool) -> UsageByRole:
    response, whole = mapping(row.get("response")), mapping(row.get("tokenUsage"))
    told = mapping(response.get("tokenUsage"))
    cost = number(response.get("cost"))
    if cost is None:
        cost = number(row.get("cost")) or None
    subject = usage(told or _without_zeros(whole), cost)
    grading = mapping(row.get("gradingResult")).get("tokensUsed")
    spending = [mapping(one) for one in (whole.get("assertions"), told.get("assertions"), grading)]
    judge = next(filter(_spent, spending), next(filter(None, spending), {}))
    return UsageByRole(subject=subject, judge=usage(judge if graded or _spent(judge) else {}))


def usage(told: dict[str, Any], cost: float | None = None) -> Usage:
    details = mapping(told.get("completionDetails"))
    read, cached = count(details.get("cacheReadInputTokens")), count(told.get("cached"))
    extra = rest(told, _KNOWN) | rest(details, _DETAILS)
    if read and cached:
        extra["cached"] = cached
    return Usage(
        input=count(told.get("prompt")),
        output=count(told.get("completion")),
        total=count(told.get("total")),
        # a whole answer from promptfoo's own cache, or tokens from the provider's
        cache_read=read or (cached if cached is not None else read),
        cache_write=count(details.get("cacheCreationInputTokens")),
        reasoning=count(details.get("reasoning")),
        requests=count(told.get("numRequests")),
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
        extra={key: value for key, value in extra.items() if value},
    )


def told_otherwise(row: dict[str, Any]) -> dict[str, Any]:
    """What the row repeats of its parts, where it says something else."""
    response, whole = mapping(row.get("response")), mapping(row.get("tokenUsage"))
    told = mapping(response.get("tokenUsage"))
    extra: dict[str, Any] = {}
    if told and not _agree(whole, told, but=("assertions",)):
        extra["tokenUsage"] = rest(whole, ("assertions",))
    judge, grading = mapping(whole.get("assertions")), mapping(row.get("gradingResult"))
    for other in (mapping(told.get("assertions")), mapping(grading.get("tokensUsed"))):
        if judge and not _agree(other, judge, but=("numRequests",)):
            extra["judge tokens"] = rest(other)
    cost = number(response.get("cost"))
    if cost is not None and number(row.get("cost")) not in (cost, None):
        extra["cost"] = row["cost"]
    return extra


def _spent(told: dict[str, Any]) -> bool:
    return any(
        _spent(value) if isinstance(value, dict) else number(value)
        for key, value in told.items()
        if value and key != "numRequests"
    )


def _without_zeros(told: dict[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in told.items() if key != "assertions"}
    return own if _spent(own) else {key: value for key, value in own.items() if key == "numRequests"}


def _agree(one: dict[str, Any], other: dict[str, Any], but: tuple[str, ...] = ()) -> bool:
    """Nothing and zero are the same here: promptfoo fills up what a provider left out."""
    return all(_same(value, other.get(key)) for key, value in one.items() if key not in but)


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return _agree(one, mapping(other))
    return one == other or (number(one) or 0) == (number(other) or 0)
