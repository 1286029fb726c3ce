"""A row as an attempt: execution and grading of the call, the answer, tokens and cost."""

from typing import Any, NamedTuple

from errata.model import (
    Attempt,
    Check,
    ErrorInfo,
    Output,
    Run,
    SourceRef,
    Undelivered,
    Usage,
    UsageByRole,
    attempt_id,
    case_key,
)
from errata.model.delivery import undelivered
from errata.model.words import CheckStatus, Execution, Measurement, Outcome
from errata.sources.promptfoo.checks import (
    cut_short,
    error_of,
    grade_row,
    is_bare_number,
    limit_of,
    named_scores,
    summary,
    thrown_while_grading,
)
from errata.sources.promptfoo.columns import Graders
from errata.sources.promptfoo.steps import HISTORIES, has_history, steps_of
from errata.sources.promptfoo.values import as_text, moment, rest, test_vars, without_secrets
from errata.sources.shared.values import (
    cost_number,
    count,
    mapping,
    number,
    plain,
    reported_cost,
    seconds,
    sequence,
    text,
)

ASSERTION, ERROR = 1, 2
"""Values of `failureReason`; 0 means a pass, or unknown."""

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


class RowFacts(NamedTuple):
    execution: Execution
    measurement: Measurement
    outcome: Outcome
    errors: tuple[ErrorInfo, ...] = ()


class RowPlace(NamedTuple):
    """The position of a row as an attempt: its run, its case and its number."""

    run: Run
    name: str
    number: int
    first: int | None
    """The number of the attempt that this row repeats, including its `testIdx`."""


def attempt_of(row: dict[str, Any], ref: SourceRef, place: RowPlace, graders: Graders) -> Attempt:
    run, case = place.run, case_key(place.run.suite, place.name)
    row = with_response(row)
    grading = grade_row(row, ref, graders)
    facts = facts_of(row, grading.checks, ref)
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
        undelivered=_undelivered(row, run),
        output=_output(mapping(row.get("response"))),
        http_status=_http_status(row),
        stop_reason=text(mapping(row.get("response")).get("finishReason")),
        limit=cut.limit if cut else limit_of(grading.checks) if facts.outcome == "fail" else None,
        errors=facts.errors,
        checks=_checks(row, grading.checks, facts, ref),
        judgements=grading.judgements,
        steps=steps_of(row),
        usage=usage_of(row, graded=bool(grading.judgements)),
        started_at=moment(row.get("createdAt")),
        duration=seconds(row.get("latencyMs")),
        extra=_extra(row, run, grading.checks),
        ref=ref,
    )


def with_response(row: dict[str, Any]) -> dict[str, Any]:
    """Shared evaluations call the response `providerResponse`."""
    response = row.get("providerResponse")
    return {**row, "response": response} if isinstance(response, dict) and not row.get("response") else row


def facts_of(row: dict[str, Any], checks: tuple[Check, ...], ref: SourceRef) -> RowFacts:
    success = row.get("success", mapping(row.get("gradingResult")).get("pass"))
    if success is True:
        return RowFacts("completed", "scored", "partial" if is_bare_number(row, checks) else "pass")
    if _is_error(row):
        return _error_facts(row, ref)
    broken = tuple(check.error for check in checks if check.status == "error" and check.error)
    if broken:
        # without a threshold, one failed assertion is enough, whatever the judge would have decided
        decided = number(mapping(row.get("testCase")).get("threshold")) is None and any(one.failed for one in checks)
        return RowFacts("completed", "error", "fail" if decided else "none", broken)
    if success is False:
        return RowFacts("completed", "scored", "fail")
    return RowFacts("completed", "unscored", "none")


def _is_error(row: dict[str, Any]) -> bool:
    """An error, not a wrong answer. Old rows have no `failureReason`; a row without an answer is not graded."""
    if row.get("failureReason") in (ASSERTION, ERROR):
        return bool(row["failureReason"] == ERROR)
    response = mapping(row.get("response"))
    return not mapping(row.get("gradingResult")) and bool(response.get("error") or row.get("error"))


