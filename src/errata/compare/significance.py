"""Significance tests and their corrections, and Newcombe's interval of a paired difference."""

from collections.abc import Sequence
from functools import lru_cache
from math import exp, fsum, lgamma, log, sqrt
from sys import float_info

from errata.compare.intervals import Interval, wilson
from errata.model.record import Struct

STEPS = 500
"""Of a continued fraction; a few dozen are enough."""


class PairedDifference(Struct):
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


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """The step-up correction in the order given; keeps the share of false ones among those below a limit below it."""
    adjusted = [0.0] * len(ps)
    most = 1.0
    for rank, at in reversed(list(enumerate(sorted(range(len(ps)), key=lambda at: ps[at]), 1))):
        # n × p / n may be a little less than p
        most = min(most, max(ps[at], len(ps) * ps[at] / rank))
        adjusted[at] = most
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


def binomial_p(passed: float, tries: float, rate: float) -> float:
    """The two-sided mid-p of this number of passes at this rate; neither has to be a whole number."""
    below, above = _at_most(passed, tries, rate), 1 - _at_most(passed - 1, tries, rate)
    less, more = 1 - above, 1 - below
    return min(1.0, 2 * min((less + below) / 2, (more + above) / 2))


def _at_most(passed: float, tries: float, rate: float) -> float:
    if passed <= -1 or passed >= tries:
        return 0.0 if passed <= -1 else 1.0
    return _incomplete_beta(tries - passed, passed + 1, 1 - rate)


def paired_t(pairs: int, total: float, squares: float) -> float:
    """The two-sided p of Student's t-test that the differences of pairs are nothing in the mean; 1 for fewer than two.

    `total` and `squares` are the sums of the differences and of their squares.
    """
    if pairs < 2:
        return 1.0
    mean = total / pairs
    error = sqrt(max(squares - total * mean, 0.0) / (pairs - 1) / pairs)
    if error <= abs(mean) * float_info.epsilon:
        return 0.0 if mean else 1.0
    return student_p(mean / error, pairs - 1)


def paired_t_interval(pairs: int, total: float, squares: float) -> Interval | None:
    """The 95 % interval of the mean difference that belongs to `paired_t`; none for fewer than two pairs."""
    if pairs < 2:
        return None
    mean = total / pairs
    error = sqrt(max(squares - total * mean, 0.0) / (pairs - 1) / pairs)
    reach = student_bound(pairs - 1) * error
    return mean - reach, mean + reach


def mean_interval(mean: float, stderr: float | None, independent: int) -> Interval | None:
    """Student's 95 % interval; `independent`: over how many cases or values the mean is."""
    if stderr is None or independent < 2:
        return None
    reach = student_bound(independent - 1) * stderr
    return mean - reach, mean + reach


@lru_cache(maxsize=1_000)
def student_bound(freedom: int) -> float:
    """The t beyond which 5 % lie, on both sides together."""
    low, high = 0.0, 20.0
    while high - low > 1e-9:
        between = (low + high) / 2
        low, high = (between, high) if student_p(between, freedom) > 0.05 else (low, between)
    return high


def student_p(t: float, freedom: float) -> float:
    return _incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Numerical Recipes, 6.4)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - _incomplete_beta(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(1 - x)) / a
    upper, lower = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    fraction = lower
    for step in range(1, STEPS):
        for term in (
            step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step)),
            -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1)),
        ):
            lower = 1 / _not_zero(1 + term * lower)
            upper = _not_zero(1 + term / upper)
            fraction *= upper * lower
        if abs(upper * lower - 1) < 1e-14:
            break
    return front * fraction


def _not_zero(value: float) -> float:
    return value if abs(value) > float_info.min else float_info.min
