"""How far a mean can be trusted, asked of the data themselves: cases are drawn again and again, with replacement.

For graded values, where no formula of a rate holds. The seed is fixed, so that the same cases give the same interval.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from math import fsum
from random import Random

import msgspec

from errata.compare.intervals import Interval

RESAMPLES = 2_000
SEED = 20_260_301
TAIL = 0.025
"""On either side: 95 %."""
WORTH_COUNTING = 20
"""Where each distinct value has so many cases, it is quicker to draw how often it comes than to draw every case."""


class Resampled(msgspec.Struct, frozen=True, kw_only=True):
    mean: float
    interval: Interval | None
    """None for a single case: drawn again it is always the same."""
    cases: int


def resampled(values: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED) -> Resampled | None:
    """The mean over cases with its percentile interval; none for nothing."""
    if not values:
        return None
    draw = _sums_of(values, Random(seed))  # noqa: S311 chance, not secrecy
    sums = sorted(draw() for _ in range(resamples)) if len(values) > 1 else []
    out = int(TAIL * len(sums))
    interval = (sums[out] / len(values), sums[-1 - out] / len(values)) if sums else None
    return Resampled(mean=fsum(values) / len(values), interval=interval, cases=len(values))


def paired_bootstrap(
    first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Resampled | None:
    """By how much the first is better in the mean; both have a value for each case, in the same order."""
    differences = [one - other for one, other in zip(first, second, strict=True)]
    return resampled(differences, resamples=resamples, seed=seed)


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
    """How many of so many tries hit, where `count` of `among` do.

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
