"""One pass over a run's attempts: what the rules of the checkup need to know, in bounded memory."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from errata.checkup.disagreement import Disagreements, Panel
from errata.checkup.odd_numbers import OddNumbers, RecomputedHeadline
from errata.checkup.task_mentions import TaskMention, mention_in_row
from errata.model import (
    Attempt,
    Case,
    Check,
    Conduct,
    ErrorInfo,
    Evidence,
    Obstacle,
    Run,
    Sighting,
    SourceRef,
    Unreadable,
)
from errata.model.attempt import judging_scorers
from errata.model.counts import not_in_log, passes_without_rows
from errata.model.delivery import failed_response
from errata.model.obstacles import channel_state, only_writes_calls
from errata.model.usage import NO_USAGE_BY_ROLE
from errata.model.words import Phase
from errata.text.clean import one_line
from errata.text.mask import mask, without_ids

MOST_NAMED = 50
MOST_TEXTS = 100_000
MOST_SAMPLES = 5_000
MOST_MENTIONS = 20_000
CASES_OF_A_TEXT = 20
ONE_WORD, FEW_TOKENS = 24, 8
TRUNCATED = ("length", "max_tokens", "model_length", "truncated")


class AttemptNote(msgspec.Struct, frozen=True):
    """What is remembered of an attempt that a finding may point to."""

    id: str
    case: str
    index: int
    outcome: str
    failed: tuple[str, ...]
    text: str
    text_ref: SourceRef | None
    reasoning: str
    ref: SourceRef | None
    error: ErrorInfo | None
    status: str


@dataclass
class NamedAttempts:
    """How many there are, and the first of them."""

    count: int = 0
    first: list[AttemptNote] = field(default_factory=list)
    cases: set[int] = field(default_factory=set)

    def add(self, attempt: Attempt) -> None:
        self.count += 1
        self.cases.add(hash(attempt.case))
        if len(self.first) < MOST_NAMED:
            self.first.append(remember(attempt))


class IdenticalAnswers(msgspec.Struct, frozen=True):
    """The expected answers of cases that all got one and the same answer."""

    expected: tuple[str, ...] = ()
    """Each once."""
    is_closed: bool = False
    """They offer a choice of answers."""


@dataclass
class HinderedAttempts(NamedAttempts):
    """Attempts whose subject could not work, and what shows it of the first."""

    shown: Evidence | None = None

    def add_with(self, attempt: Attempt, seen: Sighting | Obstacle) -> None:
        if not self.count:
            stated = seen.stated if isinstance(seen, Sighting) else ""
            self.shown = Evidence(quote=one_line(seen.quote), stated=stated, ref=seen.ref or attempt.ref)
        self.add(attempt)


class CaseRows(msgspec.Struct, frozen=True):
    """A case whose rows differ, and for each fact two descriptions that do."""

    case: str
    facts: dict[str, tuple[Case, Case]]


MOST_NAMES = 1_000
VALUELESS = ("error", "unscored")


@dataclass
class CheckGaps:
    asked: Counter[str] = field(default_factory=Counter)
    """Check → attempts that it was asked about."""
    empty: Counter[str] = field(default_factory=Counter)
    first: dict[str, tuple[str, SourceRef | None]] = field(default_factory=dict)
    """Check → the text of the first empty result, and its place."""

    def add(self, attempt: Attempt) -> None:
        if attempt.measurement != "scored" or attempt.execution != "completed":
            return
        for check in attempt.checks:
            if check.name in self.asked or len(self.asked) < MOST_NAMES:
                self.asked[check.name] += 1
                if check.status in VALUELESS and not _has_number(check):
                    self.empty[check.name] += 1
                    self.first.setdefault(check.name, _text_and_place(check, attempt))


def _has_number(check: Check) -> bool:
    """A measured number without a pass rule is a value."""
    value = check.value
    return check.status == "unscored" and isinstance(value, (int, float)) and value == value


def _text_and_place(check: Check, attempt: Attempt) -> tuple[str, SourceRef | None]:
    if check.error is not None:
        return check.error.message or check.error.type, check.error.ref or check.ref
    return check.explanation, check.ref or attempt.ref


@dataclass
class RunSurvey:
    run: Run
    unreadables: tuple[Unreadable, ...]
    now: datetime
    unit: str = "case"
    """What the harness calls a case."""
    counted: int = 0
    rows: int = 0
    """Counted attempts that have a row in the log: all but the missing ones."""
    cases: set[int] = field(default_factory=set)
    present: set[int] = field(default_factory=set)
    """Cases with a row."""
    measured_cases: set[int] = field(default_factory=set)
    passed_cases: set[int] = field(default_factory=set)
    executions: Counter[str] = field(default_factory=Counter)
    measurements: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    missing: NamedAttempts = field(default_factory=NamedAttempts)
    unfinished: NamedAttempts = field(default_factory=NamedAttempts)
    unscored: NamedAttempts = field(default_factory=NamedAttempts)
    thinned: NamedAttempts = field(default_factory=NamedAttempts)
    thinned_at: str = ""
    """The last time."""
    empty: NamedAttempts = field(default_factory=NamedAttempts)
    truncated: NamedAttempts = field(default_factory=NamedAttempts)
    hindered: dict[str, HinderedAttempts] = field(default_factory=dict)
    """By what kept the subject from working."""
    undelivered: NamedAttempts = field(default_factory=NamedAttempts)
    """Attempts whose prompt did not reach the subject, by the source."""
    sent: Counter[str] = field(default_factory=Counter)
    """What was sent in its place."""
    error_bodies: NamedAttempts = field(default_factory=NamedAttempts)
    """Answers that are the body of a failed request."""
    unmeasured: NamedAttempts = field(default_factory=NamedAttempts)
    unmeasured_with_error: int = 0
    """Rows without a verdict, other than skipped ones."""
    without_score: NamedAttempts = field(default_factory=NamedAttempts)
    """Completed rows that nothing in the log scores."""
    with_calls: int = 0
    unchecked: NamedAttempts = field(default_factory=NamedAttempts)
    """Passes without a check or a judgement."""
    unchanged: NamedAttempts = field(default_factory=NamedAttempts)
    """Passes that an agent that does nothing would have got."""
    panel: Panel = field(default_factory=Panel)
    disagreements: Disagreements = field(default_factory=Disagreements)
    gaps: CheckGaps = field(default_factory=CheckGaps)
    duplicates: dict[str, list[AttemptNote]] = field(default_factory=dict)
    """First attempt → itself and those that repeat it."""
    with_text: int = 0
    texts: Counter[int] = field(default_factory=Counter)
    """Answers without their ids and times → how often."""
    sample: dict[int, AttemptNote] = field(default_factory=dict)
    passes_of_text: Counter[int] = field(default_factory=Counter)
    identical: IdenticalAnswers | None = None
    """What the cases of the commonest answer expect, where that was looked up."""
    phases: Counter[Phase] = field(default_factory=Counter)
    errored: Counter[str] = field(default_factory=Counter)
    """First error text of each failed attempt, with addresses, ids and numbers masked → how often."""
    error_sample: dict[str, AttemptNote] = field(default_factory=dict)
    unknown_statuses: Counter[str] = field(default_factory=Counter)
    """Status words of the harness that its source does not know → how often."""
    status_sample: dict[str, AttemptNote] = field(default_factory=dict)
    with_error: int = 0
    with_tokens: int = 0
    cost_known: int = 0
    simulator_cost_only: int = 0
    """Attempts whose only known cost is that of the simulated user."""
    checks: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(check, status) of the rows, without second judges."""
    measured_once: int = 0
    """Rows with a verdict, without errors and repetitions: what a harness counts as measured."""
    passes_by_harness: int = 0
    passed: int = 0
    """Rows that the harness counts as passed."""
    odd: OddNumbers = field(default_factory=OddNumbers)
    headline: RecomputedHeadline | None = None
    """The harness's main number recomputed from the rows, where that was done."""
    failed_rows: int = 0
    """Rows with a failed check, whatever the outcome of the attempt."""
    judges: set[str] = field(default_factory=set)
    differing: list[CaseRows] = field(default_factory=list)
    """Cases whose rows differ in what they ask or expect, where that was looked up."""
    mentions: list[TaskMention] = field(default_factory=list)
    """Rows whose checks or ids name something else than their case."""
    out_of_order: int = 0
    last_position: int = -1

    def __post_init__(self) -> None:
        self.disagreements.judges = judging_scorers(self.run)
        self.odd.scale = self.run.scale

    def add(self, attempt: Attempt) -> None:
        self.odd.add(attempt)
        if not attempt.counted:
            return
        _count(self, attempt)
        if attempt.position is not None and attempt.execution != "missing":
            self.out_of_order += attempt.position < self.last_position
            self.last_position = attempt.position

    def find_originals(self, attempts: Iterable[Attempt]) -> None:
        """A second pass, only where the first held duplicates."""
        if not self.duplicates:
            return
        for attempt in attempts:
            if attempt.id in self.duplicates:
                self.duplicates[attempt.id].insert(0, remember(attempt))

    def has_case(self, key: str) -> bool:
        return hash(key) in self.cases

    @property
    def commonest(self) -> int | None:
        """The key of the answer that was given most often; of several, the one that sorts first."""
        top = max(self.texts.values(), default=0)
        keys = [key for key, often in self.texts.items() if often == top] if top > 1 else []
        return min(keys, key=lambda key: self.sample[key].text if key in self.sample else "", default=None)

    @property
    def not_in_log(self) -> int:
        """Cases that were measured according to the harness, but have no row."""
        return not_in_log(self.run, cases=len(self.cases), executions=self.executions)

    @property
    def passes_without_rows(self) -> int | None:
        """How many of them passed by the harness's count; None where it states no count."""
        return passes_without_rows(self.run, passes_in_rows=self.passes_by_harness, not_in_log=self.not_in_log)

    @property
    def with_error_only(self) -> bool:
        """Every attempt ended in an error: then there is nothing that could have been judged."""
        return self.executions["error"] == self.rows


