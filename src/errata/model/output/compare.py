"""`--json` of `compare`, `export` and `sessions`."""

from typing import Literal

from msgspec import UNSET, UnsetType

from errata.model.check import ScorerCount
from errata.model.counts import CategoryOverlap
from errata.model.output.runs import ProjectOutput
from errata.model.output.score import Interval, ScoreOutput
from errata.model.record import Struct
from errata.model.suspects import SuspectTasks
from errata.model.words import LeftOutCode

NotWrittenCode = Literal["commands_unknown", "commands_unknown_file_kept"]
Cases = tuple[str, ...]
"""As their harness names them."""


class LeftOutRunOutput(Struct):
    run: str
    run_id: str
    model: str
    why: LeftOutCode
    excluded: str | None
    """The reason that was given for the exclusion."""


class ComparedRunOutput(Struct):
    label: str
    model: str
    agent: str | None
    variant: dict[str, str]
    subject: str
    run: str
    run_id: str
    started_at: str | None
    passed: int
    """Cases, not attempts."""
    failed: int
    """Cases of this run, whatever their owner."""
    failed_rows: int
    """Failed attempts; of a case with contradictory rows or several attempts, each that failed."""
    neither: int
    fit: bool
    """Whether the checkup finds the run fit for comparison."""
    problems: tuple[str, ...]
    """Why not; empty for a fit run."""
    scores: dict[str, ScoreOutput]


class DifferenceOutput(Struct):
    what: str
    refuses: bool
    values: dict[str, tuple[str, ...]]
    cases: Cases


class ColumnOutput(Struct):
    label: str
    run_ids: tuple[str, ...]
    scores: dict[str, ScoreOutput]


class RowOutput(Struct):
    """States in the order of the columns, null where a run does not have the case."""

    case: str
    case_key: str
    categories: tuple[str, ...]
    edited: bool
    states: tuple[str | None, ...]
    passes: tuple[int | None, ...] | UnsetType = UNSET
    """Only where a case was tried several times."""
    attempts: tuple[int | None, ...] | UnsetType = UNSET
    values: tuple[float | None, ...] | UnsetType = UNSET
    """Only where a result is a number: the mean of a case's attempts."""


class FailedByAllOutput(Struct):
    runs: Cases
    models_in_some_run: Cases
    models_in_every_run: Cases


class UniquesOutput(Struct):
    fails: dict[str, Cases]
    passes: dict[str, Cases]


class UniqueOutput(Struct):
    runs: UniquesOutput
    models: UniquesOutput


class InstabilityOutput(Struct):
    runs: int
    unstable: Cases
    failed_in_every_run: Cases


class FlipsOutput(Struct, rename={"from_": "from"}):
    from_: str
    to: str
    regressed: Cases
    fixed: Cases
    still_failing: Cases
    still_passing: Cases
    new: Cases
    gone: Cases
    undecided: Cases
    infrastructure: Cases
    """Infrastructure failures in one of the two runs or both; no change of the subject."""
    edited: Cases
    """The task was edited between the runs; not comparable."""


class TallyOutput(Struct):
    """Two columns over the cases that both passed or failed."""

    shared: int
    only_first_fails: int
    only_second_fails: int
    p: float
    """Exact McNemar, two-sided."""
    adjusted: float
    """Holm, over all pairs."""
    difference: float | None
    """By how much the first passes more often."""
    interval: Interval | None
    """Newcombe's 95 % interval of a paired difference, for this pair alone: not corrected for the number of pairs."""
    differs: bool


class SharesOutput(Struct):
    """By how much the first column passes more of its attempts, or is higher, without infrastructure failures."""

    mean: float
    """Over cases."""
    interval: Interval | None
    """Of the paired t-test, for this pair alone; null for a single case."""
    cases: int
    p: float
    """Student's paired t-test over cases."""
    adjusted: float
    """Holm, over all pairs."""
    differs: bool
    lower_is_better: bool = False
    """Of results that are numbers."""


class RunPairOutput(Struct):
    first: str
    second: str
    all: TallyOutput
    clean: TallyOutput
    """Without infrastructure failures of either run."""
    shares: SharesOutput | None = None
    """Where some case passes in some attempts only: what McNemar's test can't count."""

    @property
    def difference(self) -> TallyOutput | SharesOutput:
        """What ranks the two, without infrastructure failures: all attempts, where some cases pass in some of them."""
        return self.shares or self.clean

    @property
    def better(self) -> int:
        """1 where the first is better, -1 where the second is, 0 where the data can't tell."""
        ahead = self.shares.mean if self.shares is not None else self.clean.difference
        if not self.difference.differs or not ahead:
            return 0
        return 1 if (ahead > 0) != (self.shares is not None and self.shares.lower_is_better) else -1


class RankedOutput(Struct):
    label: str
    best: int
    """One more than the number of models that are significantly better."""
    worst: int
    better_than: tuple[str, ...]
    worse_than: tuple[str, ...]
    passed: int
    """Of the clean score, like the next three."""
    total: int
    rate: float | None
    interval: Interval | None


