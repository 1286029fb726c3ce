"""`--json` of `consistency`: repeated runs, and judges of the same attempts."""

import msgspec

from errata.model.output.agreement import RaterAgreementOutput
from errata.model.output.compare import Cases
from errata.model.output.score import Interval
from errata.model.words import LeftOutCode


class StudyColumnOutput(msgspec.Struct, frozen=True, kw_only=True):
    index: int
    run: str
    run_id: str
    epoch: int | None
    passed: int
    failed: int
    incomplete: int


class PassingOutput(msgspec.Struct, frozen=True, kw_only=True):
    passed: int
    measured: int
    rate: float | None
    interval: Interval | None


class ReliabilityOutput(msgspec.Struct, frozen=True, kw_only=True):
    k: int
    any: float
    """pass@k"""
    all: float
    """pass^k"""
    cases: int


class MetricFlipOutput(msgspec.Struct, frozen=True, kw_only=True):
    metric: str
    pattern: str
    passed: int
    failed: int
    na: int


class StudyCaseOutput(msgspec.Struct, frozen=True, kw_only=True):
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


class PlaceOutput(msgspec.Struct, frozen=True, kw_only=True):
    column: int
    case: str


class ConsistencyOutput(msgspec.Struct, frozen=True, kw_only=True):
    subject: str
    model: str
    agent: str | None
    variant: dict[str, str]
    suite: str
    suite_version: str | None
    columns: tuple[StudyColumnOutput, ...]
    rows: int
    passing: PassingOutput
    reliability: tuple[ReliabilityOutput, ...]
    flaky: Cases
    unstable: Cases
    always_fail: Cases
    cases: tuple[StudyCaseOutput, ...]
    duplicates: tuple[PlaceOutput, ...]
    judged_twice: int
    changed: Cases
    without_a_row: tuple[PlaceOutput, ...]


class NotStudiedOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A run that is in no study."""

    run: str
    run_id: str
    left_out: LeftOutCode
    excluded: str | None
    """The reason that was given for the exclusion."""


class WrittenTableOutput(msgspec.Struct, frozen=True, kw_only=True):
    file: str
    rows: int | None


class JudgeOutput(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    judged: int
    invalid: int
    passes: int
    fails: int
    score: float | None
    """The mean."""


class ScoreGapOutput(msgspec.Struct, frozen=True, kw_only=True, rename={"first": "one"}):
    """How far the scores of two judges are apart in the mean."""

    first: str
    other: str
    both: int
    apart: float


class JudgeDisputeOutput(msgspec.Struct, frozen=True, kw_only=True, rename={"verdicts": "said"}):
    run: str
    case: str
    attempt_id: str
    verdicts: dict[str, str]
    scores: dict[str, float]


class JudgedQuestionOutput(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    agreement: RaterAgreementOutput
    disputes: tuple[JudgeDisputeOutput, ...]


class JudgesOutput(msgspec.Struct, frozen=True, kw_only=True):
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