def remember(attempt: Attempt) -> AttemptNote:
    return AttemptNote(
        id=attempt.id,
        case=attempt.case,
        index=attempt.index,
        outcome=attempt.outcome,
        failed=attempt.failed_checks,
        text=attempt.output.text or "",
        text_ref=attempt.output.ref or attempt.ref,
        reasoning=attempt.judgements[0].reasoning if attempt.judgements else "",
        ref=attempt.ref,
        error=attempt.ending_error,
        status=attempt.native_status,
    )


def _count(survey: RunSurvey, attempt: Attempt) -> None:
    survey.counted += 1
    key, checks = hash(attempt.case), attempt.checks
    execution, measurement, outcome = attempt.execution, attempt.measurement, attempt.outcome
    survey.cases.add(key)
    survey.executions[execution] += 1
    survey.measurements[measurement] += 1
    survey.outcomes[outcome] += 1
    if execution == "missing":
        survey.missing.add(attempt)
        return
    survey.rows += 1
    survey.passes_by_harness += attempt.passes_by_harness
    survey.passed += outcome == "pass" or (outcome == "partial" and attempt.passes_by_harness)
    survey.present.add(key)
    if measurement == "scored":
        survey.measured_cases.add(key)
        survey.measured_once += execution not in ("error", "cancelled") and attempt.duplicate_of is None
    elif not attempt.failed_as_expected:
        _count_lost(survey, attempt)
    if outcome == "pass":
        survey.passed_cases.add(key)
        if not checks and not attempt.judgements:
            survey.unchecked.add(attempt)
        if checks and _only_demands_no_change(attempt):
            survey.unchanged.add(attempt)
    if attempt.thinned:
        survey.thinned.add(attempt)
        survey.thinned_at = max(survey.thinned_at, attempt.thinned)
    if execution == "unfinished":
        survey.unfinished.add(attempt)
    elif measurement == "unscored":
        survey.unscored.add(attempt)
    if attempt.undelivered is not None:
        survey.undelivered.add(attempt)
        survey.sent[attempt.undelivered.sent] += 1
    if attempt.duplicate_of is not None:
        survey.duplicates.setdefault(attempt.duplicate_of, []).append(remember(attempt))
    survey.failed_rows += outcome == "fail" or any(check.failed for check in checks)
    for check in checks:
        if check.counts:
            survey.checks[check.name, check.status] += 1
            if check.judge:
                survey.judges.add(check.judge)
    if len(attempt.judgements) > 1:
        survey.panel.add(attempt)
    if len(checks) > 1:
        survey.disagreements.add(attempt)
    survey.gaps.add(attempt)
    if len(survey.mentions) < MOST_MENTIONS and (mention := mention_in_row(attempt)) is not None:
        survey.mentions.append(mention)
    if not attempt.is_status_known:
        _count_unknown_status(survey, attempt)
    _count_spending(survey, attempt)
    _count_output(survey, attempt)
    if attempt.errors and outcome != "pass":
        _count_errors(survey, attempt)
    if attempt.conduct is not None:
        _count_hindrances(survey, attempt, attempt.conduct)


