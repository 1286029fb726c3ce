"""A run's attempts in the form that every policy needs: by case, with what was thought of each beside its facts."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from functools import cached_property
from typing import Literal

import msgspec

from errata.model import Attempt, Attribution, Run, Verdict
from errata.model.alike import AlikeAttempt, AlikeKind
from errata.model.counts import not_in_log, passes_without_rows
from errata.model.usage import NO_USAGE_BY_ROLE
from errata.model.words import NOT_THE_SUBJECTS

Timeouts = Literal["count", "drop"]

NEVER_MADE = frozenset(("missing", "unfinished", "skipped"))
KNOWN_GAP = "KNOWN_GAP"
FEW = 3

_TIME_LIMITS = frozenset(("time", "working"))
"""Of the subject's own time; `working` is Inspect's word for time without waiting."""


class Trial(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a policy needs to know of an attempt; a run may have a million of them."""

    id: str
    """Empty for what passed in time: nobody asks for it, and a million ids are heavy."""
    case: str
    index: int
    session: int
    position: int | None
    execution: str
    measurement: str
    outcome: str
    failed: tuple[str, ...]
    reported: float | None
    reported_counted: bool | None
    cost: float | None
    subject_cost: float | None
    """Part of `cost`, as are the next two."""
    judge_cost: float | None
    simulator_cost: float | None
    error: str
    error_type: str
    timed_out: bool
    served: bool
    """Whether the subject was reached at all."""
    is_failure: bool
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
    def is_plain(self) -> bool:
        """Passed or failed by the subject alone, by rules alone: every policy counts it, and none lists it."""
        return (
            self.execution == "completed"
            and self.measurement == "scored"
            and (self.owner == "model" if self.outcome == "fail" else self.outcome == "pass" and not self.owner)
            and not (self.broken or self.verdict or self.reviewed)
        )

    @property
    def passes_by_harness(self) -> bool:
        """Whether the harness counts it as passed, whatever its outcome."""
        return self.reported >= 1 if self.reported_counted and self.reported is not None else self.passed

    @property
    def measured(self) -> bool:
        return self.measurement == "scored" and not self.broken and self.owner not in NOT_THE_SUBJECTS


class Opinions(msgspec.Struct, frozen=True, kw_only=True):
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
    first = attempt.errors[0] if attempt.errors else None
    limit = attempt.limit.type if attempt.limit is not None else ""
    spent = attempt.usage if attempt.usage is not NO_USAGE_BY_ROLE else None
    priced = spent if spent and spent.cost is not None else NO_USAGE_BY_ROLE
    return Trial(
        id="" if attempt.outcome == "pass" and attempt.execution == "completed" else attempt.id,
        case=attempt.case,
        index=attempt.index,
        session=attempt.session or 0,
        position=attempt.position,
        execution=attempt.execution,
        measurement=attempt.measurement,
        outcome=attempt.outcome,
        failed=attempt.failed_checks if attempt.checks else (),
        reported=attempt.reported,
        reported_counted=attempt.reported_counted,
        cost=priced.cost,
        subject_cost=priced.subject.cost,
        judge_cost=priced.judge.cost,
        simulator_cost=priced.simulator.cost,
        error=first.message if first else "",
        error_type=first.type if first else "",
        timed_out=attempt.execution == "limit" and limit in _TIME_LIMITS,
        served=bool(spent and spent.subject.tokens),
        is_failure=attempt.is_failure,
        owner=attribution.owner if attribution else "",
        signal=attribution.decided_by if attribution else "",
        presumed=verdict is None and attribution is not None and attribution.proof == "presumed",
        broken=attempt.id in opinions.broken,
        verdict=verdict.owner if verdict else "",
        known_gap=verdict is not None and verdict.label == KNOWN_GAP,
        reviewed=opinions.is_reviewed(attempt.id),
    )


class AlikeTrials:
    """Trials of attempts that are alike: made once for all that got the same attribution.

    Attempts at one case that no policy lists are even one trial, which then comes several times.
    """

    def __init__(self, run: Run, opinions: Opinions) -> None:
        self._opinions = opinions
        self._has_headline = any(reported.headline for reported in run.reported)
        self._kinds: dict[AlikeKind, tuple[Trial, dict[str, Trial] | None]] = {}
        """The first trial of each kind, and where they may be shared, the trial of each case."""

    def of(self, each: AlikeAttempt, kind: AlikeKind) -> tuple[Trial, bool]:
        """The trial, and whether all attempts of its kind at this case are this one."""
        known = self._kinds.get(kind)
        if known is None:
            known = self._kinds[kind] = self._kind_of(each)
        first, by_case = known
        if by_case is None:
            return _like(first, each.id, each), False
        trial = by_case.get(each.case)
        if trial is None:
            trial = by_case[each.case] = _like(first, "", each)
        return trial, True

    def _kind_of(self, each: AlikeAttempt) -> tuple[Trial, dict[str, Trial] | None]:
        attempt = each.attempt
        same = msgspec.structs.replace(attempt, id=each.id or attempt.id, case=each.case, index=each.number)
        first = trial_of(same, self._opinions)
        is_listed = self._has_headline and not first.reported_counted
        return first, {} if first.is_plain and not is_listed else None


