"""Tokens and money of one status document."""

from typing import Any

from errata.model import Usage, UsageByRole
from errata.sources.base import number_or_none
from errata.sources.shared.values import count, mapping, rest

_KNOWN = (
    "inputTokens",
    "outputTokens",
    "totalTokens",
    "inputTokenDetails",
    "outputTokenDetails",
    "reasoningTokens",
    "cachedInputTokens",
    "raw",
)


def usage_of(status: dict[str, Any]) -> UsageByRole:
    told = mapping(status.get("usage"))
    if not told:
        return UsageByRole()
    into, out = mapping(told.get("inputTokenDetails")), mapping(told.get("outputTokenDetails"))
    raw = mapping(told.get("raw"))
    cost = number_or_none(raw.get("cost"))
    cache_read, reasoning = count(into.get("cacheReadTokens")), count(out.get("reasoningTokens"))
    usage = Usage(
        input=count(told.get("inputTokens")),
        output=count(told.get("outputTokens")),
        total=count(told.get("totalTokens")),
        cache_read=count(told.get("cachedInputTokens")) if cache_read is None else cache_read,
        cache_write=count(into.get("cacheWriteTokens")),
        reasoning=count(told.get("reasoningTokens")) if reasoning is None else reasoning,
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
        includes_cache=_includes_cache(told.get("inputTokens"), into),
        extra=_extra(told, into, out),
    )
    return UsageByRole(subject=usage)


def _includes_cache(total: Any, into: dict[str, Any]) -> bool | None:
    """Where the parts are given: whether they add up to `inputTokens`."""
    fresh, cached = count(into.get("noCacheTokens")), count(into.get("cacheReadTokens"))
    if fresh is None or not cached or count(total) is None:
        return None
    if count(total) == fresh:
        return False
    return True if count(total) == fresh + cached + (count(into.get("cacheWriteTokens")) or 0) else None


def _extra(told: dict[str, Any], into: dict[str, Any], out: dict[str, Any]) -> dict[str, Any]:
    found = rest(told, _KNOWN)
    found |= rest(into, ("cacheReadTokens", "cacheWriteTokens"))
    found |= rest(out, ("reasoningTokens",))
    raw = told.get("raw")
    left = rest({"raw": raw}, ()) if not isinstance(raw, dict) else rest(raw, ())
    if isinstance(raw, dict) and number_or_none(raw.get("cost")) is not None:
        left.pop("cost", None)
    if left:
        found["raw"] = left if isinstance(raw, dict) else left["raw"]
    return found
