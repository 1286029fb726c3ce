"""One try at a case in a run: the unit of everything; and checks on one question that contradict each other."""

import re
from collections.abc import Collection, Iterator
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from errata.model import identity
from errata.model.case import Artefact
from errata.model.check import Check, ErrorInfo, Part
from errata.model.conduct import Conduct
from errata.model.record import Record
from errata.model.run import Run
from errata.model.step import Step
from errata.model.usage import NO_USAGE_BY_ROLE, UsageByRole
from errata.model.words import Execution, Measurement, Outcome, PromptFault, Provenance
from errata.text.lazy_regex import lazy_regex


class Output(Record):
    """What the subject answered, and what the harness took as the answer."""

    text: str | None = None
    """None where the log keeps no answer; empty where the answer was empty."""
    structured: Any = None
    answer: str | None = None
    extraction: str = ""
    """How the answer was extracted from the text, where the harness records it."""


class Limit(Record):
    type: str
    value: float | None = None
    reason: str = ""


class Judgement(Record):
    """The judgement of one judge on a whole attempt."""

    judge: str
    model: str = ""
    version: str = ""
    valid: bool = True
    reasoning: str = ""
    raw: Any = None

    @property
    def passed(self) -> bool | None:
        """Its own word on the whole, where it gives one."""
        passed = self.raw.get("passed") if isinstance(self.raw, dict) else None
        return passed if isinstance(passed, bool) else None

    @property
    def score(self) -> float | None:
        """Its own score of the whole, between 0 and 1, where it gives one."""
        score = self.raw.get("score") if isinstance(self.raw, dict) else None
        usable = isinstance(score, int | float) and not isinstance(score, bool) and 0 <= score <= 1
        return float(score) if usable and score is not None else None


class Undelivered(Record):
    """The log shows that the prompt did not reach the subject."""

    fault: PromptFault
    sent: str = ""
    """The beginning of the text that was sent in its place."""


class Invalidation(Record):
    by: str = ""
    why: str = ""


NO_OUTPUT = Output()
EMPTY_RESPONSE = "EMPTY_RESPONSE"
"""The status of an attempt whose harness writes this in the place of an answer."""


EXPECTED_FAILURE = "xfailed"
"""The status of a test that was marked as expected to fail, and did."""


LONGEST_LABEL = 40


