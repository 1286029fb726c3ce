"""The facts of a report about several judged runs: counts, causes with datapoints, what is shared and what is not."""

from typing import Literal

from errata.model.counts import CategoryOverlap, Doubt, NoEstimate
from errata.model.output.act import WhyNoCommand
from errata.model.output.report.shared import FindingFact, ReviewCoverage, ScoreLine, SuspiciousPasses
from errata.model.record import Struct
from errata.model.suspects import SuspectTasks
from errata.model.words import LeftOutCode, ProofReason, RecommendationGroup

UnmeasuredWhy = Literal["missing", "not_judged", "no_answer"]
Repetition = Literal["judge", "run", "by_hand"]


class QuotedLine(Struct):
    where: str
    """File and line."""
    text: str
    """Empty where the row of the attempt has the words."""


class UnmeasuredCase(Struct):
    """A case without a verdict on an answer, and what the log has about it."""

    case: str
    why: UnmeasuredWhy
    log: tuple[QuotedLine, ...] = ()


class RepeatedCases(Struct):
    """How to make up for cases that were not measured. Nothing is run."""

    how: Repetition
    cases: tuple[str, ...]
    command: str = ""
    why_not: WhyNoCommand | None = None
    """Why no command repeats them."""
    about: str = ""


class ReportedRun(Struct):
    label: str
    """`voice-alpha run 1`: its column in every table."""
    handle: str
    native_id: str
    model: str
    rows: int
    judged: int
    """Rows with a verdict."""
    passed: int
    failed: int
    no_verdict: tuple[str, ...]
    """Cases that were not judged."""
    missing: tuple[str, ...]
    patterns: dict[str, int]
    """Marker in place of an answer → how often."""
    dimensions: dict[str, int]
    """Failed dimension → failed rows, the most frequent first."""
    scores: tuple[ScoreLine, ...]
    fit: bool = True
    """No finding breaks the run."""
    doubts: tuple[Doubt, ...] = ()
    """Why it is comparable with care only, or not at all; empty where nothing is on record."""
    no_estimate: NoEstimate | None = None
    """Why no figure is the best estimate of its score; none where one is."""
    unmeasured: tuple[UnmeasuredCase, ...] = ()
    repeat: tuple[RepeatedCases, ...] = ()
    owners: dict[str, int] = {}
    """Who has to act → failed rows, the most frequent first."""
    how_sure: dict[str, dict[str, int]] = {}
    """Who has to act → `reviewed`, or the confidence of the rule that decided → failed rows."""
    supported: int = 0
    """Rows of the model that evidence supports, of those that nobody has reviewed."""
    suspicious: int = 0
    """Passes that are suspicious; one may be so in several ways."""
    presumed: dict[ProofReason, int] = {}
    """Why the model is only presumed to be the owner → rows, of those that nobody has reviewed."""

    @property
    def counted(self) -> int:
        """Rows that passed or failed, among them failures that no judge has seen: what `failed` is a part of."""
        return self.rows - len(self.no_verdict)


class Dimension(Struct):
    name: str
    failed: tuple[int, ...]
    """A number for each run."""
    applicable: tuple[int, ...]


class CallText(Struct):
    """A tool call as it was made, and what came back."""

    call: str
    result: str = ""


class Datapoint(Struct):
    """One failed row, as in the log."""

    run: str
    case: str
    input: str
    output: str
    calls: tuple[CallText, ...] = ()
    judge: str = ""
    failed: tuple[str, ...] = ()
    read: bool = False
    cause: str = ""
    consequences: tuple[str, ...] = ()


class Trigger(Struct):
    """A case that shows a mode, and its input."""

    case: str
    asks: str = ""


class Mistake(Struct):
    """What is done wrong."""

    verdicts: tuple[str, ...] = ()
    """In the words of reviewers, the most frequent first."""
    label_means: str = ""
    """What the label means, where nobody has reviewed it."""


