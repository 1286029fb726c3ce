"""Bootstrap intervals of means, paired differences and quantiles; the same data give the same interval."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import floor, fsum
from random import Random

import msgspec

from errata.compare.intervals import Interval

RESAMPLES = 2_000
SEED = 20_260_301
TAIL = 0.025
"""On either side: 95 %."""
WORTH_COUNTING = 20
"""From this many cases per distinct value on, drawing counts is quicker than drawing cases."""


class BootstrapMean(msgspec.Struct, frozen=True, kw_only=True):
    mean: float
    interval: Interval | None
    """None for a single case: drawn again it is always the same."""
    cases: int


def bootstrap_mean(values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> BootstrapMean | None:
    """The mean over cases with its percentile interval; none for nothing."""
    if not values:
        return None
    draw = _sums_of(values, Random(seed))  # noqa: S311 chance, not secrecy
    sums = sorted(draw() for _ in range(resamples)) if len(values) > 1 else []
    out = int(TAIL * len(sums))
    interval = (sums[out] / len(values), sums[-1 - out] / len(values)) if sums else None
    return BootstrapMean(mean=fsum(values) / len(values), interval=interval, cases=len(values))


def paired_bootstrap(
    first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> BootstrapMean | None:
    """By how much the first is better in the mean; both have a value for each case, in the same order."""
    differences = [one - other for one, other in zip(first, second, strict=True)]
    return bootstrap_mean(differences, resamples=resamples, seed=seed)


def _sums_of(values: Sequence[float], chance: Random) -> Callable[[], float]:
    """Draws the sum of as many values as there are."""
    counts = Counter(values)
    if len(values) < WORTH_COUNTING * len(counts):
        return lambda: fsum(chance.choices(values, k=len(values)))
    return lambda: _sum_by_counts(counts, len(values), chance)


def _sum_by_counts(counts: Counter[float], size: int, chance: Random) -> float:
    """How often each value comes is binomial, given how often those before it came."""
    left, among, parts = size, size, []
    for value, count in counts.items():
        drawn = _binomial(left, count, among, chance)
        parts.append(drawn * value)
        left, among = left - drawn, among - count
    return fsum(parts)


def _binomial(tries: int, count: int, among: int, chance: Random) -> int:
    """How many of the draws hit, where `count` of `among` do.

    Each try is a number of [0, 1) that hits below count / among. All are written bit by bit at once: a bit that differs
    from that of the bound decides, and half of those still open are decided in each round.
    """
    if count == among:
        return tries
    hits, rest = 0, count
    while tries:
        rest *= 2
        ones = chance.getrandbits(tries).bit_count()
        if rest >= among:
            hits, tries, rest = hits + tries - ones, ones, rest - among
        else:
            tries -= ones
    return hits


def quantile(ordered: Sequence[float], share: float) -> float:
    """Of values in ascending order, interpolated between the two that are next to it, as NumPy and pandas do."""
    at, between = _place(len(ordered), share)
    return _between(ordered[at], ordered[min(at + 1, len(ordered) - 1)], between)


def quantile_interval(
    values: Sequence[float], share: float, *, seed: int, resamples: int = RESAMPLES
) -> Interval | None:
    """The percentile bootstrap of a quantile; none for nothing, and one value twice where there is no other.

    Of each resample only the two values next to its quantile are drawn. Where they come in a sample of n is known: the
    k-th smallest of n equally likely places is of the distribution Beta(k, n + 1 - k), and so on from there. That is
    the same as drawing n values and sorting them, without doing so.
    """
    if not values:
        return None
    ordered, chance = sorted(values), Random(seed)  # noqa: S311 chance, not secrecy
    drawn = sorted(_redrawn(ordered, share, chance) for _ in range(resamples))
    return quantile(drawn, TAIL), quantile(drawn, 1 - TAIL)


def _redrawn(ordered: Sequence[float], share: float, chance: Random) -> float:
    size = len(ordered)
    at, between = _place(size, share)
    place = chance.betavariate(at + 1, size - at)
    value = ordered[min(int(place * size), size - 1)]
    if at + 1 == size:
        return value
    place += (1 - place) * chance.betavariate(1, size - at - 1)
    return _between(value, ordered[min(int(place * size), size - 1)], between)


def _place(size: int, share: float) -> tuple[int, float]:
    """The value below the quantile, and how far it is from there to the next."""
    exact = (size - 1) * share
    return floor(exact), exact - floor(exact)


def _between(low: float, high: float, part: float) -> float:
    return low + (high - low) * part
