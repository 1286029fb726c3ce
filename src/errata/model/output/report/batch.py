"""The facts of a report about one batch: its tests, sessions, costs, failures and categories of failures."""

from typing import Literal

from errata.model.counts import NoEstimate
from errata.model.output.compare import SessionOutput
from errata.model.output.report.shared import FindingFact, QuotedEvidence, ReviewCoverage, ScoreLine, SuspiciousPasses
from errata.model.record import Struct
from errata.model.words import Proof, ProofReason

SpreadGroup = Literal["passed", "failed_model", "failed_framework", "failed_other", "all"]


class Share(Struct):
    """A count and its total."""

    count: int
    of: int


class EarlierResult(Struct):
    """What an earlier session had found of a test, where the latest one hides it."""

    was: Literal["pass", "fail", "not_measured"]
    """`not_measured`: no session has measured it."""
    session: int | None = None
    score: float | None = None
    cost: float | None = None


class BatchTest(Struct):
    """One test as it is counted now."""

    __test__ = False  # not a test of ours

    key: str
    """What its files are called; its id, where that can be a file name."""
    id: str
    name: str
    status: str
    """In capitals, in the harness's own word."""
    passed: bool
    part: Share | None = None
    """Of its subtests, where it passed with less than the whole score."""
    tier: str = ""
    score: float | None = None
    cost_of_pass: float | None = None
    nothing_passed: bool = False
    """Its cost of pass is infinite: money was spent, and no run of it passed."""
    cost: float | None = None
    seconds: float | None = None
    exit_code: int | None = None
    owner: str = ""
    """Of its failure; empty where it passed."""
    earlier: EarlierResult | None = None


class Moment(Struct):
    """What happened to a test in one session."""

    session: int
    started_at: str | None
    finished_at: str | None
    outcome: str
    execution: str
    score: float | None
    cost: float | None
    exit_code: int | None
    error: str
    place: str


class BatchFix(Struct):
    cause: str
    """How the failure comes about."""
    action: str = ""
    """What to do where no change of code is known."""
    before: str = ""
    after: str = ""
    path: str = ""
    rule: str = ""
    """The rule that gives the fix; else `reviewer` does."""
    reviewer: str = ""


class JudgeWords(Struct):
    """What judges say most often about the runs that failed."""

    text: str
    runs: Share


class StoredRuns(Struct):
    """The runs of a test that lie on disk."""

    passed: int
    of: int
    cost: float | None


class Criterion(Struct):
    """What the rubric asked for, and in how many of the stored runs it was met."""

    name: str
    met: Share


class BatchFailure(Struct):
    test: BatchTest
    category: str
    """The letter of its category."""
    owner: str
    confidence: str
    proof: Proof = ""
    """Of the owner `model`, where no reviewer has read it: `shown` where evidence supports it, or `presumed`."""
    proof_reason: ProofReason = ""
    reviewed: bool = False
    reviewer: str = ""
    """Of the verdict, even of an inherited one."""
    final: bool = False
    """Its verdict needs no second reviewer, or has one; or it is inherited."""
    inherited_from: str = ""
    """The test whose review goes for this one, too: it failed in the same crash."""
    cause: str = ""
    """Of the verdict."""
    mechanism: str = ""
    """How it came about, by the verdict or by the rule; empty where that is unknown."""
    decided_by: str = ""
    """The rule that decided; empty where it was not triaged."""
    rule_means: str = ""
    """The meaning of that rule; empty for a rule that decides by default."""
    reason: str = ""
    """The reason in the log, where no rule names a cause."""
    judge: JudgeWords | None = None
    error: str = ""
    """Exactly as the log has it, with its traceback."""
    place: str = ""
    hits: Share | None = None
    """Subtests that the error struck, where it struck parts of the test."""
    fix: BatchFix | None = None
    doubts: tuple[str, ...] = ()
    """Of the reviewer."""
    evidence: tuple[QuotedEvidence, ...] = ()
    timeline: tuple[Moment, ...] = ()
    stored: StoredRuns | None = None
    task: str = ""
    rubric: str = ""
    """What was required, as the test's own files say it."""
    criteria: tuple[Criterion, ...] = ()
    judges: tuple[str, ...] = ()
    """The reasoning of judges, where they gave any."""
    follows: str = ""


class Seconds(Struct):
    """How many tests took between so and so long."""

    tests: int
    least: float
    most: float