def _error_facts(row: dict[str, Any], ref: SourceRef) -> RowFacts:
    response = mapping(row.get("response"))
    error = row.get("error") or response.get("error")
    message = as_text(error) if error is not None else ""
    place = ref.below("error")
    answered = response.get("output") is not None and not response.get("error")
    cut = cut_short(message)
    if cut is None and (answered or thrown_while_grading(message)):
        return RowFacts("completed", "error", "none", (error_of(message, "scoring", place),))
    # an error of the call itself is repeated in its response
    errors = (error_of(message, "subject" if mapping(response).get("error") else "", place, response),)
    if cut is not None:
        return RowFacts("cancelled" if cut.never_started else "limit", "not_run", "none", errors)
    return RowFacts("error", "not_run", "none", errors)


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


def _undelivered(row: dict[str, Any], run: Run) -> Undelivered | None:
    """Only where the provider is a model's API: a program may take the variables, and leave the prompt aside."""
    raw = mapping(row.get("prompt")).get("raw")
    if not isinstance(raw, str) or not run.subject.provider or has_history(row) or _sends_another(row, raw):
        return None
    template = next((one.text or "" for one in run.context if one.path == "prompt"), "")
    return undelivered(raw, mapping(row.get("vars")) or mapping(test_vars(row)), template)


def _sends_another(row: dict[str, Any], raw: str) -> bool:
    """A provider may report the prompt that it made of the one it was given."""
    sent = mapping(row.get("response")).get("prompt")
    return sent is not None and sent != raw


def _http_status(row: dict[str, Any]) -> int | None:
    answers = (mapping(row.get("response")), row)
    statuses = (count(mapping(mapping(one.get("metadata")).get("http")).get("status")) for one in answers)
    return next(filter(None, statuses), None)


def _checks(row: dict[str, Any], checks: tuple[Check, ...], facts: RowFacts, ref: SourceRef) -> tuple[Check, ...]:
    if not checks:
        return tuple(named_scores(row, checks))
    statuses: dict[str, CheckStatus] = {"pass": "pass", "partial": "number", "fail": "fail"}
    status = statuses.get(facts.outcome, "error")
    return (*checks, *named_scores(row, checks), summary(row, status, ref))


def _extra(row: dict[str, Any], run: Run, checks: tuple[Check, ...]) -> dict[str, Any]:
    response, grading = mapping(row.get("response")), mapping(row.get("gradingResult"))
    extra = rest(row, _ROW) | differing_repeats(row) | _graded_extra(row, grading, checks)
    for name, fields in (("response", _response_extra(response, row)), ("metadata", _metadata(row, response))):
        if fields:
            extra[name] = fields
    if row.get("vars") != test_vars(row):
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
    provider = without_secrets(row.get("provider"))
    if provider != run.extra.get("provider"):
        extra["provider"] = provider
    return extra


def _graded_extra(row: dict[str, Any], grading: dict[str, Any], checks: tuple[Check, ...]) -> dict[str, Any]:
    """What the grading has besides its checks, or differently from the row."""
    extra = {f"grading {key}": value for key, value in rest(grading, _GRADING).items()}
    reason = row.get("failureReason")
    if reason not in (None, 0 if row.get("success") else ASSERTION, ERROR):
        extra["failureReason"] = plain(reason)
    if not checks:
        extra |= rest({"score": row.get("score"), "reason": grading.get("reason")})
    for key, other in (("pass", "success"), ("score", "score"), ("namedScores", "namedScores")):
        if key in grading and grading[key] != row.get(other):
            extra[f"grading {key}"] = without_secrets(grading[key])
    if not _is_error(row) and row.get("error") not in (None, grading.get("reason")):
        extra["error"] = plain(row["error"])
    return extra


