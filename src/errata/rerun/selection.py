"""Which attempts of a run are to be repeated, the commands that would do it, and what they would cost."""

from collections.abc import Iterator, Mapping
from typing import Protocol

import msgspec

from errata import rerun
from errata.model import Attempt, Run, StoredRun
from errata.model.run import case_name
from errata.rerun.wanting import ASKED_FOR, NOTHING_SAID, Said, broke, want, wanted

CONTRADICTORY = "contradictory"


class CountedAttempts(Protocol):
    """The counted attempts of a run in their order; of one case, where it is named."""

    def __call__(self, *, case: str = "") -> Iterator[Attempt]: ...


class Estimate(msgspec.Struct, frozen=True):
    """What repeating would cost, if an attempt costs what the measured ones of this run did."""

    total: float
    each: float
    basis: int
    """How many measured attempts have a known cost."""


class Rerun(msgspec.Struct, frozen=True, kw_only=True):
    stored: StoredRun
    plan: rerun.Plan
    attempts: int
    """How many are to be repeated."""
    estimate: Estimate | None
    """None where the log tells no cost; that is not zero."""


def select_rerun(
    stored: StoredRun, attempts: CountedAttempts, triaged: Mapping[str, Said], choice: rerun.Choice
) -> Rerun:
    """`triaged` is what triage says of each failed attempt."""
    selection = _Selection(stored.run, attempts, triaged, choice)
    plan = rerun.plan_for(rerun.Request(stored.run, selection.wanted, selection.others))
    commanded = sum(len(command.wanted) + command.also for command in plan.commands)
    return Rerun(stored=stored, plan=plan, attempts=len(selection.wanted), estimate=selection.estimate(commanded))


class _Selection:
    """One pass over the counted attempts: what is to be repeated, and what the rest would cost or bring along."""

    def __init__(self, run: Run, attempts: CountedAttempts, triaged: Mapping[str, Said], choice: rerun.Choice) -> None:
        self._run, self._attempts, self._triaged, self._choice = run, attempts, triaged, choice
        self.wanted: list[rerun.Wanted] = []
        self.others = rerun.Others()
        self._spent, self._priced = 0.0, 0
        self._doubled: dict[str, None] = {}
        self._passed: dict[str, list[rerun.Wanted]] = {}
        for attempt in attempts():
            self._add(attempt, triaged.get(attempt.id, NOTHING_SAID))
        for case in self._doubled:
            self._add_contradictions(case)
        self._add_passed()

    def _add(self, attempt: Attempt, said: Said) -> None:
        found = want(attempt, self._name(attempt), said, self._choice)
        if found is not None:
            self.wanted.append(found)
            return
        if attempt.duplicate_of is not None:
            self._doubled[attempt.case] = None
            return
        self._leave(attempt, said)

    def _leave(self, attempt: Attempt, said: Said) -> None:
        self.others.broke += broke(attempt)
        self.others.statuses[attempt.native_status] += 1
        cost = attempt.usage.cost
        if cost is not None and attempt.measurement == "scored" and not said.broken:
            self._spent, self._priced = self._spent + cost, self._priced + 1
        cases = self._choice.cases
        if cases is not None and attempt.case in cases and not self._choice.only_owners:
            again = wanted(attempt, self._name(attempt), ASKED_FOR)
            self._passed.setdefault(attempt.case, []).append(again)

    def _add_contradictions(self, case: str) -> None:
        """Rows of one and the same try that disagree: nobody knows what it came to."""
        if self._choice.only_owners or (self._choice.cases is not None and case not in self._choice.cases):
            return
        rows: dict[str, list[Attempt]] = {}
        for attempt in self._attempts(case=case):
            rows.setdefault(attempt.duplicate_of or attempt.id, []).append(attempt)
        for name, same in rows.items():
            differ = len({(one.outcome, one.failed_checks) for one in same}) > 1
            first = next((one for one in same if one.id == name), None)
            if differ and first is not None:
                taken = want(first, self._name(first), self._triaged.get(name, NOTHING_SAID), self._choice)
                self.wanted += [] if taken else [wanted(first, self._name(first), CONTRADICTORY)]

    def _add_passed(self) -> None:
        """Who asks for a case that was passed wants all of its attempts."""
        names = {one.case for one in self.wanted} if self._passed else set()
        for passed in self._passed.values():
            self.wanted += passed if passed[0].case not in names else []

    def estimate(self, attempts: int) -> Estimate | None:
        if not self._priced or not attempts:
            return None
        each = self._spent / self._priced
        return Estimate(attempts * each, each, self._priced)

    def _name(self, attempt: Attempt) -> str:
        return case_name(self._run, attempt.case)
