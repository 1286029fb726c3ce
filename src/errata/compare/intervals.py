"""Confidence intervals of rates and means: Wilson, normal, and for repeated cases the effective sample size."""

from collections.abc import Iterable, Mapping, Sequence
from math import floor, fsum, sqrt
from random import Random
from statistics import stdev

from errata.model.counts import Interval as Interval
from errata.model.counts import Z as Z
from errata.model.counts import wilson as wilson
from errata.model.output.score import SpreadOutput


def standard_error(values: Sequence[float]) -> float | None:
    """The interval of a mean of graded values; none for a single value."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


BINS = 10


def spread_of(values: Sequence[float]) -> SpreadOutput:
    ordered = sorted(values)
    low, high = ordered[0], ordered[-1]
    bins = [0] * BINS
    for value in ordered:
        bins[min(BINS - 1, int((value - low) / (high - low) * BINS)) if high > low else 0] += 1
    quarter, median, three_quarters = (quantile(ordered, share) for share in (0.25, 0.5, 0.75))
    return SpreadOutput(
        low=low, quarter=quarter, median=median, three_quarters=three_quarters, high=high, bins=tuple(bins)
    )


Cluster = tuple[float, int]
"""The sum of a case's values (its passes, where they are one or nothing), and how many there are."""


def clusters_of(values: Iterable[tuple[str, float]]) -> dict[str, Cluster]:
    totals: dict[str, float] = {}
    counts: dict[str, int] = {}
    for case, value in values:
        if case in counts:
            totals[case] += value
            counts[case] += 1
        else:
            totals[case], counts[case] = 0.0 + value, 1
    return {case: (total, counts[case]) for case, total in totals.items()}


def merge_clusters(every: Iterable[Mapping[str, Cluster]]) -> dict[str, Cluster]:
    merged: dict[str, Cluster] = {}
    for clusters in every:
        for case, (total, count) in clusters.items():
            before, counted = merged.get(case, (0.0, 0))
            merged[case] = (before + total, counted + count)
    return merged


FEW_CASES = 10
"""Over fewer cases the variance between them is itself too uncertain to count a case more than once."""


def effective_sample_size(clusters: Sequence[Cluster]) -> float | None:
    """The number of independent tries with the same uncertainty; at most as many as there are, none for nothing.

    The size over the design effect, to be put into a Wilson interval: as for surveys, see Franco et al., Journal of
    Survey Statistics and Methodology 7, 2019. Where all passed or all failed nothing shows how far tries agree, and
    where there are few cases their variance is too uncertain; then a case counts once at most.
    """
    size, mean = _mean(clusters)
    if mean is None:
        return None
    if mean in (0, 1):
        return float(len(clusters))
    most = float(len(clusters) if len(clusters) < FEW_CASES else size)
    variance = _variance(clusters, mean, size)
    return min(mean * (1 - mean) / variance, most) if variance else most


def cluster_robust_error(clusters: Sequence[Cluster]) -> float | None:
    size, mean = _mean(clusters)
    if mean is None or len(clusters) < 2:
        return None
    return sqrt(_variance(clusters, mean, size) * len(clusters) / (len(clusters) - 1))


def _mean(clusters: Sequence[Cluster]) -> tuple[int, float | None]:
    size = sum(count for _, count in clusters)
    return size, fsum(total for total, _ in clusters) / size if size else None


def _variance(clusters: Sequence[Cluster], mean: float, size: int) -> float:
    """Of the mean, over the sums by which each case is off (Liang and Zeger, Biometrika 73, 1986)."""
    return fsum((total - count * mean) ** 2 for total, count in clusters) / size**2


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
