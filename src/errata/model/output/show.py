"""What `errata show --json` prints: a run or an attempt with everything that is known of it."""

from typing import Any, Literal

from errata.model.attempt import Attempt
from errata.model.attribution import Attribution, Signal
from errata.model.bucket import BucketPlace
from errata.model.case import Case
from errata.model.counts import Counts
from errata.model.output.memory import CaseHistoryOutput
from errata.model.record import Finding, Struct
from errata.model.run import Run
from errata.model.standing import Standing
from errata.model.step import Observation
from errata.model.verdict import Packet, Verdict
from errata.model.words import Owner, Provenance


class ShownRunOutput(Struct):
    """A run: what its harness recorded, the counts, and the findings of the checkup."""

    kind: Literal["run"] = "run"
    run: Run
    counts: Counts
    findings: tuple[Finding, ...]


class ReasonOutput(Struct):
    """A signal, or a fact of the log, that supports the owner or contradicts it."""

    signal: Signal | None
    points_to: Owner | None
    """Whom it points to; set where that is not the owner."""
    fact: Literal["harness_counted_it", "harness_left_it_out"] | None
    """Set where it is not a signal: what the harness's own score made of the attempt."""


class UnusedMatchOutput(Struct):
    """Text that a rule would match elsewhere, in a place that is not evidence."""

    rule: str
    place: Literal["case_name", "task", "answer", "file"]
    file: str | None
    """The file that the model wrote, and the line in it."""
    line: int | None
    quote: str


class ScoreEffectOutput(Struct):
    """Which scores count the failure."""

    counted_in: tuple[str, ...]
    """Policies."""
    left_out_of: dict[str, str]
    """Policy → why."""
    recovered: bool
    """True where `clean` takes the result of an earlier session instead."""
    stood_in_for: tuple[str, ...]
    """Policies that take the result of an earlier session instead."""
    unsettled: bool
    """It was reviewed, but a second reviewer has to agree before it counts."""


class ExplanationOutput(Struct):
    """Why the failure has its owner; the deciding rule is `decided_by` of the attribution."""

    because: tuple[str, str, str]
    """The place and the text that explain it best, and how much of its beginning errata states from facts."""
    decided: Signal | None
    supports: tuple[ReasonOutput, ...]
    against: tuple[ReasonOutput, ...]
    not_used: tuple[UnusedMatchOutput, ...]
    effect: ScoreEffectOutput


class SameFailureOutput(Struct):
    """Another model that fails in the same way."""

    model: str
    count: int
    run: str
    """Its newest run with such a failure."""


class ShownBucketOutput(BucketPlace):
    """The bucket of a failure, and how much of it was reviewed, over all runs."""

    mistakes: int
    """Failures in it that do not follow from another."""
    reviewed: int
    """Failures in it that a reviewer has read themselves."""


class ShownAttemptOutput(Struct):
    """An attempt: what its harness recorded, and everything that is known of it."""

    kind: Literal["attempt"] = "attempt"
    attempt: Attempt
    origin: Provenance
    """Where it comes from; only a first try and a repeat are trials of their own."""
    case: Case | None
    children: tuple[str, ...]
    """Attempts below it."""
    earlier: tuple[str, ...]
    """Attempts of earlier sessions that it replaces."""
    attribution: Attribution | None
    """The result of triage; set where the attempt failed."""
    explanation: ExplanationOutput | None
    verdicts: tuple[Verdict, ...]
    """All of them, oldest first."""
    standing: Standing | None
    stale: bool
    """The log changed after the verdict, and its quotes are gone."""
    bucket: ShownBucketOutput | None
    before: CaseHistoryOutput | None
    """What was known of the case before this run."""
    alike: tuple[SameFailureOutput, ...]
    evidence_log: tuple[Observation, ...]
    """What the steps of a failure show by themselves, the strongest observation first."""


SHAPES: dict[str, Any] = {"show": ShownRunOutput | ShownAttemptOutput, "show --packet": Packet}
