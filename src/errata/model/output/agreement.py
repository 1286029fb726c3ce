"""What `errata review agreement --json` and `errata review calibrate --json` print."""

from typing import Literal

from errata.model.record import Struct


class RaterPairOutput(Struct, rename={"first": "one"}):
    """Two reviewers or judges, over what both have rated."""

    first: str
    other: str
    both: int
    same: int
    kappa: float | None
    """Null if chance alone would agree everywhere: kappa is undefined."""
    confusion: dict[str, dict[str, int]]
    """Label of the one → label of the other → how often."""


class RaterAgreementOutput(Struct):
    attempts: int
    """Rated by two or more."""
    pairs: tuple[RaterPairOutput, ...]
    fleiss: float | None
    """Fleiss' kappa over the attempts that all have rated; null for fewer than three."""
    alpha: float | None
    """Krippendorff's."""
    disagreements: tuple[str, ...]
    """Attempts that were rated differently."""


class ReviewDisputeOutput(Struct):
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


class AgreementOutput(Struct):
    taxonomy: str
    agreement: RaterAgreementOutput
    owners: RaterAgreementOutput
    steps: RaterAgreementOutput
    """Over failures on which somebody names a decisive step."""
    agents: RaterAgreementOutput
    disputes: tuple[ReviewDisputeOutput, ...]


class LabelMeasureOutput(Struct):
    label: str
    given: int
    true: int
    right: int
    precision: float | None
    recall: float | None


class ShareOutput(Struct):
    right: int
    of: int
    rate: float | None
    interval: tuple[float, float] | None
    """Wilson, 95 %."""


class StepMeasureOutput(Struct):
    exact: ShareOutput
    within_one: ShareOutput
    within_three: ShareOutput
    unnamed: int
    """Reviewed, but no step is named."""
    misses: tuple[tuple[str, int, int | None], ...]
    """Attempt, people's step, the reviewer's step."""


class ReviewerCalibrationOutput(Struct):
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


class SkippedRowOutput(Struct):
    line: int
    why: WhyRowSkipped
    value: str | None
    """The case, label or step that `why` is about."""


class CalibrateOutput(Struct):
    taxonomy: str
    labelled: int
    reviewers: dict[str, ReviewerCalibrationOutput]
    standing: ReviewerCalibrationOutput | None
    """The verdicts that count, where several reviewers have reviewed; without those of people."""
    untaken: tuple[SkippedRowOutput, ...]