class Attempt(Record):
    id: str = ""
    """Computed from run, case, session, index and path where it is not given."""
    run: str
    case: str
    case_version: str = ""
    """Which description of its case it was made under, where its run has several; empty for the first."""
    native_id: str = ""
    """The harness's own id of this try, by which it can be asked for again."""
    index: int = 1
    session: int | None = None
    path: str = ""
    """The path of a child below its parent: `T0/00/run_01`."""
    parent: str | None = None
    position: int | None = None
    """Its place in a conversation or an ordered suite."""
    superseded_by: str | None = None
    duplicate_of: str | None = None
    provenance: Provenance | None = None
    """Where it comes from by its log; `origin` has the rest."""
    works: tuple[str, ...] = ()
    """The harness's ids of the work that was judged: its own, and that of the attempt it was taken from. Attempts that
    have one in common are one trial."""
    follows: str | None = None
    """The attempt whose failure this one only repeats."""
    execution: Execution
    measurement: Measurement
    outcome: Outcome
    threshold: float | None = None
    native_status: str = ""
    is_status_known: bool = True
    """Whether the source knows what the harness's status word means."""
    is_status_classified: bool = False
    """A mapping defines its meaning, so no rule searches the word."""
    native_reason: str = ""
    """The harness's own words for why it came out so."""
    reported: float | None = None
    """The value that the harness put into its headline."""
    reported_counted: bool | None = None
    undelivered: Undelivered | None = None
    output: Output = NO_OUTPUT
    http_status: int | None = None
    """Of the response that the output was taken from, where the harness records it."""
    stop_reason: str = ""
    limit: Limit | None = None
    errors: tuple[ErrorInfo, ...] = ()
    checks: tuple[Check, ...] = ()
    judgements: tuple[Judgement, ...] = ()
    steps: tuple[Step, ...] = ()
    thinned: str | None = None
    """When steps were dropped from its transcript to save space; those that verdicts and evidence cite are kept."""
    conduct: Conduct | None = None
    """What the steps show of the subject's work; counted on import. None where the log has no steps."""
    artefacts: tuple[Artefact, ...] = ()
    usage: UsageByRole = NO_USAGE_BY_ROLE
    started_at: str | None = None
    finished_at: str | None = None
    duration: float | None = None
    """In seconds, as the harness measured it."""
    durations: dict[str, float] = {}
    seed: int | None = None
    exit_code: int | None = None
    invalidated: Invalidation | None = None
    links: dict[str, str] = {}
    parts: tuple[Part, ...] = ()
    cost_of_pass: float | None = None
    """As the harness states it: of several parts the cheapest."""

    def __post_init__(self) -> None:
        if not self.id:
            made = identity.attempt_id(self.run, self.case, session=self.session, index=self.index, path=self.path)
            msgspec.structs.force_setattr(self, "id", made)

    @property
    def origin(self) -> Provenance:
        return self.provenance or ("repeat" if self.index > 1 else "first")

    @property
    def passes_by_harness(self) -> bool:
        return self.reported >= 1 if self.reported_counted and self.reported is not None else self.outcome == "pass"

    @property
    def shows_work(self) -> bool:
        """Whether the log holds anything that the subject did."""
        output = self.output
        return bool(
            output.text
            or output.answer
            or output.structured
            or self.steps
            or self.usage.subject.output
            or self.artefacts
            or self.judgements
        )

    @property
    def lasting_error(self) -> ErrorInfo | None:
        return next((error for error in self.errors if not error.recovered), None)

    @property
    def ending_error(self) -> ErrorInfo | None:
        """The error that ended the attempt: the harness had repeated it after those before."""
        return next((error for error in self.errors if not error.retryable), next(iter(self.errors), None))

    @property
    def failed_as_expected(self) -> bool:
        """A test that ran and failed as it is marked: the harness counts it for nobody, and nothing is missing."""
        return self.native_status == EXPECTED_FAILURE and self.execution == "completed" and self.outcome == "none"

    @property
    def counted(self) -> bool:
        """Children and superseded attempts are facts, but they are not counted."""
        return self.parent is None and self.superseded_by is None

    @property
    def is_failure(self) -> bool:
        """A counted attempt that was not passed, or not measured, although it was made."""
        if not self.counted or self.execution in ("unfinished", "skipped", "missing"):
            return False
        if self.outcome == "fail" or self.measurement in ("error", "unscored"):
            return True
        if self.outcome in ("pass", "number"):
            return False
        if self.execution in ("error", "limit", "cancelled"):
            return True
        missed = self.threshold is not None and (self.reported is None or self.reported < self.threshold)
        return self.outcome == "partial" and missed

    @property
    def value(self) -> float | None:
        """Its result, where that is a number that no rule makes a pass or a failure."""
        if self.outcome != "number" and (self.outcome != "partial" or self.threshold is not None):
            return None
        whole = (check.value for check in self.checks if check.is_primary and check.kind == "reward")
        return next((value for value in whole if isinstance(value, float)), self.reported)

    @property
    def label(self) -> str:
        """Its result, where that is a word without an order, such as the side that a judge prefers."""
        if self.outcome != "none" or self.execution != "completed" or self.is_failure:
            return ""
        words = (check.value for check in self.checks if check.status == "not_applicable")
        return next((word for word in words if isinstance(word, str) and 0 < len(word) <= LONGEST_LABEL), "")

    @property
    def objections(self) -> tuple[Judgement, ...]:
        """What may tell why it failed: judges who refused it, then those who give no verdict; nobody who passed it."""
        if not self.judgements:
            return ()
        by_verdict = [(self._passed_by(one), one) for one in self.judgements]
        against = [(not one.valid, said is None, at) for at, (said, one) in enumerate(by_verdict) if said is not True]
        return tuple(self.judgements[at] for _, _, at in sorted(against))

    def _passed_by(self, judgement: Judgement) -> bool | None:
        """Where a judge gives no overall verdict, its own checks decide."""
        if judgement.passed is not None:
            return judgement.passed
        names = {judgement.judge, judgement.model} - {""}
        own = {check.status for check in self.checks if not names.isdisjoint((check.judge, check.scorer, check.name))}
        return False if "fail" in own else True if own == {"pass"} else None

    @property
    def answered_nothing(self) -> bool:
        """The answer was empty: the log keeps an empty text, or the harness's word for one.

        Not where the last turn is a call that ends the episode, such as a transfer to a person: no text was lost.
        """
        if self.native_status == EMPTY_RESPONSE:
            return True
        text, conduct = self.output.text, self.conduct
        if text is None or text.strip() or self.lasting_error is not None:
            return False  # where a request failed, no answer came
        return conduct is None or self.execution != "completed" or conduct.calls == 0 or conduct.ended_empty is not None

    @property
    def failed_checks(self) -> tuple[str, ...]:
        return tuple([check.name for check in self.checks if check.failed])


