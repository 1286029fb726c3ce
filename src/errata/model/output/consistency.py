"""`--json` of `consistency`: repeated runs, and judges of the same attempts."""

from errata.model.output.agreement import RaterAgreementOutput
from errata.model.output.compare import Cases
from errata.model.output.score import Interval
from errata.model.record import Struct
from errata.model.words import LeftOutCode


class StudyColumnOutput(Struct):
    index: int
    run: str
    run_id: str
    epoch: int | None
    passed: int
    failed: int
    incomplete: int


class PassingOutput(Struct):
    """The pass rate over all columns. Attempts at one case are correlated, and the interval accounts for it."""

    passed: int
    measured: int
    rate: float | None
    interval: Interval | None


class ReliabilityOutput(Struct):
    k: int
    any: float
    """pass@k"""
    all: float
    """pass^k"""
    cases: int


class NumbersOutput(Struct):
    """Results that are neither passes nor failures; a pass beside them is 1, a failure 0."""

    mean: float
    by_column: tuple[float | None, ...]
    within_cases: float | None
    """Standard deviation from attempt to attempt at a case; null where no case has several."""
    between_cases: float | None
    """Standard deviation of the cases' means."""


class MetricFlipOutput(Struct):
    metric: str
    pattern: str
    passed: int
    failed: int
    na: int


class StudyCaseOutput(Struct):
    case: str
    case_key: str
    pattern: str
    passed: int
    failed: int
    incomplete: int
    frequency: str
    flaky: bool
    unstable: bool
    metric_flips: tuple[MetricFlipOutput, ...]
    results: tuple[float, ...]
    """Empty unless some are numbers."""


class PlaceOutput(Struct):
    column: int
    case: str


class ConsistencyOutput(Struct):
    subject: str
    model: str
    agent: str | None
    variant: dict[str, str]
    suite: str
    suite_version: str | None
    columns: tuple[StudyColumnOutput, ...]
    rows: int
    passing: PassingOutput
    numbers: NumbersOutput | None
    reliability: tuple[ReliabilityOutput, ...]
    flaky: Cases
    unstable: Cases
    always_fail: Cases
    cases: tuple[StudyCaseOutput, ...]
    duplicates: tuple[PlaceOutput, ...]
    judged_twice: int
    changed: Cases
    without_a_row: tuple[PlaceOutput, ...]


class NotStudiedOutput(Struct):
    """A run that is in no study."""

    run: str
    run_id: str
    left_out: LeftOutCode
    excluded: str | None
    """The reason that was given for the exclusion."""


class WrittenTableOutput(Struct):
    file: str
    rows: int | None


class JudgeOutput(Struct):
    name: str
    judged: int
    invalid: int
    passes: int
    fails: int
    score: float | None
    """The mean."""


class ScoreGapOutput(Struct, rename={"first": "one"}):
    """How far the scores of two judges are apart in the mean."""

    first: str
    other: str
    both: int
    apart: float


class JudgeDisputeOutput(Struct, rename={"verdicts": "said"}):
    run: str
    case: str
    attempt_id: str
    verdicts: dict[str, str]
    scores: dict[str, float]


class JudgedQuestionOutput(Struct):
    name: str
    agreement: RaterAgreementOutput
    disputes: tuple[JudgeDisputeOutput, ...]


class JudgesOutput(Struct):
    attempts: int
    shared: int
    judges: tuple[JudgeOutput, ...]
    left_out: int
    """Further judges."""
    gaps: tuple[ScoreGapOutput, ...]
    questions: tuple[JudgedQuestionOutput, ...]


SHAPES: dict[str, type] = {
    "consistency": ConsistencyOutput,
    "consistency, a run that is left out": NotStudiedOutput,
    "consistency -o, a file": WrittenTableOutput,
    "consistency --judges": JudgesOutput,
}
