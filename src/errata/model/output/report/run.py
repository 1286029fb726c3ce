"""The facts of a report about one run."""

from typing import Literal

from errata.model.counts import CategoryOverlap, Doubt, HarnessCount, NoEstimate, WithoutFailures
from errata.model.history import CaseEffect, EffectReason, Worked
from errata.model.output.report.shared import (
    DoneAction,
    FindingFact,
    QuotedEvidence,
    ReviewCoverage,
    ScoreLine,
    Snippets,
    SuspiciousPasses,
)
from errata.model.output.score import AfterFixesOutput, SpreadOutput
from errata.model.record import Struct
from errata.model.suspects import SuspectTasks
from errata.model.words import Confidence, Owner, Proof, ProofReason, RecommendationGroup

VerdictDoubt = Literal["inherited", "needs_second", "disputed"]
StepKind = Literal["check", "verdict", "unchecked"]
AdviceKind = Literal[
    "recommendation", "repeated", "fair", "no_effect", "known_gap", "harness", "infrastructure", "repair", "collateral",
    "grader", "not_graded", "repair_grader", "task", "budget", "unknown", "model", "supported", "missing",
]  # fmt: skip
ImpactKind = Literal["model", "known_gap", "eval", "budget", "infrastructure", "unknown"]


class RunSubject(Struct):
    native_id: str
    run_id: str
    source: str
    model: str
    provider: str = ""
    agent: str = ""
    experiment: str = ""
    variant: tuple[str, ...] = ()
    """What else sets the run apart from others of its model, such as `prompt terse`."""
    suite: str = ""
    date: str = ""
    """Of the run, in UTC."""
    passed: int = 0
    total: int = 0
    unit: Literal["attempts", "cases"] = "cases"
    """What `passed` and `total` count: attempts where a case was tried several times."""
    counted_by: Literal["harness", "strict"] = "strict"
    """Where `passed` and `total` come from: from what the harness states of all that it ran, or from the rows."""
    stated: float | None = None
    """The harness's own number, by whatever rule."""
    judged: bool = True
    """False where answers were given and none was scored: then there is no pass rate."""
    pending: tuple[str, ...] = ()
    """Cases that did not finish."""
    missing: tuple[str, ...] = ()
    """Planned cases without a row in the log."""
    missing_unnamed: int = 0
    not_in_log: int = 0
    """Cases that the harness measured and whose rows are not in the log; `harness` has its own count."""
    harness: HarnessCount | None = None
    unavailable: bool = False
    """Every case ended in the same error: an infrastructure failure of the whole run."""
    passed_by_nobody: tuple[str, ...] = ()
    """Failed cases that no subject in the store has passed, where at least three were measured."""
    excluded: str = ""
    cost: float | None = None
    costed: int = 0
    """Cases that report one."""
    cost_of_failures: float | None = None
    cost_per_pass: float | None = None
    cost_of_subject: float | None = None
    """The subject's part of the cost, as are the next two of judges and of a simulated user."""
    cost_of_judge: float | None = None
    cost_of_simulator: float | None = None
    is_cost_of_simulator: bool = False
    """The log states what the simulated user cost, and not what the subject cost."""


class FailedCheck(Struct):
    name: str
    share: float | None = None
    """How much of it was met, where a share was."""
    has_tests: bool = False
    """Whether that is the share of its tests that passed."""


class StepCount(Struct):
    """The failures whose first failed check this is."""

    step: str
    kind: StepKind = "check"
    """`verdict` where no check failed and there is only the verdict, `unchecked` where nothing was checked at all."""
    count: int
    attempts: tuple[str, ...] = ()
    """Attempt ids of the failures."""


class EarlierFailure(Struct):
    """An earlier report that names the case, or an earlier run where it failed."""

    kind: Literal["report", "run"]
    date: str
    label: str = ""