def as_number(attempt: Attempt) -> Attempt:
    """As it counts in a run of numbers: there, 1 is not a pass and 0 is not a failure."""
    checks = tuple([replace(check, status="number") if check.is_bare_number else check for check in attempt.checks])
    known = attempt.reported if attempt.reported is not None else {"pass": 1.0, "fail": 0.0}.get(attempt.outcome)
    return replace(attempt, outcome="number", reported=known, checks=checks)


class ListedFailure(NamedTuple):
    """A failure as a list of what is to be done has it."""

    seq: int
    case: str
    id: str
    execution: str
    measurement: str
    outcome: str
    owner: str | None


_RIGHT = lazy_regex(
    r"^(?:includes?|exact(?:_?match)?|match|equals|i?contains|choice|answer|accuracy|acc|em|correct(?:ness)?"
    r"|quasi_exact_match|nl_assertions?|model_graded_(?:qa|fact)|model-graded-(?:closedqa|factuality)|factuality|closedqa)$",
    re.IGNORECASE,
)
_WHOLE = lazy_regex(
    r"(?:judge[d]?|judge?ment|llm|model|gpt|grader|graded?|verdict|pass|passed|success|solved|resolved|correct|correctness"
    r"|right|match|matches|exact|accuracy|acc|answer|is|overall|final|result|outcome|score|check|tests?|unit|program)"
)
"""A name made of these words asks for the answer as a whole, not for its tone or style."""
_MEASURED = ("pass", "fail")


class OpposingChecks(NamedTuple):
    judge: Check
    program: Check


def asks_whether_right(check: Check) -> bool:
    """A program is not evidence about other things that judges are asked, such as tone."""
    if check.kind == "reward":
        return check.counts
    if check.is_primary:
        return True
    name = check.scorer or check.name
    return _RIGHT.match(name) is not None or _is_about_the_whole(name)


def _is_about_the_whole(name: str) -> bool:
    words = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    return bool(words) and all(map(_WHOLE.fullmatch, words))


def judging_scorers(run: Run) -> frozenset[str]:
    return frozenset(scorer.name for scorer in run.scorers if scorer.kind == "judge")


def is_of_judge(check: Check, judges: Collection[str] = ()) -> bool:
    """Whether a judge gave it: the check names its judge, or its scorer is one."""
    return bool(check.judge) or (check.scorer or check.name) in judges


def measured_pairs(attempt: Attempt, judges: Collection[str] = ()) -> Iterator[OpposingChecks]:
    """Each judge's check with each program's, where both came to a verdict, whether or not they count."""
    measured = [check for check in attempt.checks if check.status in _MEASURED and check.kind != "limit"]
    by_judges = [check for check in measured if is_of_judge(check, judges)]
    if not by_judges or len(by_judges) == len(measured):
        return
    for program in measured:
        if not is_of_judge(program, judges):
            yield from (OpposingChecks(judge, program) for judge in by_judges)


StandIn = Literal["reference", "nothing", ""]

_WHAT = r"(?:[-_ ](?:agent|answers?|patch(?:es)?|solutions?|run))?$"
_REFERENCE = lazy_regex(rf"(?:oracle|gold(?:en)?|reference|ground[-_ ]?truth|answer[-_ ]?key){_WHAT}")
_NOTHING = lazy_regex(rf"(?:nop|no-?op|null|do[-_ ]?nothing|empty){_WHAT}")
_TELLING = ("agent", "subject", "mode", "solver", "predictions", "predictions_path")
"""The parts of a variant that may name a stand-in for a model."""


def stand_in_of(run: Run) -> StandIn:
    """By the whole name of the agent or the model; `golden-gate-7b` is a model like any other."""
    subject = run.subject
    names = [subject.agent, subject.model.rpartition("/")[2]]
    names += [value for key, value in run.variant.items() if key in _TELLING]
    for name in names:
        low = name.strip().lower()
        if _REFERENCE.match(low):
            return "reference"
        if _NOTHING.match(low):
            return "nothing"
    return ""