class DeviationOutput(Struct):
    """A model in a category."""

    label: str
    category: str
    cases: int
    rate: float
    expected: float
    """From the model's other categories and the other models."""
    deviation: float
    interval: Interval
    p: float
    adjusted: float
    """Benjamini-Hochberg, over all models and categories."""
    deviates: bool


class ModelDifferencesOutput(Struct):
    """The models, each with all its runs; the runs, where all are of one model."""

    ranking: tuple[RankedOutput, ...]
    pairs: tuple[RunPairOutput, ...]
    deviations: tuple[DeviationOutput, ...]
    """The most certain first."""


class CountsOutput(Struct):
    name: str
    runs: dict[str, int]
    """Label of a run → in how many attempts."""
    all: int


class ScorerRunsOutput(Struct):
    name: str
    runs: dict[str, ScorerCount | None]
    """Label of a run → how it came out; null for a run without it."""
    all: ScorerCount


class CategoryOutput(Struct):
    name: str
    cases: int
    failed_rows: int
    runs: dict[str, int]
    tried: int
    hard: int
    p: float | None
    adjusted: float | None
    harder: bool
    means: dict[str, float | None] | UnsetType = UNSET
    """Only where results are numbers."""


class ComparisonOutput(Struct):
    suites: tuple[str, ...]
    cases: int
    common: bool
    by_model: bool
    category: str | None
    runs: tuple[ComparedRunOutput, ...]
    left_out_runs: tuple[LeftOutRunOutput, ...]
    differences: tuple[DifferenceOutput, ...]
    columns: tuple[ColumnOutput, ...]
    matrix: tuple[RowOutput, ...]
    suspects: SuspectTasks
    """Tasks that hardly any of these subjects passes, with what speaks against each."""
    failed_by_all: FailedByAllOutput
    unique: UniqueOutput
    instability: dict[str, InstabilityOutput]
    flips: FlipsOutput | None
    pairs: tuple[RunPairOutput, ...]
    models: ModelDifferencesOutput
    failed_checks: tuple[CountsOutput, ...]
    other_checks: tuple[ScorerRunsOutput, ...]
    """Scorers that do not decide the outcome, where at least two runs have them."""
    patterns: tuple[CountsOutput, ...]
    categories: tuple[CategoryOutput, ...]
    overlap: CategoryOverlap
    """Failures that count in several categories or in none."""
    project: ProjectOutput | UnsetType = UNSET
    """Absent unless a project's file decides about these results."""


class NamedRunOutput(Struct):
    run: str
    run_id: str


class WrittenFileOutput(Struct):
    file: str
    rows: int | None
    change: str


class NotWrittenOutput(Struct):
    file: str
    why: NotWrittenCode


class ComparisonFolderOutput(Struct):
    folder: str
    runs: tuple[NamedRunOutput, ...]
    written: tuple[WrittenFileOutput, ...]
    not_written: tuple[NotWrittenOutput, ...]
    left_out_runs: tuple[LeftOutRunOutput, ...]
    without_commands: tuple[str, ...]
    not_found: tuple[str, ...]
    without_column: tuple[str, ...]


class TableFileOutput(Struct):
    """A table of all runs."""

    format: Literal["csv", "parquet"]
    file: str
    rows: int


class DatasetFileOutput(Struct):
    """A draft of regression cases."""

    format: str
    file: str
    cases: int
    """How many were written; each is marked as a draft."""
    with_expected: int
    """Cases whose expected answer is in the log."""
    infrastructure: int
    """Failures that were skipped because infrastructure failed."""
    without_input: int
    """Failures that were skipped because the log has no input of the case."""
    unsafe: int
    """Failures that were skipped because the harness would load a file or run code from the text of the log."""
    changed: int
    """Cases whose text was changed because it held a secret or a control character."""


class SessionOutput(Struct):
    """One execution whose traces lie in the run."""

    number: int
    started_at: str | None
    finished_at: str | None
    pattern: str
    """In words: what happened in it as a whole."""
    tried: int
    passed: int
    failed: int
    not_measured: int
    cost: float | None
    """Null where no attempt reports one."""
    exit_codes: dict[str, int]
    """`none` where the log states none."""


class HiddenResultOutput(Struct):
    """A case whose counted attempt hides what an earlier session had found."""

    case: str
    session: int
    """The latest session that measured the case."""
    was: Literal["pass", "fail"]
    now: Literal["fail", "not measured"]
    cost: float | None


class CascadeOutput(Struct):
    """A failure, and those that only follow from it."""

    root: str
    """An attempt id."""
    case: str
    error: str
    followers: Cases


class SessionsOutput(Struct):
    run: str
    run_id: str
    sessions: tuple[SessionOutput, ...]
    changes: tuple[HiddenResultOutput, ...]
    never_measured: Cases
    cascades: tuple[CascadeOutput, ...]


SHAPES: dict[str, type] = {
    "compare": ComparisonOutput,
    "compare --write": ComparisonFolderOutput,
    "export": TableFileOutput,
    "export --to inspect": DatasetFileOutput,
    "sessions": SessionsOutput,
}