class Repeat(Struct):
    """What earlier reports and runs say of the same case."""

    reports: int = 0
    runs: int = 0
    earlier: tuple[EarlierFailure, ...] = ()
    """Reports, then the runs that none of these is about; each oldest first."""
    due: DoneAction | None = None
    """What was done about it before this run, and should have resolved it."""
    later: DoneAction | None = None
    """What was done about it on the day of this run or after it."""
    later_reason: EffectReason = "made_after_run"
    """Which of the two."""
    should_be_gone: bool = False
    otherwise: bool = False
    """Each earlier failure was at another check or had another failure key."""
    other_models: tuple[str, ...] = ()
    """Other models that fail the same case."""

    def __bool__(self) -> bool:
        return bool(self.reports or self.runs)

    @property
    def unreported_runs(self) -> int:
        """Earlier runs where it failed, without those that a report names it for."""
        return sum(one.kind == "run" for one in self.earlier)


class ProposedFix(Struct):
    path: str
    before: str
    """The text that it replaces; empty where it only adds."""
    after: str


class RunFailure(Struct):
    case: str
    categories: tuple[str, ...] = ()
    """The main one first."""
    attempt_id: str = ""
    attempt: int = 1
    attempts: int = 1
    """How often the case was tried."""
    is_row: bool = False
    """One of several rows about the same attempt: `attempt` and `attempts` count rows."""
    checks: tuple[FailedCheck, ...] = ()
    """Those that failed, the first one first."""
    error: str = ""
    label: str = ""
    """Empty where no taxonomy has a word for it."""
    owner: Owner
    confidence: Confidence | str
    proof: Proof = ""
    """Of the owner `model`, where no reviewer has read it: `shown` where evidence supports it, or `presumed`."""
    proof_reason: ProofReason = ""
    reviewed: bool = False
    by: str = ""
    doubt: VerdictDoubt | None = None
    """What has to be known of the verdict before one goes by it."""
    measured: bool = True
    machinery: bool = False
    """Owned by provider, environment, harness, simulator, or only following from another failure."""
    cause: str = ""
    """One line of the verdict."""
    reasoning: str = ""
    """Of the verdict."""
    decisive_step: int | None = None
    """Of the verdict, as are the next two."""
    decisive_agent: str = ""
    second_candidate: int | None = None
    decided_by: str = ""
    """The rule that decided; empty where it was not triaged."""
    rule_means: str = ""
    """The meaning of that rule; empty for a rule that decides by default."""
    reason: str = ""
    """The reason in the log."""
    repeat: Repeat = Repeat()
    evidence: tuple[QuotedEvidence, ...] = ()
    snippets: Snippets = Snippets()
    fix: ProposedFix | None = None
    """The change that a reviewer proposes."""
    doubts: tuple[str, ...] = ()
    bucket: str = ""
    """Title of its cause."""
    bucket_slug: str = ""
    """Short name of its cause in `errata buckets`."""
    follows: str = ""


class Pattern(Struct):
    """A bucket of this run with more than one failure."""

    title: str
    cases: tuple[str, ...]
    rows: int
    status: str
    """`assigned`: failures that rules put into a bucket with reviewed ones, and that nobody has reviewed."""
    reviewed: int
    parameters: dict[str, str] = {}
    """What its members have in common besides the cause."""
    documented: dict[str, int] = {}
    """Date of an earlier report → how many of its failures that names."""


class SharedText(Struct):
    """What the logs of several failures say, whatever the cause."""

    text: str
    count: int
    cases: tuple[str, ...]


class CategoryTest(Struct):
    """How many cases of a category failed, and whether it is harder than the rest."""

    name: str
    cases: int
    """All that were planned, with missing ones."""
    failed: int
    """Of these, the ones that failed, whoever is the owner."""
    passed: int
    """Of these, the ones that passed; the rest has no result."""
    tried: int | None
    """Cases that the test counts: without infrastructure failures, missing and contradictory ones; null where the log
    holds only the failures."""
    hard: int
    """Of these, the ones that failed."""
    p: float | None = None
    adjusted: float | None = None
    harder: bool = False


class PreviousRun(Struct):
    """The newest earlier run of the same model or its predecessor, over the cases that both have decided."""

    run: str
    model: str = ""
    """Of the predecessor; empty for the same model."""
    date: str
    failed_in_both: int
    fixed: int
    broke: int
    regressed: tuple[str, ...] = ()
    """The cases that broke."""
    p: float
    differs: bool
    edited: int = 0
    """Cases that are left out since their task was edited in between."""
    infrastructure: int = 0
    """Cases that are left out since they failed in one of the two, and not by the model's fault."""


