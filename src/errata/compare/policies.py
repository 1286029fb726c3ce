"""What the score is, under each policy: how attempts are counted, and what is left out and why."""

from collections import Counter
from collections.abc import Callable, Container, Iterable
from typing import Literal

import msgspec

from errata.compare.intervals import wilson
from errata.model import Attempt, Attribution, Run

Policy = Literal["strict", "as_reported", "clean", "reviewed"]
NOT_THE_SUBJECTS = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
TOLERANCE = 0.005
FEW = 3
NEVER_MADE = frozenset(("missing", "unfinished", "skipped"))


class Score(msgspec.Struct, frozen=True, kw_only=True):
    policy: Policy
    passed: int = 0
    total: int = 0
    left_out: dict[str, int] = {}
    """Why → how many cases."""
    recovered: tuple[str, ...] = ()
    """Cases whose result was taken from an earlier session."""
    note: str = ""

    @property
    def rate(self) -> float | None:
        return self.passed / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson(self.passed, self.total)

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The rate if everything left out had failed, and if it had passed."""
        out = sum(self.left_out.values())
        whole = self.total + out
        return (self.passed / whole, (self.passed + out) / whole) if whole else None


class Tried(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a policy needs to know of an attempt; a run may have a million of them."""

    case: str
    index: int
    session: int
    execution: str
    measurement: str
    outcome: str
    failed: tuple[str, ...]
    reported: float | None
    reported_counted: bool | None
    error: str
    served: bool
    """Whether the subject was reached at all."""
    owner: str = ""
    broken: bool = False

    @property
    def measured(self) -> bool:
        return self.measurement == "scored" and not self.broken and self.owner not in NOT_THE_SUBJECTS


def tried(attempt: Attempt, owner: str = "", *, broken: bool = False) -> Tried:
    return Tried(
        case=attempt.case,
        index=attempt.index,
        session=attempt.session or 0,
        execution=attempt.execution,
        measurement=attempt.measurement,
        outcome=attempt.outcome,
        failed=attempt.failed_checks,
        reported=attempt.reported,
        reported_counted=attempt.reported_counted,
        error=attempt.errors[0].message if attempt.errors else "",
        served=bool(attempt.usage.subject.tokens),
        owner=owner,
        broken=broken,
    )


class Trials:
    """A run's attempts, by case, in the form that every policy needs."""

    def __init__(
        self, run: Run, attempts: Iterable[Attempt], attributions: dict[str, Attribution], broken: set[str]
    ) -> None:
        self.run = run
        self.counted: dict[str, list[Tried]] = {}
        self.earlier: dict[str, list[Tried]] = {}
        self.repeated = False
        for attempt in attempts:
            self._add(attempt, attributions.get(attempt.id), broken)

    def _add(self, attempt: Attempt, said: Attribution | None, broken: set[str]) -> None:
        if attempt.parent is not None:
            return
        one = tried(attempt, said.owner if said else "", broken=attempt.id in broken)
        (self.counted if attempt.counted else self.earlier).setdefault(attempt.case, []).append(one)
        self.repeated = self.repeated or (attempt.counted and attempt.index > 1 and attempt.duplicate_of is None)

    def only(self, cases: Container[str]) -> "Trials":
        """The part of them that belongs to some cases."""
        part = Trials(msgspec.structs.replace(self.run, expected_cases=None), (), {}, set())
        part.counted = {case: tries for case, tries in self.counted.items() if case in cases}
        part.earlier = {case: tries for case, tries in self.earlier.items() if case in cases}
        part.repeated = self.repeated
        return part

    @property
    def units(self) -> list[list[Tried]]:
        """What is counted one by one: cases, or attempts where a case was tried several times."""
        if not self.repeated:
            return list(self.counted.values())
        return [[one] for tries in self.counted.values() for one in tries]

    @property
    def unavailable(self) -> bool:
        """Every attempt ended in one and the same error before the subject was reached."""
        made = [one for tries in self.counted.values() for one in tries if one.execution not in NEVER_MADE]
        down = all(one.execution == "error" and one.outcome == "none" and not one.served for one in made)
        return len(made) >= FEW and down and len({one.error for one in made}) == 1 and bool(made[0].error)


