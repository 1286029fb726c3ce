"""Tokens as Inspect counts them, and those who took its words over."""

from typing import Any

from errata.model import Usage
from errata.model.usage import NO_USAGE
from errata.sources.shared.values import count, mapping, number


def usage_of(value: Any) -> Usage:
    raw = mapping(value)
    cost = number(raw.get("total_cost"))
    if not raw:
        return NO_USAGE
    return Usage(
        input=count(raw.get("input_tokens")),
        output=count(raw.get("output_tokens")),
        total=count(raw.get("total_tokens")),
        cache_read=count(raw.get("input_tokens_cache_read")),
        cache_write=count(raw.get("input_tokens_cache_write")),
        reasoning=count(raw.get("reasoning_tokens")),
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
        includes_cache=False,
    )