def _like(first: Trial, own_id: str, each: AlikeAttempt) -> Trial:
    return msgspec.structs.replace(first, id=own_id, case=each.case, index=each.number)


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
        self._opinions, self._alike = opinions, AlikeTrials(run, opinions)
        for attempt in attempts:
            if attempt.parent is None:
                self._keep(trial_of(attempt, opinions), attempt, attempt.case, attempt.index)

    @property
    def tells_cases(self) -> bool:
        """Attempts at one case are correlated, whether they are in several runs or in one."""
        return self.to_pool or self.repeated

    def add(self, each: AlikeAttempt) -> bool:
        """Attempts that are not themselves only where nobody has reviewed any. Whether those like it may come together.

        Attempts at one case of a kind that no policy lists are one trial.
        """
        if each.attempt.parent is not None:
            return False
        if each.kind is None:
            trial, is_shared = trial_of(each.attempt, self._opinions), False
        else:
            trial, is_shared = self._alike.of(each, each.kind)
        self._keep(trial, each.attempt, each.case, each.number, each.often)
        return is_shared

    def _keep(self, trial: Trial, attempt: Attempt, case: str, number: int, often: int = 1) -> None:
        home = self.counted if attempt.superseded_by is None else self.earlier
        tries = home.get(case)
        if tries is None:
            home[case] = [trial] * often
        elif often == 1:
            tries.append(trial)
        else:
            tries += [trial] * often
        if not self.repeated and number > 1:
            self.repeated = attempt.superseded_by is None and attempt.duplicate_of is None

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

    @cached_property
    def distinct(self) -> list[tuple[Trial, int]]:
        """Each trial with how often it comes: attempts at a case that are alike may be one."""
        often, trials = Counter(map(id, self.rows)), {id(one): one for one in self.rows}
        return [(trial, often[key]) for key, trial in trials.items()]

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
        return sum(often for one, often in self.distinct if one.reported_counted and one.reported is not None)

    @cached_property
    def units(self) -> list[list[Trial]]:
        """What is counted one by one: cases, or attempts where a case was tried several times."""
        return [[one] for one in self.rows] if self.repeated else list(self.counted.values())

    @cached_property
    def counted_units(self) -> list[tuple[list[Trial], int]]:
        """The same, with how often each comes."""
        if not self.repeated:
            return [(tries, 1) for tries in self.counted.values()]
        return [([trial], often) for trial, often in self.distinct]

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
        executions: Counter[str] = Counter()
        for trial, often in self.distinct:
            executions[trial.execution] += often
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
        unscored = [each for each in self.distinct if each[0].measurement == "unscored"]
        empty = sum(often for one, often in unscored if one.execution == "completed")
        known = self._passes_in_rows + (self.passes_without_rows or 0)
        return min(max(0, self.run.harness_passes - known), empty)

    @cached_property
    def _passes_in_rows(self) -> int:
        """Rows that the harness counts as passed."""
        return sum(often for one, often in self.distinct if one.passes_by_harness)

    @cached_property
    def unjudged(self) -> bool:
        """Something was made, and nobody has scored any of it."""
        if self._whole is not None:
            return self._whole.unjudged
        made = any(one.execution == "completed" for one, _ in self.distinct)
        return made and all(one.measurement == "not_run" for one, _ in self.distinct)

    @cached_property
    def unread(self) -> bool:
        """Something failed in this run, and nobody has read any of it."""
        if self._whole is not None:
            return self._whole.unread
        failures = [one for one, _ in self.distinct if one.is_failure]
        return bool(failures) and not any(one.verdict for one in failures)

    @cached_property
    def unavailable(self) -> bool:
        """Every attempt of the run ended in one and the same error before the subject was reached."""
        if self._whole is not None:
            return self._whole.unavailable
        made = [each for each in self.distinct if each[0].execution not in NEVER_MADE]
        down = all(one.execution == "error" and one.outcome == "none" and not one.served for one, _ in made)
        is_one = down and len({one.error for one, _ in made}) == 1 and bool(made[0][0].error)
        return is_one and sum(often for _, often in made) >= FEW
