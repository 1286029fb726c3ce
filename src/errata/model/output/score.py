"""`errata score --json`: a run, or with `--pooled` the runs of one subject, under each policy."""

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from errata.model.output.runs import ProjectOutput
from errata.model.record import Struct
from errata.model.run import Exclusion
from errata.model.words import CostNote, LeftOutCode

Interval = tuple[float, float]
NoteCode = Literal[
    "counted_as_failed",
    "empty_counts_zero",
    "headline_rule",
    "headline_rules",
    "no_attempts",
    "no_headline",
    "no_rows",
    "no_run_left",
    "nothing_failed",
    "nothing_scored",
    "passes_elsewhere",
    "passes_unassigned",
    "passes_without_rows",
    "reviewed",
    "rows_not_in_log",
    "rule_unknown",
    "runs_counted",
    "runs_reviewed",
    "unavailable",
    "without_number",
    "labels",
]


class NoteOutput(Struct):
    """What has to be known beside a score, or why there is none."""

    code: NoteCode
    count: int | None = None
    of: int | None = None
    between: Interval | None = None
    """The rate if all rows that are not in the log had failed, and if they had passed."""
    stated: float | None = None
    """The harness's own number, where it can't be recomputed."""
    words: tuple[str, ...] = ()
    """`counted_as_failed`: which kinds; `rule_unknown`: the harness's rule."""


class SpreadOutput(Struct):
    """Of results that are numbers."""

    low: float
    quarter: float
    median: float
    three_quarters: float
    high: float
    bins: tuple[int, ...]
    """How many lie in each tenth of the way from the lowest to the highest."""


class ScoreOutput(Struct):
    passed: int
    """Where results are numbers, the score is `mean`."""
    total: int
    """Cases, or attempts where a case was tried several times: see `unit`."""
    rate: float | None
    mean: float | None
    """Of graded values; then it is the rate, too."""
    interval: Interval | None
    """95 %."""
    effective: float | None
    """The effective sample size, where the same cases come several times."""
    bounds: Interval | None
    """The rate if everything left out had failed, and if it had passed."""
    presumed: int
    """Of what counts as failed: how many are only presumed to be the model's."""
    rate_without_presumed: float | None
    """The rate if none of these were the model's."""
    stated: float | None
    """The harness's own number."""
    reproduced: bool | None
    """Whether its number follows from the rows."""
    spread: SpreadOutput | None
    left_out: dict[str, int]
    """Why → how many."""
    recovered: tuple[str, ...]
    """Cases whose result comes from an earlier session."""
    note: NoteOutput | None


class LeftOutAttemptOutput(Struct):
    case: str
    attempt_id: str
    execution: str
    measurement: str
    timed_out: bool


class EvidenceOutput(Struct):
    """A line of the log as an example for the group."""

    where: str
    quote: str
    stated: str
    """What errata states from facts of the log."""
    case: str


class GroupOutput(Struct):
    """Attempts that share a reason."""

    why: str
    """An owner; `missing`, `not measured` and the like; or the harness's own word."""
    signal: str | None
    count: int
    unnamed: int
    """Cases that were planned and have no name in the log."""
    attempts: tuple[LeftOutAttemptOutput, ...]
    evidence: EvidenceOutput | None


class PassedOutput(Struct):
    passed: int
    total: int


class GroupedScoreOutput(ScoreOutput):
    left_out_groups: tuple[GroupOutput, ...]
    not_the_model_alone: tuple[GroupOutput, ...]
    """Counted as failed, although the subject is not alone to blame."""
    without_these: PassedOutput | None


class PriceOutput(Struct):
    """The cost of a pass in one category, case, tier or subtest."""

    category: str
    case: str
    path: str
    """`T0` for a tier of the case, `T0/00` for a subtest of it."""
    made: int
    passed: int
    cost: float | None
    cost_of_pass: float | None
    note: CostNote | None
    """Why there is no cost of pass."""


class FrontierOutput(Struct):
    category: str
    cost_of_pass: float | None
    stated: float | None
    """As stated by the harness."""


class CostOfPassOutput(Struct):
    """Of the passing cases one by one, as ProjectScylla counts: each at its own frontier."""

    mean: float | None
    median: float | None
    priced: int
    passed: int
    note: CostNote | None
    """Why there is none."""


class CostOutput(Struct):
    """In dollars; null is unknown, not zero."""

    total: float | None
    of_passes: float | None
    of_failures: float | None
    of_unscored: float | None
    """Attempts without a score, which are neither passes nor failures."""
    of_subject: float | None
    """The subject's part of the total, as are the next two of judges and of a simulated user."""
    of_judge: float | None
    of_simulator: float | None
    is_simulator_only: bool
    """The log states what the simulated user cost, and not what the subject cost."""
    per_pass: float | None
    """Everything that was spent, over the passes it bought."""
    unknown: int
    """Attempts whose cost is not known."""
    note: CostNote | None
    """Why there is no cost per pass."""
    cost_of_pass: CostOfPassOutput | None
    """Where cases have tiers."""
    frontier: FrontierOutput | None
    """Of the whole run, where the harness gives one."""
    prices: tuple[PriceOutput, ...]


class FixedScoreOutput(msgspec.Struct, frozen=True):
    passed: int
    total: int
    rate: float


class AfterFixesOutput(Struct):
    """The score if failures of the grader or the task with an accepted fix passed."""

    cases: tuple[str, ...]
    """Those that a reviewer proposes a fix for, by a verdict that counts."""
    scores: dict[str, FixedScoreOutput]
    """By policy."""


class RunScoresOutput(Struct):
    run: str
    run_id: str
    model: str
    agent: str | None
    suite: str
    unit: Literal["cases", "attempts"]
    unavailable: bool
    excluded: Exclusion | None
    timeouts: Literal["count", "drop"]
    scores: dict[str, GroupedScoreOutput]
    """By policy."""
    categories: dict[str, dict[str, ScoreOutput]]
    cost: CostOutput
    after_fixes: AfterFixesOutput | None
    """Null where no failure has an accepted fix."""
    project: ProjectOutput | UnsetType = UNSET
    """Absent unless a project's file decides about these results."""


class PooledRunOutput(Struct):
    """A run that is in no pooled score."""

    run: str
    run_id: str
    why: LeftOutCode
    excluded: str | None
    """The reason that was given for the exclusion."""


class PooledScoresOutput(Struct):
    pooled: tuple[str, ...]
    run_ids: tuple[str, ...]
    left_out_runs: tuple[PooledRunOutput, ...]
    model: str
    agent: str | None
    suite: str
    unit: Literal["cases", "attempts"]
    scores: dict[str, ScoreOutput]
    categories: dict[str, dict[str, ScoreOutput]]
    project: ProjectOutput | UnsetType = UNSET
    """Absent unless a project's file decides about these results."""


SHAPES: dict[str, type] = {"score": RunScoresOutput, "score --pooled": PooledScoresOutput}