class BatchCategory(Struct):
    """Failures with one owner and one cause that reviewers or a rule name; or that nobody names."""

    letter: str
    owner: str
    bucket: str = ""
    """The name that reviewers gave to the cause."""
    cause: str = ""
    """Of the verdicts, where all have the same."""
    rule: str = ""
    rule_means: str = ""
    fix: BatchFix | None = None
    """Of a verdict, else of the rule."""
    confidence: str
    """The weakest of its failures: of the verdict, else of the rule."""
    weak: int = 0
    """Tests with a weak verdict or rule."""
    tests: tuple[str, ...]
    cost: float | None
    error: str = ""
    """The exact error, where all of them have the same."""
    error_type: str = ""
    hits: Share | None = None
    """Subtests that it struck, where that is the same in each."""
    struck_whole: int | None = None
    """Tests with all subtests failed; none where the subtests of a test are unknown."""
    spent: int = 0
    """Tests that spent money."""
    priced: int = 0
    """Tests with a known cost."""
    tokens: int | None = None
    zero_scores: int = 0
    best_score: float | None = None
    ended_at_once: Seconds | None = None
    ended_later: Seconds | None = None
    """Both only of tests that spent nothing."""
    threshold: float | None = None
    """What a pass needs, where that is the same for all."""
    stored: tuple[str, ...] = ()
    """Tests with stored runs."""
    framework: bool = True
    """Not the model's: infrastructure, a broken grader, or what only follows from another failure."""
    provisional: bool = True


class Spread(Struct):
    """Costs or durations of a group of tests."""

    group: SpreadGroup
    tests: int
    total: float | None = None
    mean: float | None = None
    pass_mean: float | None = None
    pass_median: float | None = None
    """Of the cost of pass."""
    least: float | None = None
    median: float | None = None
    most: float | None = None


class BatchLimits(Struct):
    """What the logs of a batch do not tell."""

    stored_tests: tuple[str, ...] = ()
    """Tests with stored runs."""
    more_tries: int = 0
    """Tries at the same cases that are not shown."""
    unreadable: int = 0
    model_failures: int = 0
    model_failures_without_runs: int = 0


class BatchReport(Struct):
    name: str
    run_id: str
    handle: str
    """By which commands know the run."""
    date: str
    model: str
    made: str
    reading: ReviewCoverage
    scores: tuple[ScoreLine, ...]
    fit: bool = True
    """No finding breaks the batch."""
    no_estimate: NoEstimate | None = None
    """Why no figure is the best estimate of its score; none where one is."""
    config: tuple[tuple[str, str], ...]
    tests: tuple[BatchTest, ...]
    """Sorted by id."""
    cost: float | None
    cost_of_passes: float | None
    cost_of_failures: float | None
    unknown_costs: int
    mean_cost_of_pass: float | None
    median_cost_of_pass: float | None
    priced_passes: int
    sessions: tuple[SessionOutput, ...]
    resumed: bool = False
    """Whether it was resumed: several sessions lie in the run."""
    hidden_passes: tuple[str, ...] = ()
    hidden_passes_cost: float | None = None
    hidden_fails: tuple[str, ...] = ()
    never_measured: tuple[str, ...] = ()
    costs: tuple[Spread, ...] = ()
    durations: tuple[Spread, ...] = ()
    categories: tuple[BatchCategory, ...] = ()
    failures: tuple[BatchFailure, ...] = ()
    limits: BatchLimits = BatchLimits()
    findings: tuple[FindingFact, ...] = ()
    """Errors of the checkup: why it is not fit for comparison."""
    suspicious: tuple[SuspiciousPasses, ...] = ()
    suspicious_passes: int = 0
    """Passes that are suspicious; one may be so in several ways."""

    def category_of(self, failure: BatchFailure) -> BatchCategory | None:
        return next((one for one in self.categories if one.letter == failure.category), None)

    def same_as(self, failure: BatchFailure, most: int) -> tuple[int, list[str]]:
        """How many other tests of the framework's category it is in there are, and the first of them."""
        category = self.category_of(failure)
        tests = category.tests if category is not None and category.framework else ()
        return max(0, len(tests) - 1), [one for one in tests[: most + 1] if one != failure.test.id][:most]

    @property
    def passed(self) -> int:
        return sum(one.passed for one in self.tests)

    @property
    def failed(self) -> int:
        return len(self.failures)

    @property
    def without_result(self) -> int:
        """Tests that neither passed nor failed: unfinished or missing."""
        return len(self.tests) - self.passed - self.failed
