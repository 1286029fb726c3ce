"""A run's attempts in the form that every policy needs: by case, with what was thought of each beside its facts."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from functools import cached_property
from typing import Any, Literal

import msgspec

from errata.model import Attempt, Attribution, Run, Verdict
from errata.model.counts import not_in_log, passes_without_rows
from errata.model.record import Struct
from errata.model.usage import NO_USAGE_BY_ROLE, UsageByRole
from errata.model.words import NOT_THE_SUBJECTS

Timeouts = Literal["count", "drop"]

NEVER_MADE = frozenset(("missing", "unfinished", "skipped"))
KNOWN_GAP = "KNOWN_GAP"
FEW = 3

_TIME_LIMITS = frozenset(("time", "working"))
"""Of the subject's own time; `working` is Inspect's word for time without waiting."""


class Trial(Struct, gc=False):
    """What a policy needs to know of an attempt; a run may have a million of them."""

    id: str
    """Empty for what passed in time: nobody asks for it, and a million ids are heavy."""
    case: str
    index: int
    execution: str
    measurement: str
    outcome: str
    failed: tuple[str, ...]
    reported: float | None
    reported_counted: bool | None
    is_failure: bool
    value: float | None = None
    """The result, where it is a number that is neither a pass nor a failure."""
    session: int = 0
    position: int | None = None
    cost: float | None = None
    subject_cost: float | None = None
    """Part of `cost`, as are the next two."""
    judge_cost: float | None = None
    simulator_cost: float | None = None
    error: str = ""
    error_type: str = ""
    timed_out: bool = False
    served: bool = False
    """Whether the subject was reached at all."""
    owner: str = ""
    signal: str = ""
    """Which signal decided about the owner."""
    presumed: bool = False
    """Only presumed to be the model's; no verdict counts."""
    broken: bool = False
    verdict: str = ""
    """The owner that a reviewer named; empty where nobody has read it."""
    known_gap: bool = False
    reviewed: bool = False
    """It has a verdict of its own, whether or not a score goes by it."""

    @property
    def passed(self) -> bool:
        return self.outcome == "pass"

    @property
    def result(self) -> float | None:
        return self.value if self.value is not None else {"pass": 1.0, "fail": 0.0}.get(self.outcome)

    @property
    def is_label(self) -> bool:
        """Scored, and neither a number nor passed nor failed."""
        is_scored = self.measurement == "scored" and self.execution == "completed"
        return is_scored and self.outcome == "none" and not (self.is_failure or self.failed)

    @property
    def is_plain(self) -> bool:
        """Passed or failed by the subject alone, by rules alone: every policy counts it, and none lists it."""
        return (
            self.execution == "completed"
            and self.measurement == "scored"
            and (
                self.owner == "model"
                if self.outcome == "fail"
                else self.outcome in ("pass", "number") and not self.owner
            )
            and not (self.broken or self.verdict or self.reviewed)
        )

    @property
    def passes_by_harness(self) -> bool:
        return self.reported >= 1 if self.reported_counted and self.reported is not None else self.passed

    @property
    def measured(self) -> bool:
        return self.measurement == "scored" and not self.broken and self.owner not in NOT_THE_SUBJECTS


class Opinions(Struct):
    """What was thought about the attempts of a run, by attempt id."""

    attributions: Mapping[str, Attribution] = {}
    broken: Container[str] = frozenset()
    """Attempts whose measurement is broken according to a signal."""
    verdicts: Mapping[str, Verdict] = {}
    """Those that a score goes by: final ones, and what was inherited from them."""
    reviewed: Container[str] | None = None
    """Attempts with a verdict of their own, final or not; none: those of `verdicts` that are not inherited."""

    def is_reviewed(self, attempt: str) -> bool:
        if self.reviewed is not None:
            return attempt in self.reviewed
        verdict = self.verdicts.get(attempt)
        return verdict is not None and verdict.inherited_from is None


NO_OPINIONS = Opinions()


