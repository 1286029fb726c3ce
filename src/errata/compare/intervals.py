"""How far a rate can be trusted."""

from math import sqrt

Z = 1.959963984540054
"""95 %, two-sided."""


def wilson(passed: int, total: int) -> tuple[float, float] | None:
    """The Wilson interval of a rate; none for nothing."""
    if total == 0:
        return None
    rate, square = passed / total, Z * Z
    centre = rate + square / (2 * total)
    spread = Z * sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    whole = 1 + square / total
    low, high = (centre - spread) / whole, (centre + spread) / whole
    # at the ends the formula misses the bound by a rounding error
    return (0.0 if passed == 0 else max(0.0, low), 1.0 if passed == total else min(1.0, high))
