"""What the score is, under each policy: how attempts are counted, and what is left out and why."""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal

import msgspec

from errata.compare.intervals import wilson
from errata.model import Attempt, Attribution, Run

Policy = Literal["strict", "as_reported", "clean", "reviewed"]
NOT_THE_SUBJECTS = frozenset(("provider", "environment", "harness", "simulator", "collateral"))
TOLERANCE = 0.005
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


class Tried(msgspec.Struct, frozen=True):
    """An attempt and what triage said of it."""

    attempt: Attempt
    owner: str = ""
    broken: bool = False

    @property
    def measured(self) -> bool:
        return self.attempt.measurement == "scored" and not self.broken and self.owner not in NOT_THE_SUBJECTS


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
            if attempt.parent is not None:
                continue
            said = attributions.get(attempt.id)
            tried = Tried(attempt, said.owner if said else "", attempt.id in broken)
            (self.counted if attempt.counted else self.earlier).setdefault(attempt.case, []).append(tried)
            self.repeated = self.repeated or (attempt.counted and attempt.index > 1 and attempt.duplicate_of is None)

    @property
    def units(self) -> list[list[Tried]]:
        """What is counted one by one: cases, or attempts where a case was tried several times."""
        if not self.repeated:
            return list(self.counted.values())
        return [[tried] for tries in self.counted.values() for tried in tries]

    @property
    def unavailable(self) -> bool:
        tries = [tried for tries in self.counted.values() for tried in tries]
        made = [tried for tried in tries if tried.attempt.execution not in NEVER_MADE]
        errors = {tried.attempt.errors[0].message for tried in made if tried.attempt.errors}
        return len(made) >= 3 and len(errors) == 1 and all(_never_served(tried) for tried in made)


def strict(trials: Trials) -> Score:
    """Every expected case; anything but a pass counts nothing, contradictory duplicates too."""
    units = trials.units
    absent = 0
    if not trials.repeated and trials.run.expected_cases:
        absent = max(0, trials.run.expected_cases - len(units))
    return Score(policy="strict", passed=sum(map(_passes, units)), total=len(units) + absent)


def as_reported(trials: Trials) -> Score:
    """The harness's own number, recomputed its own way."""
    headline = next((one for one in trials.run.reported if one.headline), None)
    counted = [tried for tries in trials.counted.values() for tried in tries if tried.attempt.reported_counted]
    if headline is None or not counted:
        return Score(policy="as_reported", note="the harness gives no headline number")
    passed = sum(tried.attempt.outcome == "pass" for tried in counted)
    note = "the harness's own rule, reproduced"
    if headline.value is not None and headline.metric in ("pass_rate", "mean", "accuracy"):
        values = [tried.attempt.reported for tried in counted]
        known = [value for value in values if value is not None]
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
            stand_in = _latest_measured(trials.earlier.get(unit[0].attempt.case, []))
            if stand_in is None:
                left_out[reason] += 1
                continue
            chosen = [stand_in]
            recovered.append(unit[0].attempt.case)
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
    return all(tried.attempt.outcome == "pass" for tried in unit)


def _left_out(unit: list[Tried]) -> str:
    """Why a case says nothing about the subject; empty where it does."""
    first = unit[0]
    if first.attempt.execution in NEVER_MADE:
        return first.attempt.execution
    if len({(tried.attempt.outcome, tried.attempt.failed_checks) for tried in unit}) > 1:
        return "contradictory"
    if first.owner in NOT_THE_SUBJECTS:
        return first.owner
    if first.broken or first.attempt.measurement in ("error", "unscored"):
        return "not measured"
    return "not run" if first.attempt.measurement == "not_run" else ""


def _latest_measured(earlier: list[Tried]) -> Tried | None:
    measured = [tried for tried in earlier if tried.measured]
    return max(measured, key=lambda tried: (tried.attempt.session or 0, tried.attempt.index), default=None)


def _never_served(tried: Tried) -> bool:
    attempt = tried.attempt
    return attempt.execution == "error" and attempt.outcome == "none" and not attempt.usage.subject.tokens