def trial_of(attempt: Attempt, opinions: Opinions = NO_OPINIONS) -> Trial:
    attribution, verdict = opinions.attributions.get(attempt.id), opinions.verdicts.get(attempt.id)
    execution, outcome = attempt.execution, attempt.outcome
    # only what differs from the defaults: with every field named, a struct of this size takes four times as long
    more: dict[str, Any] = {}
    if outcome in ("number", "partial"):
        more["value"] = attempt.value
    if attempt.session:
        more["session"] = attempt.session
    if attempt.position is not None:
        more["position"] = attempt.position
    if attempt.usage is not NO_USAGE_BY_ROLE:
        more |= _spent(attempt.usage)
    if attempt.errors:
        more |= {"error": attempt.errors[0].message, "error_type": attempt.errors[0].type}
    if attempt.limit is not None:
        more["timed_out"] = execution == "limit" and attempt.limit.type in _TIME_LIMITS
    if attribution is not None:
        presumed = verdict is None and attribution.proof == "presumed"
        more |= {"owner": attribution.owner, "signal": attribution.decided_by, "presumed": presumed}
    if attempt.id in opinions.broken:
        more["broken"] = True
    if verdict is not None:
        more |= {"verdict": verdict.owner, "known_gap": verdict.label == KNOWN_GAP}
    if opinions.is_reviewed(attempt.id):
        more["reviewed"] = True
    return Trial(
        id="" if outcome in ("pass", "number") and execution == "completed" else attempt.id,
        case=attempt.case,
        index=attempt.index,
        execution=execution,
        measurement=attempt.measurement,
        outcome=outcome,
        failed=attempt.failed_checks if attempt.checks else (),
        reported=attempt.reported,
        reported_counted=attempt.reported_counted,
        is_failure=attempt.is_failure,
        **more,
    )


def _spent(usage: UsageByRole) -> dict[str, Any]:
    spent: dict[str, Any] = {"served": bool(usage.subject.tokens)}
    if usage.cost is not None:
        spent |= {
            "cost": usage.cost,
            "subject_cost": usage.subject.cost,
            "judge_cost": usage.judge.cost,
            "simulator_cost": usage.simulator.cost,
        }
    return spent


