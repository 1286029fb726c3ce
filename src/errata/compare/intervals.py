"""How far a rate or a mean can be trusted."""

from collections.abc import Sequence
from math import sqrt
from statistics import stdev

Interval = tuple[float, float]

Z = 1.959963984540054
"""95 %, two-sided."""


def wilson(passed: float, total: float, *, z: float = Z) -> Interval | None:
    """The Wilson interval of a rate; none for nothing. What hangs together is worth less than its number."""
    if total == 0:
        return None
    rate, square = passed / total, z * z
    centre = rate + square / (2 * total)
    spread = z * sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    whole = 1 + square / total
    low, high = (centre - spread) / whole, (centre + spread) / whole
    # at the ends the formula misses the bound by a rounding error
    return (0.0 if passed == 0 else max(0.0, low), 1.0 if passed == total else min(1.0, high))


def standard_error(values: Sequence[float]) -> float | None:
    """Of the mean of graded values; one value alone says nothing about its spread."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else None


def around(mean: float, stderr: float | None) -> Interval | None:
    """The normal interval of a mean."""
    return None if stderr is None else (mean - Z * stderr, mean + Z * stderr)
