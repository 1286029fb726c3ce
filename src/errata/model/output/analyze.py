"""`errata analyze --json` and `errata demo --json`: the summary of a run."""

from typing import Literal

from msgspec import UNSET, UnsetType

from errata.model.bucket import CauseSummary
from errata.model.check import ScorerCount
from errata.model.counts import CategoryOverlap, Doubt, NoEstimate, WithoutFailures
from errata.model.output.memory import (
    AmbiguousNameOutput,
    EarlierReportOutput,
    EffectOutput,
    RepeatsOutput,
    UnreadReportOutput,
)
from errata.model.output.runs import ProjectOutput, StoredRunOutput
from errata.model.output.score import ScoreOutput
from errata.model.record import Finding, Struct, UnreadFiles
from errata.model.suspects import SuspectTasks
from errata.model.words import Owner, ProofReason


class CategoryCountOutput(Struct):
    failed: int
    """Cases that failed; of several attempts at a case, at least one."""
    cases: int | None
    """All that were planned, with missing ones; null where the log holds only the failures."""
    unscored: int = 0
    """Cases with a failure and no verdict; they are not among the failed ones."""


class AnalysisOutput(StoredRunOutput):
    """The summary of a run."""

    passed: int
    total: int
    unit: Literal["cases", "attempts"]
    """What `passed` and `total` count: attempts where a case was tried several times."""
    by_harness: bool
    """True where the log holds only part of the cases, so `passed` and `total` are the harness's own."""
    without_failures: WithoutFailures | None
    """Set where nothing failed."""
    fit: bool
    """No finding breaks the run."""
    doubts: tuple[Doubt, ...]
    """Why it is comparable with care only, or not at all; empty where nothing is on record."""
    no_estimate: NoEstimate | None
    """Why no figure is the best estimate of the score; null where `clean`, or `reviewed`, is."""
    unavailable: bool
    """True where every case ended in the same infrastructure error."""
    first_failed_checks: dict[str, int]
    """Check → failures that it is the first failed check of; the empty name counts failures without one."""
    other_checks: dict[str, ScorerCount]
    """Scorers that do not decide the outcome, or failed where it is a pass."""
    categories: dict[str, CategoryCountOutput]
    """Those with a failure; a case counts in each of its categories."""
    overlap: CategoryOverlap
    """Failures that count in several categories or in none."""
    findings: tuple[Finding, ...]
    reviewed: int
    """Failures that somebody reviewed, and whose evidence has not changed since."""
    inherited: int
    """Failures with the verdict of an identical crash."""
    owners: dict[Owner, int]
    """Owner → failures: by the standing verdict, else by the rules of triage."""
    shown: int
    """Of the failures that rules gave to the model: those that are shown to be its own."""
    presumed: dict[ProofReason, int]
    """Why → failures that are only presumed to be the model's."""
    passed_by_nobody: tuple[str, ...]
    """Failed cases that no subject in the store has passed, where at least three were measured."""
    suspects: SuspectTasks
    """Tasks of the suite that hardly any subject in the store passes; of these, the ones that this run failed."""
    causes: tuple[CauseSummary, ...]
    """The largest first. Empty where nothing failed, and above 5,000 failures until `errata buckets suggest`."""
    earlier_reports: tuple[EarlierReportOutput, ...]
    """Earlier reports about the same model."""
    reports_of_other_models: int
    reports_not_read: tuple[UnreadReportOutput, ...]
    repeats: RepeatsOutput
    """How many failures were known before this run."""
    ambiguous_names: tuple[AmbiguousNameOutput, ...]
    """Names in earlier reports that fit several cases, so they are not counted."""
    actions: tuple[EffectOutput, ...]
    """Actions recorded before this run, and what it shows of each."""
    scores: dict[str, ScoreOutput]
    """Policy → score."""
    report: str | None
    """The report that was written."""
    unread: tuple[UnreadFiles, ...]
    """Files below the imported folders that no source read: all of them, with the first run that is printed."""
    project: ProjectOutput | UnsetType = UNSET
    """Absent unless a project's file decides about these results."""


SHAPES: dict[str, type] = {"analyze": AnalysisOutput, "demo": AnalysisOutput}