class Mode(Struct):
    """A bucket: one cause, and the rows it explains."""

    title: str
    """Empty for the rows that are in no bucket."""
    label: str
    owners: tuple[str, ...]
    """The most frequent first."""
    status: str
    """`assigned`: rows that rules put into a bucket with reviewed rows, and that nobody has reviewed."""
    rows: int
    """Without those that only follow."""
    followers: int
    cases: tuple[tuple[str, ...], ...]
    """For each run the cases of its rows."""
    following: tuple[tuple[str, ...], ...]
    dimensions: dict[str, int]
    """Which it causes, and in how many rows."""
    read: int
    """Rows with a verdict of their own; like `needed` without those that only follow."""
    needed: int
    """Reviews needed before it is final."""
    mistake: Mistake
    triggers: tuple[Trigger, ...]
    more_triggers: int
    """Cases that are not listed among them."""
    datapoints: tuple[Datapoint, ...]
    parameters: dict[str, str] = {}
    """What its members have in common besides the cause."""
    rebucketed: int = 0
    """Rows that a reviewer put here from another bucket."""


class ModelMode(Struct):
    """One mode as a model shows it."""

    title: str
    label: str
    mistake: Mistake
    """What this model does wrong."""
    cases: tuple[str, ...]
    following: tuple[str, ...]
    dimensions: dict[str, int]


class ReportedModel(Struct):
    name: str
    runs: tuple[str, ...]
    failed: int
    followers: int
    modes: tuple[ModelMode, ...]
    """The most frequent first."""
    dimensions: dict[str, int]
    patterns: dict[str, int]
    unstable: tuple[str, ...] = ()
    failed_in_every_run: tuple[str, ...] = ()


class Unique(Struct):
    """What only one run or model does."""

    name: str
    whole_model: bool
    """Over all runs of a model; else of one run."""
    fails: tuple[str, ...]
    following: tuple[str, ...]
    """Those of its fails that only follow from another."""
    passes: tuple[str, ...]


class PairTest(Struct):
    """Whether two runs differ beyond chance: exact McNemar over the cases that both have decided."""

    first: str
    second: str
    shared: int
    only_first_fails: int
    only_second_fails: int
    p: float
    adjusted: float
    """Holm-adjusted for the number of pairs."""
    differs: bool
    clean_only_first_fails: int
    """This and the next six are without knock-on and infrastructure failures of either run."""
    clean_only_second_fails: int
    clean_difference: float | None
    """By how much the first passes more often; null where they share no case."""
    clean_interval: tuple[float, float] | None
    """95 %, for this pair alone."""
    clean_p: float
    clean_adjusted: float
    clean_differs: bool


class ModelPair(Struct):
    """Two models on the same cases, without infrastructure failures."""

    first: str
    second: str
    cases: int
    difference: float
    """By how much the first passes more often."""
    interval: tuple[float, float] | None
    p: float
    adjusted: float
    """Holm-adjusted for the number of pairs."""
    by_attempts: bool
    """By the share of attempts that passed (paired t-test and its interval), where some cases pass in some of them;
    else by cases (exact McNemar, Newcombe's interval)."""
    better: int = 0
    """1 where the first is better, -1 where the second is, 0 where the data can't tell."""
    of_numbers: bool = False
    """The difference is one of means, not of rates."""


class RankedModel(Struct):
    name: str
    best: int
    """The ranks that the data leave open."""
    worst: int
    score: ScoreLine
    """Without infrastructure failures."""


class CategoryDeviation(Struct):
    """A model that does better or worse in a category than its other categories and the other models lead to expect."""

    name: str
    category: str
    cases: int
    rate: float
    expected: float
    deviation: float
    interval: tuple[float, float]
    p: float
    adjusted: float
    """Benjamini-Hochberg."""


class ModelComparison(Struct):
    """Where models differ, each with all its runs; runs, where all are of one model."""

    ranking: tuple[RankedModel, ...] = ()
    pairs: tuple[ModelPair, ...] = ()
    """The smallest p first."""
    deviations: tuple[CategoryDeviation, ...] = ()
    """The significant ones; the closest where there is none."""
    significant: int = 0
    tested: int = 0
    """Models × categories."""


