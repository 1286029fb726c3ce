"""What was measured about an attempt, and what went wrong while it was made or measured."""

from collections.abc import Sequence
from statistics import fmean
from typing import Literal, NamedTuple

from errata.model.record import Record, Struct
from errata.model.words import CheckKind, CheckStatus, CheckWeakness, ErrorText, Phase


class ErrorInfo(Record):
    type: str
    message: str
    template: str = ""
    """The message with numbers, ids, paths and times masked."""
    code: str = ""
    """HTTP status or the provider's own code."""
    traceback: str = ""
    frame: str = ""
    """The first frame that belongs to the harness or the subject, not to a library."""
    phase: Phase = ""
    """Empty where the log does not tell."""
    retryable: bool | None = None
    recovered: bool = False
    collateral: bool = False
    derived: tuple[ErrorText, ...] = ()
    """What its source put into words: no rule reads it, nothing quotes it."""
    hits: tuple[str, ...] = ()
    """The parts of the attempt that it stopped, where one error affects several: `T0/00`."""
    at: str | None = None

    @property
    def quotable(self) -> str:
        """The words of the log: its message, else its type."""
        texts = (("message", self.message), ("type", self.type))
        return next((text for name, text in texts if text and name not in self.derived), "")

    @property
    def stated(self) -> str:
        """What its source put into words, where the log has none."""
        return "" if self.quotable else self.message or self.type


class CheckEdit(Record):
    """An earlier value of a check, kept when somebody changed it."""

    value: float | str | bool | None
    by: str = ""
    at: str | None = None
    why: str = ""


class Check(Record):
    name: str
    status: CheckStatus
    scorer: str = ""
    judge: str = ""
    order: int = 0
    kind: CheckKind = "assertion"
    value: float | str | bool | None = None
    achieved: float | None = None
    max: float | None = None
    threshold: float | None = None
    lower_is_better: bool = False
    is_primary: bool = False
    counts: bool = True
    """False for checks that a harness reports but leaves out of the outcome."""
    weakness: CheckWeakness = ""
    explanation: str = ""
    derived: bool = False
    """Its explanation is in the words of its source: nothing quotes it."""
    reason_code: str = ""
    error: ErrorInfo | None = None
    duration: float | None = None
    step: int | None = None
    """Where in the transcript it was measured."""
    history: tuple[CheckEdit, ...] = ()

    @property
    def failed(self) -> bool:
        return self.status == "fail" and self.counts

    @property
    def given(self) -> bool | float | None:
        """What a scorer gave: whether it passed, or a number; none for other checks, and where it gave nothing."""
        value, status = self.value, self.status
        if self.kind in ("step", "tests", "limit") or status in ("error", "not_run", "skipped"):
            return None
        if self.kind == "reward" and self.is_primary:
            return None  # the outcome itself
        is_number = type(value) in (int, float) and value == value
        if status in ("pass", "fail") and not (is_number and value not in (0, 1)):
            return status == "pass"
        return float(value or 0) if is_number else None

    @property
    def is_bare_number(self) -> bool:
        """Passed or failed by nothing but its number, which another of its run shows to be one on a scale."""
        is_decided = self.status in ("pass", "fail") and self.threshold is None
        return is_decided and type(self.value) in (int, float)

    @property
    def share(self) -> float | None:
        """How much of it was met, where it has a share and not a reward of its own scale."""
        value = self.value
        is_share = isinstance(value, float) and 0 <= value <= 1 and self.kind != "reward"
        return value if is_share and isinstance(value, float) else None

    @property
    def share_passed(self) -> float | None:
        """The share of its tests that passed; what a judge grades has no tests."""
        return self.share if self.kind in ("step", "tests") else None


class ScorerCount(Struct):
    """How a scorer came out that does not decide the outcome."""

    passed: int | None
    """None where some of its values are numbers."""
    total: int
    mean: float


def scorer_count(given: Sequence[bool | float]) -> ScorerCount:
    """`given`: not empty."""
    passed = None if any(type(value) is float for value in given) else sum(map(int, given))
    return ScorerCount(passed=passed, total=len(given), mean=fmean(given))


class Part(Record):
    path: str
    """`T0` for a tier, `T0/00` for a subtest of it."""
    score: float | None = None
    """Of its best subtest, or the mean of its runs."""
    made: int | None = None
    passed: int | None = None
    """How many runs were made and passed."""
    pass_rate: float | None = None
    cost: float | None = None
    cost_of_pass: float | None = None
    """Mean cost over pass rate; absent where nothing passed, which a harness may call infinite."""
    is_best: bool = False
    """Whether it is what the harness selected among its like."""


# --- an answer that is not the expected one, as the harness took both, and the kind of difference


Difference = Literal[
    "empty", "not_extracted", "refusal", "option", "case", "format", "factor", "sign", "unit", "rounding", "number",
    "extra", "part", "text",
]  # fmt: skip


class WrongAnswer(NamedTuple):
    answered: str
    """In one line. Empty where there was no answer, or where the harness found none in a text."""
    expected: str
    difference: Difference
    factor: str = ""
    """How many times too large or too small a number is, where that is a power of ten."""
    written: str = ""
    """The answer as the model wrote it, where a scorer changed it to lower case."""

    @property
    def pair(self) -> str:
        """Equal for failures that gave the same answer in place of the same expected one."""
        return f"{self.answered} ≠ {self.expected}" if self.answered else ""
