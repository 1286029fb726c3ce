"""Tokens as Inspect counts them, and those who took its words over."""

from typing import Any

from errata.model import Usage
from errata.model.usage import NO_USAGE
from errata.sources.shared.values import count, number


def usage_of(value: Any) -> Usage:
    """`NO_USAGE` itself where none is told."""
    if not value or type(value) is not dict:
        return NO_USAGE
    told = value.get
    cost = number(told("total_cost"))
    return Usage(
        input=count(told("input_tokens")),
        output=count(told("output_tokens")),
        total=count(told("total_tokens")),
        cache_read=count(told("input_tokens_cache_read")),
        cache_write=count(told("input_tokens_cache_write")),
        reasoning=count(told("reasoning_tokens")),
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
        includes_cache=False,
    )
