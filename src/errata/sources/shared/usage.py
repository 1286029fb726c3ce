"""Tokens and costs: as Inspect and those who took over its field names write them, and the sum of several calls."""

from typing import Any

from errata.model import Usage
from errata.model.usage import NO_USAGE, total_of
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


def sum_of(told: list[Usage]) -> Usage:
    if not told:
        return NO_USAGE
    cost = total_of(one.cost for one in told)
    return Usage(
        input=total_of(one.input for one in told),
        output=total_of(one.output for one in told),
        # a sum of some of them would be taken for all
        total=total_of(one.total for one in told) if all(one.total is not None for one in told) else None,
        cache_read=total_of(one.cache_read for one in told),
        cache_write=total_of(one.cache_write for one in told),
        reasoning=total_of(one.reasoning for one in told),
        requests=len(told),
        cost=cost,
        cost_source="unknown" if cost is None else "reported",
        includes_cache=told[0].includes_cache,
    )
