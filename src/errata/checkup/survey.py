"""One pass over a run's attempts: what the rules of the checkup need to know, in bounded memory."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

import msgspec

from errata.checkup.gaps import Gaps
from errata.checkup.panel import Panel
from errata.model import Attempt, ErrorInfo, Run, SourceRef, Unreadable
from errata.model.coverage import not_in_log

MOST_NAMED = 50
MOST_TEXTS = 100_000
MOST_SAMPLES = 5_000
TRUNCATED = ("length", "max_tokens", "model_length", "truncated")


class Seen(msgspec.Struct, frozen=True):
    """What is remembered of an attempt that a finding may point to."""

    id: str
    case: str
    index: int
    outcome: str
    failed: tuple[str, ...]
    text: str
    reasoning: str
    ref: SourceRef | None
    error: ErrorInfo | None
    status: str


@dataclass
class Named:
    """How many there are, and the first of them."""

    count: int = 0
    first: list[Seen] = field(default_factory=list)
    cases: set[int] = field(default_factory=set)

    def add(self, attempt: Attempt) -> None:
        self.count += 1
        self.cases.add(hash(attempt.case))
        if len(self.first) < MOST_NAMED:
            self.first.append(remember(attempt))


@dataclass
class Survey:
    run: Run
    unreadables: tuple[Unreadable, ...]
    now: datetime
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
    missing: Named = field(default_factory=Named)
    unfinished: Named = field(default_factory=Named)
    unscored: Named = field(default_factory=Named)
    empty: Named = field(default_factory=Named)
    truncated: Named = field(default_factory=Named)
    unchecked: Named = field(default_factory=Named)
    """Passes without a check or a judgement."""
    panel: Panel = field(default_factory=Panel)
    gaps: Gaps = field(default_factory=Gaps)
    duplicates: dict[str, list[Seen]] = field(default_factory=dict)
    """First attempt → itself and those that repeat it."""
    with_text: int = 0
    texts: Counter[int] = field(default_factory=Counter)
    sample: dict[int, Seen] = field(default_factory=dict)
    phases: Counter[str] = field(default_factory=Counter)
    errored: Counter[str] = field(default_factory=Counter)
    """First error text of each failed attempt → how often."""
    error_sample: dict[str, Seen] = field(default_factory=dict)
    with_error: int = 0
    with_tokens: int = 0
    cost_known: int = 0
    checks: Counter[tuple[str, str]] = field(default_factory=Counter)
    """(check, status) of the rows, without second judges."""
    failed_rows: int = 0
    """Rows in which a check failed, whatever became of the attempt."""
    judges: set[str] = field(default_factory=set)
    out_of_order: int = 0
    last_position: int = -1

    def add(self, attempt: Attempt) -> None:
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

    @property
    def not_in_log(self) -> int:
        """What was measured, as the harness says, and has no row."""
        return not_in_log(self.run, cases=len(self.cases), executions=self.executions)

    @property
    def with_error_only(self) -> bool:
        """Every attempt ended in an error: then there is nothing that could have been judged."""
        return self.executions["error"] == self.rows


def remember(attempt: Attempt) -> Seen:
    return Seen(
        id=attempt.id,
        case=attempt.case,
        index=attempt.index,
        outcome=attempt.outcome,
        failed=attempt.failed_checks,
        text=attempt.output.text or "",
        reasoning=attempt.judgements[0].reasoning if attempt.judgements else "",
        ref=attempt.ref,
        error=attempt.errors[0] if attempt.errors else None,
        status=attempt.native_status,
    )


def _count(found: Survey, attempt: Attempt) -> None:
    found.counted += 1
    key = hash(attempt.case)
    found.cases.add(key)
    found.executions[attempt.execution] += 1
    found.measurements[attempt.measurement] += 1
    found.outcomes[attempt.outcome] += 1
    if attempt.execution == "missing":
        found.missing.add(attempt)
        return
    found.rows += 1
    found.present.add(key)
    if attempt.measurement == "scored":
        found.measured_cases.add(key)
    if attempt.outcome == "pass":
        found.passed_cases.add(key)
    if attempt.execution == "unfinished":
        found.unfinished.add(attempt)
    elif attempt.measurement == "unscored":
        found.unscored.add(attempt)
    if attempt.duplicate_of is not None:
        found.duplicates.setdefault(attempt.duplicate_of, []).append(remember(attempt))
    found.failed_rows += any(check.failed for check in attempt.checks) or attempt.outcome == "fail"
    for check in attempt.checks:
        if check.counts:
            found.checks[check.name, check.status] += 1
            if check.judge:
                found.judges.add(check.judge)
    if attempt.outcome == "pass" and not attempt.checks and not attempt.judgements:
        found.unchecked.add(attempt)
    if len(attempt.judgements) > 1:
        found.panel.add(attempt)
    found.gaps.add(attempt)
    _count_spending(found, attempt)
    _count_output(found, attempt)
    _count_errors(found, attempt)


def _count_spending(found: Survey, attempt: Attempt) -> None:
    found.with_tokens += bool(attempt.usage.subject.tokens)
    found.cost_known += attempt.usage.cost is not None


def _count_output(found: Survey, attempt: Attempt) -> None:
    if attempt.stop_reason in TRUNCATED or (attempt.limit is not None and "token" in attempt.limit.type):
        found.truncated.add(attempt)
    text = attempt.output.text
    if text is None:
        return
    found.with_text += 1
    if not text.strip():
        found.empty.add(attempt)
        return
    key = hash(text)
    if key in found.texts or len(found.texts) < MOST_TEXTS:
        found.texts[key] += 1
        # only a text that comes again may be quoted
        if found.texts[key] == 2 and len(found.sample) < MOST_SAMPLES:
            found.sample[key] = remember(attempt)


def _count_errors(found: Survey, attempt: Attempt) -> None:
    if not attempt.errors or attempt.outcome == "pass":
        return
    found.with_error += 1
    first = attempt.errors[0]
    found.phases[first.phase] += 1
    if first.message in found.errored or len(found.errored) < MOST_TEXTS:
        found.errored[first.message] += 1
        if first.message not in found.error_sample and len(found.error_sample) < MOST_NAMED:
            found.error_sample[first.message] = remember(attempt)
