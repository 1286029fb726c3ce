"""What `gate` and `watch` print with `--json`."""

from typing import Literal

from errata.model.gate import GateVerdict
from errata.model.output.runs import NamedRun
from errata.model.output.score import Interval, ScoreOutput
from errata.model.record import Struct


class CaseChangeOutput(Struct):
    """A case whose result differs from the baseline, or can't be compared with it."""

    case: str
    case_key: str
    fails: bool
    """Whether it fails in the run, in some of its attempts at least."""
    owner: str | None
    """Who has to act; null where the case does not fail, or where its rows disagree."""
    presumed: bool
    """Only presumed to be the model's."""
    reason: str | None
    attempt_id: str | None
    passed_before: tuple[int, int] | None
    """Attempts that passed in the baseline, and how many there were; null where it lacks the case."""
    passed_now: tuple[int, int] | None
    values: tuple[float, float] | None
    """In the baseline and now, where the results are numbers."""


class DropOutput(Struct):
    """By how much the score is worse than that of the baseline."""

    value: float
    interval: Interval | None
    """95 %."""
    cases: int
    """That both have a result of, without infrastructure failures and edited tasks."""
    p: float
    """Student's paired t-test over cases where some have several results or a number, else exact McNemar."""
    of_numbers: bool = False
    by_attempts: bool = False
    """Whether cases have several results or a number: then a score drops without new failures."""


class GateChangesOutput(Struct):
    new: tuple[CaseChangeOutput, ...]
    """Passed in the baseline, fail now, and belong to a chosen owner: these fail the gate."""
    allowed: tuple[CaseChangeOutput, ...]
    """The same, but on the allow-list."""
    others: tuple[CaseChangeOutput, ...]
    """The same, of other owners."""
    infrastructure: tuple[CaseChangeOutput, ...]
    """Passed in the baseline, and infrastructure failed now."""
    flaky: tuple[CaseChangeOutput, ...]
    """Mixed outcomes over equivalent attempts."""
    fixed: tuple[CaseChangeOutput, ...]
    missing: tuple[CaseChangeOutput, ...]
    added: tuple[CaseChangeOutput, ...]
    edited: tuple[CaseChangeOutput, ...]
    """The task differs between the runs."""
    not_measured: tuple[CaseChangeOutput, ...]
    no_baseline_result: tuple[CaseChangeOutput, ...]
    """Fail now, and were not measured in the baseline."""
    still_failing: int
    still_passing: int
    shared: int
    """Cases that pass or fail in both runs, without infrastructure failures and edited tasks."""
    p: float
    """Exact McNemar over these, two-sided."""
    significant: bool
    lower: tuple[CaseChangeOutput, ...]
    """With a smaller number than in the baseline, the largest difference first."""
    higher: tuple[CaseChangeOutput, ...]
    drop: DropOutput | None
    """Null where they share no case."""


class StaleEntryOutput(Struct):
    case: str
    line: int
    reason: str | None


class GateOutput(NamedRun):
    """Whether a run may replace its baseline."""

    verdict: GateVerdict
    codes: tuple[str, ...]
    """Why it did not pass: `new_failures`, `missing_cases`, `score_below`, `score_dropped`, `not_fit`,
    `stale_allowances`, `not_comparable`, `nothing_shared`, `no_score`, `no_baseline`."""
    notes: tuple[str, ...]
    """What has to be known beside it: `too_few_cases`, `drop_in_doubt`, `baseline_not_fit`, `no_baseline`."""
    baseline: str | None
    """The harness's own id of the baseline; null where there is none."""
    baseline_id: str | None
    owners: tuple[str, ...]
    """Whose new failures count."""
    policy: str
    min_score: float | None
    max_drop: float | None
    fit: bool
    problems: tuple[str, ...]
    """Why the run is not fit."""
    doubted: tuple[str, ...]
    """Findings that doubt results which count, of the run or of its baseline; none of them fails a gate."""
    refusal: str | None
    """Why the two can't be compared."""
    differences: tuple[str, ...]
    scores: dict[str, ScoreOutput]
    baseline_scores: dict[str, ScoreOutput]
    changes: GateChangesOutput | None
    stale_allowances: tuple[StaleEntryOutput, ...]
    recorded: bool
    """Whether `latest-green` can find this result."""


class WatchOutput(NamedRun):
    """A finished run that `watch` has imported."""

    change: Literal["new", "grown"]
    source: str
    path: str
    model: str
    suite: str
    attempts: int
    failures: int
    fit: bool
    owners: dict[str, int]
    """Owner → failures."""
    scores: dict[str, ScoreOutput]


SHAPES: dict[str, type] = {"gate": GateOutput, "watch": WatchOutput}
