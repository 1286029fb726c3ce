"""A share with its Wilson interval."""

from math import sqrt

import msgspec

Interval = tuple[float, float]

Z = 1.959963984540054
"""95 %, two-sided."""


def wilson(passed: float, total: float, *, z: float = Z) -> Interval | None:
    """The Wilson interval of a rate; none without data. Correlated attempts count less: effective sample size."""
    if total == 0:
        return None
    rate, square = passed / total, z * z
    centre = rate + square / (2 * total)
    spread = z * sqrt(rate * (1 - rate) / total + square / (4 * total * total))
    whole = 1 + square / total
    low, high = (centre - spread) / whole, (centre + spread) / whole
    # at the ends the formula misses the bound by a rounding error
    return (0.0 if passed == 0 else max(0.0, low), 1.0 if passed == total else min(1.0, high))


class RightShare(msgspec.Struct, frozen=True, kw_only=True):
    """How many of how many."""

    right: int
    of: int

    @property
    def rate(self) -> float | None:
        return self.right / self.of if self.of else None

    @property
    def interval(self) -> Interval | None:
        """Wilson, 95 %."""
        return wilson(self.right, self.of)
