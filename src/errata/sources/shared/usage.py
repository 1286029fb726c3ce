"""Tokens and costs: in the field names of Inspect, which others took over, and summed over several calls."""

from typing import Any

from errata.model import Usage
from errata.model.usage import NO_USAGE, total_cost, total_of
from errata.sources.shared.values import count, reported_cost


def usage_of(value: Any) -> Usage:
    """`NO_USAGE` itself if there is none."""
    if not value or type(value) is not dict:
        return NO_USAGE
    get = value.get
    return Usage(
        input=count(get("input_tokens")),
        output=count(get("output_tokens")),
        total=count(get("total_tokens")),
        cache_read=count(get("input_tokens_cache_read")),
        cache_write=count(get("input_tokens_cache_write")),
        reasoning=count(get("reasoning_tokens")),
        **reported_cost(get("total_cost")),
        includes_cache=False,
    )


def sum_of(usages: list[Usage]) -> Usage:
    if not usages:
        return NO_USAGE
    cost = total_cost(one.cost for one in usages)
    return Usage(
        input=total_of(one.input for one in usages),
        output=total_of(one.output for one in usages),
        # a sum over some of them would look like the total of all
        total=total_of(one.total for one in usages) if all(one.total is not None for one in usages) else None,
        cache_read=total_of(one.cache_read for one in usages),
        cache_write=total_of(one.cache_write for one in usages),
        reasoning=total_of(one.reasoning for one in usages),
        requests=len(usages),
        **reported_cost(cost),
        includes_cache=usages[0].includes_cache,
    )
