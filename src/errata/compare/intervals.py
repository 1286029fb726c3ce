"""Confidence intervals of rates and means: Wilson, normal, and for repeated cases the effective sample size."""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, sqrt
from statistics import stdev

from errata.model.counts import Interval as Interval
from errata.model.counts import Z as Z
from errata.model.counts import wilson as wilson


def standard_error(values: Sequence[float]) -> float | None:
    """The interval of a mean of graded values; none for a single value."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def normal_interval(mean: float, stderr: float | None) -> Interval | None:
    """The normal interval of a mean."""
    return None if stderr is None else (mean - Z * stderr, mean + Z * stderr)


Cluster = tuple[float, int]
"""The sum of a case's values (its passes, where they are one or nothing), and how many there are."""


def clusters_of(values: Iterable[tuple[str, float]]) -> dict[str, Cluster]:
    """By case."""
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
    """The cluster-robust standard error of the mean; none for a single case."""
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