def _response_extra(response: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    extra = rest(response, _RESPONSE)
    raw = response.get("raw")
    if raw is not None and raw != response.get("output"):
        extra["raw"] = without_secrets(raw)
    if seconds(response.get("latencyMs")) == seconds(row.get("latencyMs")):
        extra.pop("latencyMs", None)
    if response.get("error") not in (None, row.get("error")):
        extra["error"] = plain(response["error"])
    metadata = mapping(response.get("metadata"))
    history_key = next(((key,) for key in HISTORIES if sequence(metadata.get(key))), ())
    if others := rest(metadata, history_key):
        extra["metadata"] = others
    return extra


def _metadata(row: dict[str, Any], response: dict[str, Any]) -> dict[str, Any]:
    """promptfoo merges the metadata of the test and of the answer; values from either are left out."""
    test = mapping(mapping(row.get("testCase")).get("metadata"))
    answer = mapping(response.get("metadata"))
    merged = mapping(row.get("metadata"))
    return rest({key: value for key, value in merged.items() if value not in (test.get(key), answer.get(key))})


def usage_of(row: dict[str, Any], *, graded: bool) -> UsageByRole:
    response, row_tokens = mapping(row.get("response")), mapping(row.get("tokenUsage"))
    response_tokens = mapping(response.get("tokenUsage"))
    cost = cost_number(response.get("cost"))
    if cost is None:
        cost = cost_number(row.get("cost")) or None
    subject = usage(response_tokens or _without_zeros(row_tokens), cost)
    grading = mapping(row.get("gradingResult")).get("tokensUsed")
    spending = [mapping(one) for one in (row_tokens.get("assertions"), response_tokens.get("assertions"), grading)]
    judge = next(filter(_has_spending, spending), next(filter(None, spending), {}))
    return UsageByRole(subject=subject, judge=usage(judge if graded or _has_spending(judge) else {}))


def usage(tokens: dict[str, Any], cost: float | None = None) -> Usage:
    details = mapping(tokens.get("completionDetails"))
    read, cached = count(details.get("cacheReadInputTokens")), count(tokens.get("cached"))
    extra = rest(tokens, _KNOWN) | rest(details, _DETAILS)
    if read and cached:
        extra["cached"] = cached
    return Usage(
        input=count(tokens.get("prompt")),
        output=count(tokens.get("completion")),
        total=count(tokens.get("total")),
        # a whole answer from promptfoo's own cache, or tokens from the provider's
        cache_read=read or (cached if cached is not None else read),
        cache_write=count(details.get("cacheCreationInputTokens")),
        reasoning=count(details.get("reasoning")),
        requests=count(tokens.get("numRequests")),
        **reported_cost(cost),
        extra={key: value for key, value in extra.items() if value},
    )


def differing_repeats(row: dict[str, Any]) -> dict[str, Any]:
    """Values that the row repeats from its parts, where they differ."""
    response, row_tokens = mapping(row.get("response")), mapping(row.get("tokenUsage"))
    response_tokens = mapping(response.get("tokenUsage"))
    extra: dict[str, Any] = {}
    if response_tokens and not _agree(row_tokens, response_tokens, but=("assertions",)):
        extra["tokenUsage"] = rest(row_tokens, ("assertions",))
    judge, grading = mapping(row_tokens.get("assertions")), mapping(row.get("gradingResult"))
    for other in (mapping(response_tokens.get("assertions")), mapping(grading.get("tokensUsed"))):
        if judge and not _agree(other, judge, but=("numRequests",)):
            extra["judge tokens"] = rest(other)
    cost = number(response.get("cost"))
    if cost is not None and number(row.get("cost")) not in (cost, None):
        extra["cost"] = row["cost"]
    return extra


def _has_spending(tokens: dict[str, Any]) -> bool:
    return any(
        _has_spending(value) if isinstance(value, dict) else number(value)
        for key, value in tokens.items()
        if value and key != "numRequests"
    )


def _without_zeros(tokens: dict[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in tokens.items() if key != "assertions"}
    return own if _has_spending(own) else {key: value for key, value in own.items() if key == "numRequests"}


def _agree(left: dict[str, Any], right: dict[str, Any], but: tuple[str, ...] = ()) -> bool:
    """Missing and zero are equal here: promptfoo fills in what a provider left out."""
    return all(_same(value, right.get(key)) for key, value in left.items() if key not in but)


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, dict):
        return _agree(left, mapping(right))
    return left == right or (number(left) or 0) == (number(right) or 0)
