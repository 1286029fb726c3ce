"""How the counted attempts at one case went, together."""

from typing import Literal, get_args

import msgspec

from errata.model.attempt import Attempt

CellState = Literal[
    "passed", "failed", "partial", "number", "limit", "error", "cancelled", "follows", "unscored", "missing",
    "contradictory", "mixed",
]  # fmt: skip
CELL_STATES: tuple[str, ...] = get_args(CellState)


class Cell(msgspec.Struct, frozen=True, gc=False):
    """Of the counted attempts alone; a comparison may have a hundred thousand of these."""

    run: int
    """The run's number in the store."""
    case: str
    state: CellState
    """`follows` only from another failure; `contradictory` rows of one attempt; `mixed` attempts of one case."""
    attempts: int = 1
    passes: int = 0
    fails: int = 0
    """What was carried out or broke off and was not passed; an attempt without a verdict is neither."""
    position: int | None = None
    value: float | None = None
    """The mean of its attempts, where some are numbers: a pass among them is 1, a failure 0, what broke off nothing."""

    @property
    def share(self) -> float | None:
        """How much of the case was achieved; none where nothing was decided."""
        if self.value is not None:
            return self.value
        return self.passes / (self.passes + self.fails) if self.decided or self.state == "mixed" else None

    @property
    def result(self) -> float | None:
        """Beside numbers: what broke off has none, which is not 0."""
        return None if self.value is None and self.state in _BROKE_OFF else self.share

    @property
    def passed(self) -> bool:
        return self.passes > 0 and not self.fails

    @property
    def failed(self) -> bool:
        return self.fails > 0 and not self.passes

    @property
    def decided(self) -> bool:
        """Whether the case has either."""
        return (self.passes > 0) != (self.fails > 0)


class FailedCell(msgspec.Struct, frozen=True, gc=False):
    """A case that failed in a run: who has to act, and the attempt that shows it."""

    owner: str
    attempt: str


# the result of an attempt; of several failed attempts the smallest number is the most informative
_FAILED: tuple[CellState, ...] = ("failed", "partial", "limit", "error", "cancelled")
_BROKE_OFF: tuple[CellState, ...] = (*_FAILED[2:], "follows")
_UNDECIDED: tuple[CellState, ...] = ("partial", "number", "unscored", "missing")
_STATES: tuple[CellState, ...] = (*_FAILED, *_UNDECIDED, "passed")
_PARTIAL, _NUMBER, _UNSCORED, _MISSING = range(len(_FAILED), len(_FAILED) + len(_UNDECIDED))
_PASSED = len(_STATES) - 1


def result_of(execution: str, measurement: str, outcome: str, *, is_failure: bool) -> int:
    """An outcome decides; without one, what kept the attempt from having any."""
    if outcome == "pass":
        return _PASSED
    if outcome == "fail":
        return 0
    if outcome == "partial":
        return 1 if is_failure else _PARTIAL
    if outcome == "number":
        return _NUMBER
    if execution in ("missing", "unfinished", "skipped"):
        return _MISSING
    if measurement in ("unscored", "error") or execution == "completed":
        return _UNSCORED
    return {"limit": 2, "error": 3}.get(execution, 4)


def is_failed(attempt: Attempt) -> bool:
    """What was carried out or broke off and was not passed; without a verdict it is neither."""
    result = result_of(attempt.execution, attempt.measurement, attempt.outcome, is_failure=attempt.is_failure)
    return result < len(_FAILED)


class CellTally:
    """The attempts at one case, while they are counted."""

    __slots__ = ("_attempts", "_broke_off", "_fails", "_numbers", "_passes", "_position", "_result", "_sum", "follows")

    def __init__(self) -> None:
        self._attempts = self._passes = self._fails = self._broke_off = self._numbers = self.follows = 0
        self._sum = 0.0
        self._result = _PASSED
        self._position: int | None = None

    def add(
        self, result: int, often: int = 1, position: int | None = None, values: tuple[int, float] = (0, 0.0)
    ) -> None:
        """`values`: how many of them are numbers, and their sum."""
        self._attempts += often
        if result == _PASSED:
            self._passes += often
        elif result < len(_FAILED):
            self._fails += often
            self._broke_off += often if _STATES[result] in _BROKE_OFF else 0
        self._result = min(self._result, result)
        self._numbers += values[0]
        self._sum += values[1]
        if position is not None and (self._position is None or position < self._position):
            self._position = position

    @property
    def is_mixed(self) -> bool:
        return self._passes > 0 and self._fails > 0

    def cell(self, run: int, case: str, *, is_repeated: bool) -> Cell:
        """`is_repeated`: whether the run tries its cases several times; else rows of a case are of one try."""
        state = _STATES[self._result]
        if self.is_mixed:
            state = "mixed" if is_repeated else "contradictory"
        elif self._passes:
            state = "passed"
        elif self._fails and self.follows == self._fails:
            state = "follows"
        tried = self._passes + self._fails - self._broke_off + self._numbers
        value = (self._passes + self._sum) / tried if self._numbers else None
        return Cell(run, case, state, self._attempts, self._passes, self._fails, self._position, value)
