"""Cases that were tried several times: pass frequency, flakiness, pass@k and pass^k."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from math import comb
from statistics import fmean, median
from typing import Literal

from errata.model import Attempt
from errata.model.output.consistency import ReliabilityOutput
from errata.model.record import Struct
from errata.text.lazy_regex import lazy_regex

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
_COUNTED = lazy_regex(rf"({'|'.join(_OF_K)})_([1-9]\d{{0,5}})")


Status = Literal["pass", "fail", "number", "incomplete"]
"""`number`: neither, and `Attempt.value` has it."""

TRIES = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)
"""The values of k, as far as there are enough attempts."""


def status_of(attempt: Attempt) -> Status:
    """What repeated tries are compared by: the outcome; without one, what was measured of the attempt all the same.

    A judge may have failed an answer that never came: not an outcome, but what the harness's own tables show.
    """
    if attempt.outcome == "none":
        return "fail" if attempt.measurement == "scored" and attempt.failed_checks else "incomplete"
    if attempt.value is not None:
        return "number"
    return "fail" if attempt.is_failure else "pass"


class RepeatedCase(Struct):
    """Equivalent tries at one case, in their order: epochs or trials of a run, runs of the same subject."""

    case: str
    statuses: tuple[Status, ...]

    @property
    def passed(self) -> int:
        return self.statuses.count("pass")

    @property
    def failed(self) -> int:
        return self.statuses.count("fail")

    @property
    def incomplete(self) -> int:
        return self.statuses.count("incomplete")

    @property
    def measured(self) -> int:
        return self.passed + self.failed

    @property
    def frequency(self) -> str:
        """`2/3`: passes, of the tries that were measured."""
        return f"{self.passed}/{self.measured}"

    @property
    def is_flaky(self) -> bool:
        """Both outcomes occur among the measured attempts."""
        return 0 < self.passed < self.measured

    @property
    def always_passes(self) -> bool:
        """Tried twice or more, and passed each time."""
        return self.passed == len(self.statuses) > 1

    @property
    def always_fails(self) -> bool:
        return self.failed == len(self.statuses) > 1

    @property
    def is_unstable(self) -> bool:
        """Not the same everywhere; to the harness's own study a try that was not measured is another result, too."""
        return len(set(self.statuses)) > 1

    @property
    def values(self) -> list[float]:
        return [1.0] * self.passed + [0.0] * self.failed


def reliability(repeated: Sequence[RepeatedCase]) -> tuple[ReliabilityOutput, ...]:
    """For every k of `TRIES`, and for the largest that a case allows; without bias, as all sets of k tries give it."""
    every = [one.values for one in repeated if one.measured]
    most = max(map(len, every), default=0)
    return tuple(_at(k, every) for k in sorted({*(k for k in TRIES if k <= most), *((most,) if most else ())}))


def _at(k: int, every: Sequence[Sequence[float]]) -> ReliabilityOutput:
    some = [(one, both) for one, both in ((pass_at(values, k=k), pass_all(values, k=k)) for values in every)]
    at_least_one = [one for one, _ in some if one is not None]
    return ReliabilityOutput(
        k=k,
        any=fmean(at_least_one),
        all=fmean(both for _, both in some if both is not None),
        cases=len(at_least_one),
    )
