"""From several tries at a case to the one value that a harness averages."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from statistics import fmean, median

Reducer = Callable[[Sequence[float]], float | None]
"""None where it is not defined for so few values."""

FULL = 1.0


def reducer_named(name: str) -> Reducer | None:
    """By the name that a log gives; the mean where it gives none, and none where it is not known."""
    counted = _COUNTED.fullmatch(name)
    if counted is not None:
        return partial(_OF_K[counted[1]], k=int(counted[2]))
    return _NAMED.get(name)


def at_least(values: Sequence[float], *, k: int) -> float:
    return float(_full(values) >= k)


def pass_at(values: Sequence[float], *, k: int) -> float | None:
    """The chance that one of k tries, drawn from these, has full marks."""
    every = comb(len(values), k)
    return None if len(values) < k else (every - comb(len(values) - _full(values), k)) / every


def pass_all(values: Sequence[float], *, k: int) -> float | None:
    """The chance that all of k tries, drawn from these, have full marks."""
    return None if len(values) < k else comb(_full(values), k) / comb(len(values), k)


def _full(values: Sequence[float]) -> int:
    return sum(value >= FULL for value in values)


def _commonest(values: Sequence[float]) -> float:
    return Counter(values).most_common(1)[0][0]


_NAMED: dict[str, Reducer] = {"": fmean, "mean": fmean, "median": median, "mode": _commonest, "max": max}
_OF_K: dict[str, Callable[..., float | None]] = {"at_least": at_least, "pass_at": pass_at, "pass_k": pass_all}
_COUNTED = re.compile(rf"({'|'.join(_OF_K)})_([1-9]\d{{0,5}})")