class EarlierReport(Struct):
    date: str
    path: str
    patterns: tuple[str, ...] = ()
    """The first of those that it names."""


class ActionEffect(Struct):
    """Something done after an earlier report, and what this run shows of it."""

    date: str
    what: str
    path: str
    cases: tuple[str, ...]
    worked: Worked
    why: EffectReason
    case_effects: tuple[CaseEffect, ...] = ()


class Advice(Struct):
    group: RecommendationGroup
    kind: AdviceKind = "recommendation"
    """By whom: a reviewer, a failure that comes again, an action without effect, or the rules for an owner."""
    text: str = ""
    """The recommendation, or what fails again."""
    cases: tuple[str, ...] = ()
    path: str = ""
    reports: int = 0
    """In how many earlier reports the failure was there before."""
    unreported_runs: int = 0
    """In how many earlier runs besides those that these reports are about."""
    action: DoneAction | None = None
    """The action that has no effect."""
    case_effects: tuple[CaseEffect, ...] = ()
    """Of the action that has no effect: what its cases show."""
    done: DoneAction | None = None
    """Where it was done already: then it is not recommended again."""
    tried: DoneAction | None = None
    """The same change was made before this run, and the failure is back."""
    recommended_before: int = 0
    """In how many earlier reports it was recommended; it was not done since."""


class Impact(Struct):
    kind: ImpactKind
    count: int


class Bounds(Struct):
    """The bounds of the best policy, as `errata score` has them; null where it leaves nothing out."""

    policy: str
    low: float
    """The rate if everything left out had failed."""
    high: float
    """The rate if it had passed."""
    left_out: int
    total: int
    """With what was left out."""


class BadResult(Struct):
    case: str
    value: float
    """Of several attempts their mean; the answer is that of the worst."""
    answer: str = ""


class RunValues(Struct):
    """The results of a run where some are numbers that no rule makes a pass or a failure."""

    score: ScoreLine
    """The best policy that was measured."""
    spread: SpreadOutput
    categories: dict[str, ScoreLine] = {}
    lower_is_better: bool = False
    worst: tuple[BadResult, ...] = ()


class RunReport(Struct):
    subject: RunSubject
    made: str
    """The day of the analysis, in UTC."""
    reading: ReviewCoverage
    scores: tuple[ScoreLine, ...]
    steps: tuple[StepCount, ...] = ()
    in_steps: bool = True
    """Whether the checks are the steps of a pipeline."""
    failures: tuple[RunFailure, ...] = ()
    nothing_failed: WithoutFailures | None = None
    values: RunValues | None = None
    patterns: tuple[Pattern, ...] = ()
    shared_texts: tuple[SharedText, ...] = ()
    categories: tuple[CategoryTest, ...] = ()
    overlap: CategoryOverlap = CategoryOverlap()
    """Failures that count in several categories or in none."""
    since: PreviousRun | None = None
    predecessor: PreviousRun | None = None
    """The newest run of the model's predecessor, where the store has one."""
    history: tuple[EarlierReport, ...] = ()
    """Oldest first."""
    actions: tuple[ActionEffect, ...] = ()
    advice: tuple[Advice, ...] = ()
    impact: tuple[Impact, ...] = ()
    bounds: Bounds | None = None
    after_fixes: AfterFixesOutput | None = None
    """The score if failures of the grader or the task with an accepted fix passed."""
    findings: tuple[FindingFact, ...] = ()
    suspicious: tuple[SuspiciousPasses, ...] = ()
    suspicious_passes: int = 0
    """Passes that are suspicious; one may be so in several ways."""
    suspects: SuspectTasks = SuspectTasks()
    """Of the suite; of these, the tasks that this run failed."""
    fit: bool = True
    """No finding breaks the run."""
    doubts: tuple[Doubt, ...] = ()
    """Why the run is comparable with care only, or not at all; empty where nothing is on record."""
    no_estimate: NoEstimate | None = None
    """Why no figure is the best estimate of the score; none where one is."""
    skipped_reports: tuple[str, ...] = ()
    """Earlier reports that could not be read, and why."""
