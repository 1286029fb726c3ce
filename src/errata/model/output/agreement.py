"""What `errata review agreement --json` and `errata review calibrate --json` print."""

from typing import Literal

import msgspec


class ReviewerPairOutput(msgspec.Struct, frozen=True, kw_only=True, rename={"first": "one"}):
    first: str
    other: str
    both: int
    same: int
    kappa: float | None
    confusion: dict[str, dict[str, int]]


class ReviewersAgreementOutput(msgspec.Struct, frozen=True, kw_only=True):
    attempts: int
    pairs: tuple[ReviewerPairOutput, ...]
    fleiss: float | None
    alpha: float | None
    disagreements: tuple[str, ...]


class ReviewDisputeOutput(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    case: str
    attempt_id: str
    labels: dict[str, str]
    owners: dict[str, str]
    steps: dict[str, str]
    """Reviewer → decisive step, or `none`."""
    agents: dict[str, str]
    decided: str
    """The label that a person or an adjudication chose."""


class AgreementOutput(msgspec.Struct, frozen=True, kw_only=True):
    taxonomy: str
    agreement: ReviewersAgreementOutput
    owners: ReviewersAgreementOutput
    steps: ReviewersAgreementOutput
    """Over failures on which somebody names a decisive step."""
    agents: ReviewersAgreementOutput
    disputes: tuple[ReviewDisputeOutput, ...]


class LabelMeasureOutput(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    given: int
    true: int
    right: int
    precision: float | None
    recall: float | None


class ShareOutput(msgspec.Struct, frozen=True, kw_only=True):
    right: int
    of: int
    rate: float | None
    interval: tuple[float, float] | None
    """Wilson, 95 %."""


class StepMeasureOutput(msgspec.Struct, frozen=True, kw_only=True):
    exact: ShareOutput
    within_one: ShareOutput
    within_three: ShareOutput
    unnamed: int
    """Reviewed, but no step is named."""
    misses: tuple[tuple[str, int, int | None], ...]
    """Attempt, people's step, the reviewer's step."""


class ReviewerCalibrationOutput(msgspec.Struct, frozen=True, kw_only=True):
    labelled: int
    compared: int
    right: int
    kappa: float | None
    labels: tuple[LabelMeasureOutput, ...]
    confusion: dict[str, dict[str, int]]
    misses: tuple[tuple[str, str, str], ...]
    """Attempt, people's label, the reviewer's label."""
    accuracy: float | None
    interval: tuple[float, float] | None
    """Of the accuracy: Wilson, 95 %."""
    steps: StepMeasureOutput | None
    agents: ShareOutput | None


WhyRowSkipped = Literal[
    "contradicts_earlier_row",
    "no_failure_named",
    "no_label",
    "no_run",
    "not_a_failure",
    "not_found",
    "unknown_label",
    "unknown_step",
]


class SkippedRowOutput(msgspec.Struct, frozen=True, kw_only=True):
    line: int
    why: WhyRowSkipped
    value: str | None
    """The case, label or step that `why` is about."""


class CalibrateOutput(msgspec.Struct, frozen=True, kw_only=True):
    taxonomy: str
    labelled: int
    reviewers: dict[str, ReviewerCalibrationOutput]
    standing: ReviewerCalibrationOutput | None
    """The verdicts that count, where several reviewers have reviewed; without those of people."""
    untaken: tuple[SkippedRowOutput, ...]
