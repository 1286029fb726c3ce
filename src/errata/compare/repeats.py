"""Cases that were tried several times: how often each passed, which are flaky, and what k tries would give."""

from collections.abc import Sequence
from statistics import fmean
from typing import Literal

import msgspec

from errata.compare.reducers import pass_all, pass_at
from errata.model import Attempt

Status = Literal["pass", "fail", "incomplete"]

TRIES = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100)
"""For which k it is told, as far as there are so many tries."""


def status_of(attempt: Attempt) -> Status:
    """What repeated tries are compared by: the outcome; without one, what was measured of the attempt all the same.

    A judge may have failed an answer that never came. That is no outcome, but it is what the harness's own tables say.
    """
    if attempt.outcome == "none":
        return "fail" if attempt.measurement == "scored" and attempt.failed_checks else "incomplete"
    return "fail" if attempt.is_failure else "pass"


class Repeated(msgspec.Struct, frozen=True, kw_only=True):
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
        """Both outcomes; a try that was not measured says nothing of the case."""
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


class Reliability(msgspec.Struct, frozen=True, kw_only=True):
    """What k tries at a case would give, in the mean over the cases that have at least k."""

    k: int
    any: float
    """pass@k: one of k tries passes."""
    all: float
    """pass^k: all k do."""
    cases: int


def reliability(repeated: Sequence[Repeated]) -> tuple[Reliability, ...]:
    """For every k of `TRIES`, and for the largest that a case allows; without bias, as all sets of k tries give it."""
    every = [one.values for one in repeated if one.measured]
    most = max(map(len, every), default=0)
    return tuple(_at(k, every) for k in sorted({*(k for k in TRIES if k <= most), *((most,) if most else ())}))


def _at(k: int, every: Sequence[Sequence[float]]) -> Reliability:
    some = [(one, both) for one, both in ((pass_at(values, k=k), pass_all(values, k=k)) for values in every)]
    at_least_one = [one for one, _ in some if one is not None]
    return Reliability(
        k=k,
        any=fmean(at_least_one),
        all=fmean(both for _, both in some if both is not None),
        cases=len(at_least_one),
    )
