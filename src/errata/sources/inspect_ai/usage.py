"""Tokens and money: who spent them is told by the role of a call, the model's name, or the place of the call."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from errata.model import Usage, UsageByRole
from errata.model.usage import NO_USAGE, total_of
from errata.sources.shared.usage import usage_of
from errata.sources.shared.values import mapping

SIMULATOR_ROLES = frozenset(("user", "simulator", "user_simulator"))
_FIELDS = ("input", "output", "total", "cache_read", "cache_write", "reasoning", "cost")


class Judges(NamedTuple):
    """Who judges in this run, as the names of models and of roles."""

    models: frozenset[str]
    roles: frozenset[str]


def sum_of(usages: Iterable[Usage]) -> Usage:
    given = [usage for usage in usages if usage != NO_USAGE]
    if not given:
        return NO_USAGE
    return Usage(
        input=total_of(usage.input for usage in given),
        output=total_of(usage.output for usage in given),
        total=total_of(usage.total for usage in given),
        cache_read=total_of(usage.cache_read for usage in given),
        cache_write=total_of(usage.cache_write for usage in given),
        reasoning=total_of(usage.reasoning for usage in given),
        cost=total_of(usage.cost for usage in given),
        cost_source="reported" if any(usage.cost is not None for usage in given) else "unknown",
        includes_cache=False,
    )


def by_role(data: dict[str, Any], judges: Judges, scoring: Iterable[Usage] = ()) -> UsageByRole:
    """`data` has `model_usage` and `role_usage`; `scoring` is what was spent on calls inside of scorers."""
    models = {name: usage_of(raw) for name, raw in mapping(data.get("model_usage")).items()}
    roles = {name: usage_of(raw) for name, raw in mapping(data.get("role_usage")).items()}
    whole = sum_of(models.values())
    simulator = sum_of(usage for role, usage in roles.items() if role in SIMULATOR_ROLES)
    judged = sum_of(usage for role, usage in roles.items() if role in judges.roles)
    named = sum_of(usage for name, usage in models.items() if name in judges.models)
    if judged == NO_USAGE and named != NO_USAGE:
        others = sum_of(usage for name, usage in models.items() if name not in judges.models)
        return UsageByRole(subject=_without(others, simulator) or others, judge=named, simulator=simulator)
    judge = judged if judged != NO_USAGE else sum_of(scoring)
    left = _without(_without(whole, simulator), judge)
    if left is None:
        return UsageByRole(subject=whole, simulator=simulator)
    return UsageByRole(subject=left, judge=judge, simulator=simulator)


def _without(whole: Usage | None, part: Usage) -> Usage | None:
    """None where the part is no part of the whole: calls answered from a cache were never spent."""
    if whole is None or part == NO_USAGE:
        return whole
    left: dict[str, Any] = {}
    for name in _FIELDS:
        one, other = getattr(whole, name), getattr(part, name)
        left[name] = one if one is None or other is None else one - other
        if left[name] is not None and left[name] < 0:
            return None
    return Usage(cost_source="unknown" if left["cost"] is None else "reported", includes_cache=False, **left)