def _count_lost(survey: RunSurvey, attempt: Attempt) -> None:
    """A row that nothing has measured."""
    if attempt.execution not in ("skipped", "unfinished"):
        survey.unmeasured.add(attempt)
        survey.unmeasured_with_error += attempt.ending_error is not None
    if attempt.measurement == "not_run" and attempt.execution == "completed":
        survey.without_score.add(attempt)


def _count_hindrances(survey: RunSurvey, attempt: Attempt, conduct: Conduct) -> None:
    """Each attempt counts once: what came first kept the rest from happening."""
    survey.with_calls += conduct.calls > 0
    if conduct.obstacle is not None:
        _hindered(survey, conduct.obstacle.kind).add_with(attempt, conduct.obstacle)
        return
    strength, sighting = channel_state(conduct)
    if strength == "likely" and sighting is not None:
        _hindered(survey, "tool_calls").add_with(attempt, sighting)
    elif conduct.calls_as_text is not None and only_writes_calls(conduct):
        _hindered(survey, "written_calls").add_with(attempt, conduct.calls_as_text)
    elif conduct.ended_empty is not None and not conduct.ended_in_thought and attempt.lasting_error is None:
        _hindered(survey, "empty_turn").add_with(attempt, conduct.ended_empty)


def _hindered(survey: RunSurvey, kind: str) -> HinderedAttempts:
    return survey.hindered.setdefault(kind, HinderedAttempts())


