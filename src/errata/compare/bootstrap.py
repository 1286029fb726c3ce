"""Bootstrap intervals of quantiles; the same data give the same interval."""

from collections.abc import Sequence
from math import floor
from random import Random

from errata.compare.intervals import Interval

RESAMPLES = 2_000
TAIL = 0.025
"""On either side: 95 %."""


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
