"""What commands print about single failures and passes: `errata failures --json`."""

from typing import Literal

from msgspec import UNSET, UnsetType

from errata.model.action import KnownGap
from errata.model.attribution import FailureKey
from errata.model.bucket import BucketPlace
from errata.model.history import Match, Mention
from errata.model.output.memory import ActionListOutput, CaseHistoryOutput
from errata.model.output.runs import NamedRun, ProjectOutput
from errata.model.record import Struct
from errata.model.standing import LabelChange
from errata.model.words import (
    Confidence,
    Execution,
    Measurement,
    Outcome,
    Owner,
    Proof,
    ProofReason,
)


class SignalOutput(Struct):
    """One observation that a rule made."""

    name: str
    where: str
    """The field of the attempt it was made in."""
    quote: str
    stated: str
    """What errata states from facts of the log; `quote` has the log's own words."""


class StandingVerdictOutput(Struct):
    """The verdict that counts."""

    id: str
    taxonomy: str
    label: str
    owner: Owner
    cause: str
    decisive_step: int | None
    """The first act that was never corrected and after which the expected result became unreachable."""
    decisive_agent: str | None
    second_candidate: int | None
    confidence: Confidence
    reviewer: str
    """Kind, name and version in one word."""
    at: str | None
    final: bool
    disputed: bool
    """Reviewers disagree, and no person has decided."""
    inherited_from: str | None
    """The verdict on the same failure of another run that it was taken from."""
    changes: tuple[LabelChange, ...]


class AttemptRowOutput(NamedRun):
    """Which attempt an object is about."""

    model: str
    case: str
    """As the harness names it."""
    case_key: str
    """Suite and case: the same in every run."""
    attempt: int
    """1 for the first attempt at the case."""
    session: int | None
    """Of a run that was resumed: the session of this attempt."""
    attempt_id: str
    """What `errata show` takes."""


class FailureOutput(AttemptRowOutput):
    """A failure: a counted attempt that did not pass or was not measured."""

    execution: Execution
    measurement: Measurement
    outcome: Outcome
    native_status: str | None
    """The harness's own status."""
    failed_checks: tuple[str, ...]
    reason: str | None
    """The text of the log that explains the failure best."""
    follows: str | None
    """The attempt whose failure this one only follows from."""
    owner: Owner | None
    """By the rules of triage. The owner that a reviewer named is in `verdict`."""
    also: tuple[Owner, ...]
    """Other owners with a share in it."""
    confidence: Confidence | None
    proof: Proof | None
    """Of the owner `model`: `shown` where evidence supports it, `presumed` where it is only the default."""
    proof_reason: ProofReason | None
    decided_by: str | None
    """The rule that named the owner."""
    signals: tuple[SignalOutput, ...]
    failure_key: FailureKey | None
    """Equal for failures with the same error, apart from numbers, ids and paths."""
    suggested_labels: dict[str, str]
    """Taxonomy → label."""
    bucket: BucketPlace | None
    verdict: StandingVerdictOutput | None
    before: CaseHistoryOutput | None
    """What was known of the case before this run."""


class ListedFailureOutput(FailureOutput):
    project: ProjectOutput | UnsetType = UNSET
    """Absent unless a project's file decides about these results."""


class SuspiciousPassOutput(AttemptRowOutput):
    """A pass that deserves a second look; an object for each suspicion."""

    outcome: Literal["pass"]
    suspicion: str
    """The rule that found it."""
    strength: Confidence
    where: str
    """The field of the attempt it was found in."""
    quote: str
    stated: str


class SoughtOutput(Struct):
    """What `--like` named: a failure, or a text. Of a text, all other fields are null."""

    text: str
    """The text, or the reason of the failure."""
    run: str | None
    run_id: str | None
    model: str | None
    case: str | None
    case_key: str | None
    attempt_id: str | None
    failed_checks: tuple[str, ...] | None
    owner: Owner | None
    failure_key: FailureKey | None
    bucket: str | None
    """The slug of its bucket."""


class SimilarFailureOutput(AttemptRowOutput):
    """A failure that is like the one sought."""

    date: str
    """When the run began; where its log does not show that, when it was imported."""
    match: Match
    """Why it is listed."""
    owner: Owner | None
    failed_checks: tuple[str, ...]
    reason: str | None
    failure_key: FailureKey | None
    bucket: str | None
    """The slug of the bucket by which it was found."""


class SimilarEntryOutput(Mention):
    """An entry of an earlier report that is about the same failure."""

    match: Match
    case: str | None
    """As the report writes it; null for a pattern over several cases."""


class SimilarGapOutput(Struct):
    """A known gap of these cases."""

    gap: KnownGap
    cases: tuple[str, ...]
    failures: int
    """How many of the matching failures it covers."""


class SimilarFailuresOutput(Struct):
    """The same failure over models, runs and earlier reports, and what was done about it."""

    like: SoughtOutput
    searched_runs: int
    count: int
    """Matching failures, without the one that was named; `failures` lists up to 1,000 of them, or `--limit`."""
    matches: dict[Match, int]
    """Why they match → how many."""
    models: dict[str, int]
    """Model → matching failures."""
    runs: int
    """Runs with a matching failure."""
    first_seen: str | None
    last_seen: str | None
    failures: tuple[SimilarFailureOutput, ...]
    """The nearest first, then the newest."""
    reports: tuple[SimilarEntryOutput, ...]
    actions: tuple[ActionListOutput, ...]
    """On the cases or the bucket of these failures, with what the newest run shows of each; newest first."""
    known_gaps: tuple[SimilarGapOutput, ...]


SHAPES: dict[str, type] = {
    "failures": ListedFailureOutput,
    "failures --suspicious": SuspiciousPassOutput,
    "failures --like": SimilarFailuresOutput,
}