class Trials:
    """The counted attempts by case, and beside them those that a later session replaced."""

    def __init__(
        self,
        run: Run,
        attempts: Iterable[Attempt],
        opinions: Opinions = NO_OPINIONS,
        *,
        timeouts: Timeouts = "count",
        to_pool: bool = False,
    ) -> None:
        self.run = run
        self.timeouts = timeouts
        self.to_pool = to_pool
        """Whether scores have to tell what each case adds: only that shows which cases several runs repeat."""
        self.counted: dict[str, list[Trial]] = {}
        self.earlier: dict[str, list[Trial]] = {}
        self.repeated = False
        self._whole: Trials | None = None
        self._opinions = opinions
        for attempt in attempts:
            self.add(attempt)

    @property
    def tells_cases(self) -> bool:
        """Attempts at one case are correlated, whether they are in several runs or in one."""
        return self.to_pool or self.repeated

    def add(self, attempt: Attempt) -> None:
        if attempt.parent is not None:
            return
        home = self.counted if attempt.superseded_by is None else self.earlier
        home.setdefault(attempt.case, []).append(trial_of(attempt, self._opinions))
        if attempt.index > 1 and attempt.superseded_by is None and attempt.duplicate_of is None:
            self.repeated = True

    def only(self, cases: Iterable[str]) -> "Trials":
        """The part of them that belongs to some cases, in the order of these."""
        run = msgspec.structs.replace(self.run, expected_cases=None, measured_attempts=None, measured_passes=None)
        part = Trials(run, (), timeouts=self.timeouts, to_pool=self.to_pool)
        for case in cases:
            if case in self.counted:
                part.counted[case] = self.counted[case]
            if case in self.earlier:
                part.earlier[case] = self.earlier[case]
        part.repeated = self.repeated
        part._whole = self._whole or self
        return part

    @cached_property
    def rows(self) -> list[Trial]:
        return [one for tries in self.counted.values() for one in tries]

    @property
    def passes_elsewhere(self) -> int:
        """Of a part: passes of the whole run that have no row, so that nobody knows whether they belong to the part."""
        return 0 if self._whole is None else self._whole.passes_without_rows or 0

    @property
    def is_part(self) -> bool:
        return self._whole is not None

    @cached_property
    def valued(self) -> int:
        """How many values the harness could average in the whole run."""
        if self._whole is not None:
            return self._whole.valued
        return sum(bool(one.reported_counted) and one.reported is not None for one in self.rows)

    @cached_property
    def labels(self) -> int:
        """How many results are words without an order, where all of the whole run are; else 0."""
        if self._whole is not None:
            return sum(one.is_label for one in self.rows) if self._whole.labels else 0
        every = [one.is_label for one in self.rows if one.execution not in NEVER_MADE]
        return len(every) if every and all(every) else 0

    @cached_property
    def has_values(self) -> bool:
        """Whether results of the whole run are numbers that are neither passes nor failures."""
        return any(one.value is not None for one in (self._whole or self).rows)

    @cached_property
    def units(self) -> list[list[Trial]]:
        """What is counted one by one: cases, or attempts where a case was tried several times."""
        return [[one] for one in self.rows] if self.repeated else list(self.counted.values())

    @property
    def unit_count(self) -> int:
        return len(self.rows) if self.repeated else len(self.counted)

    @property
    def absent(self) -> int:
        """Planned cases without any row in the log, and not measured according to the harness."""
        if self.repeated or not self.run.expected_cases:
            return 0
        return max(0, self.run.expected_cases - len(self.counted) - self.not_in_log)

    @cached_property
    def not_in_log(self) -> int:
        """Cases that were measured according to the harness, but have no row in the log."""
        executions = Counter(trial.execution for trial in self.rows)
        return not_in_log(self.run, cases=len(self.counted), executions=executions)

    @cached_property
    def passes_without_rows(self) -> int | None:
        """How many of those that are not in the log passed by the harness's count; None where it states no count."""
        return (
            None
            if self.is_part
            else passes_without_rows(self.run, passes_in_rows=self._passes_in_rows, not_in_log=self.not_in_log)
        )

    @cached_property
    def passes_without_verdict(self) -> int:
        """Passes by the harness's count that are among rows without a verdict, nobody knows which."""
        if self.is_part or self.run.harness_passes is None:
            return 0
        empty = sum(one.measurement == "unscored" and one.execution == "completed" for one in self.rows)
        known = self._passes_in_rows + (self.passes_without_rows or 0)
        return min(max(0, self.run.harness_passes - known), empty)

    @cached_property
    def _passes_in_rows(self) -> int:
        return sum(one.passes_by_harness for one in self.rows)

    @cached_property
    def unjudged(self) -> bool:
        """Something was made, and nobody has scored any of it."""
        if self._whole is not None:
            return self._whole.unjudged
        made = any(one.execution == "completed" for one in self.rows)
        return made and all(one.measurement == "not_run" for one in self.rows)

    @cached_property
    def unread(self) -> bool:
        """Something failed in this run, and nobody has read any of it."""
        if self._whole is not None:
            return self._whole.unread
        failures = [one for one in self.rows if one.is_failure]
        return bool(failures) and not any(one.verdict for one in failures)

    @cached_property
    def unavailable(self) -> bool:
        """Every attempt of the run ended in one and the same error before the subject was reached."""
        if self._whole is not None:
            return self._whole.unavailable
        made = [one for one in self.rows if one.execution not in NEVER_MADE]
        down = all(one.execution == "error" and one.outcome == "none" and not one.served for one in made)
        return down and len({one.error for one in made}) == 1 and bool(made[0].error) and len(made) >= FEW
