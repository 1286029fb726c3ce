"""Tokens and money. promptfoo writes zeros for what a provider did not tell; a zero that nobody told is absent."""

from typing import Any

from errata.model import Usage, UsageByRole
from errata.sources.promptfoo.values import rest
from errata.sources.shared.values import count, mapping, number

_KNOWN = ("prompt", "completion", "total", "cached", "numRequests", "completionDetails", "assertions")
_DETAILS = ("reasoning", "cacheReadInputTokens", "cacheCreationInputTokens")


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
