"""Significance tests: exact McNemar, Newcombe's paired difference, Fisher's exact test, Holm's correction."""

from collections.abc import Sequence
from math import exp, fsum, lgamma, sqrt
from sys import float_info

import msgspec

from errata.compare.intervals import Interval, wilson


class PairedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """By how much the first passes more often than the second, over the cases that both have tried."""

    value: float
    interval: Interval
    cases: int


def mcnemar(only_first: int, only_second: int) -> float:
    """The exact two-sided p that the cases only one of two passes fall so unevenly by chance."""
    n, few = only_first + only_second, min(only_first, only_second)
    if n - 2 * few < 2:
        return 1.0
    # B(n, 1/2) is built downwards from its middle by ratios of neighbours: nothing overflows, whatever n is, and after
    # some 19 √n steps there is nothing left to add
    middle = n // 2
    terms = [1.0]
    for i in range(middle, 0, -1):
        terms.append(terms[-1] * i / (n - i + 1))
        if terms[-1] < float_info.min:
            break
    whole = 2 * sum(terms) - (terms[0] if n % 2 == 0 else 0.0)
    return min(1.0, 2 * sum(terms[middle - few :]) / whole)


def paired_difference(both: int, only_first: int, only_second: int, neither: int) -> PairedDifference | None:
    """Newcombe's square-and-add interval for paired rates (Statistics in Medicine 17, 1998, p. 2635, method 10).

    It never leaves [-1, 1] and does not collapse where the two agree everywhere, as the textbook interval does.
    """
    n = both + only_first + only_second + neither
    first, second = wilson(both + only_first, n), wilson(both + only_second, n)
    if first is None or second is None:
        return None
    rate, other = (both + only_first) / n, (both + only_second) / n
    phi = _correlation(both, only_first, only_second, neither)
    below = _added(rate - first[0], second[1] - other, phi)
    above = _added(first[1] - rate, other - second[0], phi)
    value = (only_first - only_second) / n
    return PairedDifference(value=value, interval=(value - below, value + above), cases=n)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's step-down correction, in the order given; valid whatever the dependence between tests."""
    adjusted = [0.0] * len(ps)
    least = 0.0
    for rank, at in enumerate(sorted(range(len(ps)), key=lambda at: ps[at])):
        least = max(least, min(1.0, (len(ps) - rank) * ps[at]))
        adjusted[at] = least
    return adjusted


def _correlation(both: int, only_first: int, only_second: int, neither: int) -> float:
    """Phi of the two columns, a positive one corrected for continuity as by Newcombe; 0 where a column is constant."""
    margins = (both + only_first) * (only_second + neither) * (both + only_second) * (only_first + neither)
    if not margins:
        return 0.0
    product = both * neither - only_first * only_second
    half = (both + only_first + only_second + neither) / 2
    return (max(product - half, 0.0) if product > 0 else product) / sqrt(margins)


def _added(first: float, other: float, phi: float) -> float:
    # with phi near 1 and equal parts, rounding may leave less than nothing
    return sqrt(max(0.0, first * first - 2 * phi * first * other + other * other))


def fisher(hard: int, tried: int, all_hard: int, all_tried: int) -> float:
    """The exact two-sided p of this many hard ones in a part, given the number in the whole."""
    low, high = max(0, tried - (all_tried - all_hard)), min(tried, all_hard)
    whole = _log_choose(all_tried, tried)
    logs = [
        _log_choose(all_hard, k) + _log_choose(all_tried - all_hard, tried - k) - whole for k in range(low, high + 1)
    ]
    # what is as likely as the observed one counts, whatever floating point makes of it
    limit = logs[hard - low] + 1e-7
    return min(1.0, fsum(exp(log) for log in logs if log <= limit))


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
