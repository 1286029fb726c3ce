"""All that a report about one run says."""

import msgspec

from errata.model.output.report.shared import Piece, Reading, ScoreLine, Snippets
from errata.model.words import Confidence, Owner, RecommendationGroup

GROUPS: dict[RecommendationGroup, str] = {
    "eval": "Eval improvements",
    "config": "Lint/config changes",
    "model": "Model-specific notes",
    "none": "No action needed",
}


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    native_id: str
    run_id: str
    source: str
    model: str
    provider: str = ""
    agent: str = ""
    experiment: str = ""
    suite: str = ""
    date: str = ""
    """Of the run, in UTC."""
    passed: int = 0
    total: int = 0
    judged: bool = True
    """False where answers were given and none was scored: then there is no pass rate."""
    pending: tuple[str, ...] = ()
    """Cases that did not finish."""
    missing: tuple[str, ...] = ()
    """Cases that were planned and of which the log holds nothing."""
    missing_unnamed: int = 0
    untold: str = ""
    """What the harness says itself, where it measured more than the log holds."""
    unavailable: str = ""
    """The one error that every case ended in, where the run says nothing about its subject."""
    excluded: str = ""
    cost: float | None = None
    costed: int = 0
    """Cases that report one."""
    cost_of_failures: float | None = None
    cost_per_pass: float | None = None


class StepCount(msgspec.Struct, frozen=True, kw_only=True):
    step: str
    """`none` where no check failed: nothing was checked at all, or there is only the verdict."""
    count: int
    cases: tuple[str, ...] = ()
    """Each with what else failed in it, where something did."""


class Repeat(msgspec.Struct, frozen=True, kw_only=True):
    """What earlier reports and runs say of the same case."""

    reports: int = 0
    runs: int = 0
    said: tuple[str, ...] = ()
    """`OVERLY_STRICT on 2026-02-20`, oldest first."""
    action: str = ""
    """What was done about it, and whether that should have resolved it."""
    should_be_gone: bool = False
    others: str = ""
    """The same elsewhere: other models."""

    def __bool__(self) -> bool:
        return bool(self.reports or self.runs)


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    category: str = ""
    attempt: str = ""
    """`2 of 3`, where a case was tried several times."""
    step: str = ""
    """The first failed check, with its value: `tests (67 %)`."""
    also_failed: tuple[str, ...] = ()
    """What else failed in it: `tests 83 %`."""
    error: str = ""
    label: str = ""
    """Empty where it is the machinery's, or no taxonomy has a word for it."""
    owner: Owner
    confidence: Confidence | str
    reviewed: bool = False
    by: str = ""
    note: str = ""
    """What has to be known of the verdict: that readers disagree, or a second one is needed."""
    measured: bool = True
    machinery: bool = False
    """Owned by provider, environment, harness, simulator, or only following from another failure."""
    short: str = ""
    """One line of reasoning, for the table."""
    reasoning: str = ""
    repeat: Repeat = Repeat()
    evidence: tuple[Piece, ...] = ()
    snippets: Snippets = Snippets()
    doubts: tuple[str, ...] = ()
    bucket: str = ""
    follows: str = ""


class Pattern(msgspec.Struct, frozen=True, kw_only=True):
    """A bucket of this run."""

    title: str
    cases: tuple[str, ...]
    rows: int
    state: str
    """`final, 3 of 3 read`; `provisional` …"""
    final: bool = False
    parameters: str = ""
    documented: str = ""
    """Where an earlier report tells of it; empty where none does."""


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    group: RecommendationGroup
    text: str
    cases: tuple[str, ...] = ()
    path: str = ""
    done: str = ""
    """When it was done already, and what: then it is told, and not recommended again."""


class Impact(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    count: int


class Action(msgspec.Struct, frozen=True, kw_only=True):
    """Something done after an earlier report, and what this run shows of it."""

    date: str
    what: str
    path: str
    cases: tuple[str, ...]
    worked: str
    """`worked`, `NO EFFECT` or `not known yet`."""
    why: str = ""


class RunReport(msgspec.Struct, frozen=True, kw_only=True):
    subject: Subject
    made: str
    """The day of the analysis, in UTC."""
    reading: Reading
    answer: str
    """The whole report in two or three sentences."""
    scores: tuple[ScoreLine, ...]
    steps: tuple[StepCount, ...] = ()
    step_word: str = "Step"
    failures: tuple[Failure, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    shared_texts: tuple[str, ...] = ()
    """What the logs of several failures say, whatever the cause; with the cases."""
    categories: str = ""
    """Whether some are harder than others, with the test of it."""
    since: str = ""
    """What changed since the previous run of the same model."""
    history: tuple[str, ...] = ()
    """Earlier reports, oldest first: date and file."""
    told_before: tuple[str, ...] = ()
    """The patterns that they name: date and text."""
    actions: tuple[Action, ...] = ()
    advice: tuple[Advice, ...] = ()
    impact: tuple[Impact, ...] = ()
    bounds: str = ""
    findings: tuple[str, ...] = ()
    """What the checkup says of the run."""
    suspicious: tuple[str, ...] = ()
    """Passes that one should look at; they are not re-scored."""
    limits: tuple[str, ...] = ()