def strict(trials: Trials) -> Score:
    """Every expected case; anything but a pass counts nothing, contradictory duplicates too."""
    units = trials.units
    if all(unit[0].execution == "missing" for unit in units):
        return Score(policy="strict", note="the log holds not one attempt")
    absent = 0
    if not trials.repeated and trials.run.expected_cases:
        absent = max(0, trials.run.expected_cases - len(units))
    return Score(policy="strict", passed=sum(map(_passes, units)), total=len(units) + absent)


def as_reported(trials: Trials) -> Score:
    """The harness's own number, recomputed its own way."""
    headline = next((one for one in trials.run.reported if one.headline), None)
    counted = [one for tries in trials.counted.values() for one in tries if one.reported_counted]
    if headline is not None and headline.value is not None and not counted:
        return Score(
            policy="as_reported", note=f"the harness says {headline.value:.4g}; no row here to recount it from"
        )
    if headline is None or not counted:
        return Score(policy="as_reported", note="the harness gives no headline number")
    passed = sum(one.outcome == "pass" for one in counted)
    note = "the harness's own rule, reproduced"
    if headline.value is not None and headline.metric in ("pass_rate", "mean", "accuracy"):
        known = [one.reported for one in counted if one.reported is not None]
        mean = sum(known) / len(known) if known and headline.metric != "pass_rate" else passed / len(counted)
        note = note if abs(headline.value - mean) < TOLERANCE else f"the harness itself says {headline.value:.4g}"
    out = sum(len(tries) for tries in trials.counted.values()) - len(counted)
    left_out = {"not counted by the harness": out} if out else {}
    return Score(policy="as_reported", passed=passed, total=len(counted), left_out=left_out, note=note)


def clean(trials: Trials) -> Score:
    """Without what says nothing about the subject; an earlier measured session stands in for an unmeasured one."""
    if trials.unavailable:
        return Score(policy="clean", note="unavailable: this run says nothing about its subject")
    left_out: Counter[str] = Counter()
    recovered = []
    passed = total = 0
    for unit in trials.units:
        reason = _left_out(unit)
        chosen = unit
        if reason:
            stand_in = _latest_measured(trials.earlier.get(unit[0].case, []))
            if stand_in is None:
                left_out[reason] += 1
                continue
            chosen = [stand_in]
            recovered.append(unit[0].case)
        total += 1
        passed += _passes(chosen)
    return Score(policy="clean", passed=passed, total=total, left_out=dict(left_out), recovered=tuple(recovered))


def reviewed(_trials: Trials) -> Score:
    return Score(policy="reviewed", note="nothing was reviewed yet")


POLICIES: dict[Policy, Callable[[Trials], Score]] = {
    "strict": strict,
    "as_reported": as_reported,
    "clean": clean,
    "reviewed": reviewed,
}


def _passes(unit: list[Tried]) -> bool:
    return all(one.outcome == "pass" for one in unit)


def _left_out(unit: list[Tried]) -> str:
    """Why a case says nothing about the subject; empty where it does."""
    first = unit[0]
    if first.execution in NEVER_MADE:
        return first.execution
    if len({(one.outcome, one.failed) for one in unit}) > 1:
        return "contradictory"
    if first.owner in NOT_THE_SUBJECTS:
        return first.owner
    if first.broken or first.measurement in ("error", "unscored"):
        return "not measured"
    return "not run" if first.measurement == "not_run" else ""


def _latest_measured(earlier: list[Tried]) -> Tried | None:
    measured = [one for one in earlier if one.measured]
    return max(measured, key=lambda one: (one.session, one.index), default=None)