class RunChanges(Struct):
    """From the first of two runs to the second."""

    first: str
    second: str
    regressed: tuple[str, ...]
    fixed: tuple[str, ...]
    still_failing: tuple[str, ...]
    infrastructure: tuple[str, ...]
    """Infrastructure failures in one of the two or both: neither regressed nor fixed."""
    edited: tuple[str, ...] = ()
    """The task was edited between the runs: not comparable."""


class CategoryRows(Struct):
    name: str
    cases: int
    failed_rows: int
    adjusted: float | None
    """That it is harder by chance; none where there is nothing to compare it with."""
    harder: bool
    means: dict[str, float | None] = {}
    """Run → mean, where results are numbers."""


class CaseApart(Struct):
    """A case whose results are numbers."""

    case: str
    values: tuple[float | None, ...]
    """Of each run."""


class CaseGrid(Struct):
    """How each case that fails somewhere went in each run."""

    cases: tuple[str, ...]
    cells: tuple[tuple[str, ...], ...]
    """For each run the state of each case; empty where the run does not know it."""
    states: tuple[str, ...]
    """Those that stand anywhere in the comparison."""
    owners: tuple[tuple[str, ...], ...] = ()
    """For each run who has to act in each case; empty where the row did not fail."""


class ReviewerAdvice(Struct):
    """What reviewers recommend about a model's failures of one cause."""

    model: str
    cause: str
    """The title of the cause; empty for rows without one."""
    group: RecommendationGroup
    text: str
    path: str = ""
    """The file to change."""
    cases: tuple[str, ...]
    reviewers: tuple[str, ...]


class RowDoubt(Struct):
    """What a reviewer doubts about a row."""

    run: str
    case: str
    text: str


class LeftOutRun(Struct):
    run: str
    why: LeftOutCode
    excluded: str = ""
    """The reason that was given for the exclusion."""
    repeat: tuple[RepeatedCases, ...] = ()


class SuiteDifference(Struct):
    what: str
    values: dict[str, tuple[str, ...]]
    """Value → the labels of the runs that have it."""
    cases: tuple[str, ...]


class ComparisonReport(Struct):
    suite: str
    cases: int
    case_word: str
    """`turn` where all of them are turns."""
    conversations: bool
    """Whether the cases of a run are turns of one conversation, and so not independent."""
    made: str
    reading: ReviewCoverage
    runs: tuple[ReportedRun, ...]
    models: tuple[ReportedModel, ...]
    dimensions: tuple[Dimension, ...]
    modes: tuple[Mode, ...]
    failed_by_all_runs: tuple[str, ...]
    failed_by_all_models: tuple[str, ...]
    knock_on_in: dict[str, tuple[str, ...]]
    """Case that all fail → the runs where it only follows from another failure."""
    uniques: tuple[Unique, ...]
    asks: dict[str, str]
    """What is asked in the cases that all fail."""
    pairs: tuple[PairTest, ...]
    differences_by_model: ModelComparison = ModelComparison()
    changes: RunChanges | None = None
    """Between two runs; none where there are more."""
    categories: tuple[CategoryRows, ...] = ()
    overlap: CategoryOverlap = CategoryOverlap()
    """Failures that count in several categories or in none."""
    grid: CaseGrid | None = None
    """None where nothing fails, or too many cases do."""
    advice: tuple[ReviewerAdvice, ...] = ()
    """By model, then by cause."""
    doubts: tuple[RowDoubt, ...] = ()
    suspicious: tuple[SuspiciousPasses, ...] = ()
    suspects: SuspectTasks = SuspectTasks()
    findings: tuple[FindingFact, ...] = ()
    not_included: tuple[LeftOutRun, ...] = ()
    differences: tuple[SuiteDifference, ...] = ()
    apart: tuple[CaseApart, ...] = ()
    """Where runs of numbers differ most."""

    @property
    def of_numbers(self) -> bool:
        return any(score.mean is not None for run in self.runs for score in run.scores)

    @property
    def failed_rows(self) -> int:
        return sum(one.failed for one in self.runs)