def _only_demands_no_change(attempt: Attempt) -> bool:
    """The checks that count only compare a state that nobody had to change, or look at nothing."""
    weaknesses = {check.weakness for check in attempt.checks if check.counts and check.status == "pass"}
    return "nothing_changed" in weaknesses and "" not in weaknesses


def _count_unknown_status(survey: RunSurvey, attempt: Attempt) -> None:
    word = attempt.native_status
    if word in survey.unknown_statuses or len(survey.unknown_statuses) < MOST_TEXTS:
        survey.unknown_statuses[word] += 1
    if len(survey.status_sample) < MOST_NAMED:
        survey.status_sample.setdefault(word, remember(attempt))


def _count_spending(survey: RunSurvey, attempt: Attempt) -> None:
    if attempt.usage is not NO_USAGE_BY_ROLE:
        survey.with_tokens += bool(attempt.usage.subject.tokens)
        survey.cost_known += attempt.usage.cost is not None
        survey.simulator_cost_only += attempt.usage.subject.cost is None and attempt.usage.simulator.cost is not None


def _count_output(survey: RunSurvey, attempt: Attempt) -> None:
    text = attempt.output.text
    is_cut = attempt.stop_reason in TRUNCATED or (attempt.limit is not None and "token" in attempt.limit.type)
    if is_cut and not _is_whole(attempt):
        survey.truncated.add(attempt)
    # without a text there is no answer: such a request is among the errors
    if text and failed_response(attempt) is not None:
        survey.error_bodies.add(attempt)
    if attempt.answered_nothing:
        survey.with_text += 1
        survey.empty.add(attempt)
        return
    if text is None or not text.strip():
        return
    survey.with_text += 1
    key = text_key(attempt)
    if key in survey.texts or len(survey.texts) < MOST_TEXTS:
        survey.texts[key] += 1
        survey.passes_of_text[key] += attempt.outcome == "pass"
        # only a text that comes again may be quoted
        if survey.texts[key] == 2 and len(survey.sample) < MOST_SAMPLES:
            survey.sample[key] = remember(attempt)


def text_key(attempt: Attempt) -> int:
    """The same for answers that differ in ids and times only."""
    return hash(without_ids(attempt.output.text or ""))


def _is_whole(attempt: Attempt) -> bool:
    """An answer of one token, as a letter of several choices, ends at a limit of one token, and is not cut."""
    text, tokens = (attempt.output.text or "").strip(), attempt.usage.subject.output
    is_word = bool(text) and len(text) <= ONE_WORD and len(text.split()) == 1
    return is_word and (tokens is None or tokens <= FEW_TOKENS)


def _count_errors(survey: RunSurvey, attempt: Attempt) -> None:
    error = attempt.ending_error
    if error is None:
        return
    survey.with_error += 1
    survey.phases[error.phase] += 1
    shape = mask(error.message, strings=False)
    if shape in survey.errored or len(survey.errored) < MOST_TEXTS:
        survey.errored[shape] += 1
        if shape not in survey.error_sample and len(survey.error_sample) < MOST_NAMED:
            survey.error_sample[shape] = remember(attempt)
