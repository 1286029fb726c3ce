"""The verb `rerun`: which attempts of a run are to be repeated, and the commands of its harness that would do it."""

from collections.abc import Iterable, Mapping

import msgspec

from errata import rerun
from errata.errors import NotFoundError
from errata.model import Attempt, StoredRun
from errata.model.run import case_name
from errata.model.words import NOT_THE_SUBJECTS
from errata.rerun.wanting import ASKED_FOR, NOTHING_SAID, Said, broke, want, wanted
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import attempts_of
from errata.store.attributions import each_attribution
from errata.store.database import Store
from errata.text.nearest import did_you_mean

CONTRADICTORY = "contradictory"


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


def plan_rerun(stored: StoredRun, store: Store, *, cases: Iterable[str] = (), owners: Iterable[str] = ()) -> Rerun:
    triage_if_needed(stored, store)
    keys = frozenset(_key_of(case, stored, store) for case in cases)
    chosen = frozenset(owners)
    choice = rerun.Choice(owners=chosen or NOT_THE_SUBJECTS, only_owners=bool(chosen), cases=keys or None)
    sorted_out = _Sorted(stored, store, choice)
    plan = rerun.plan_for(rerun.Request(stored.run, sorted_out.wanted, sorted_out.others))
    commanded = sum(len(command.wanted) + command.also for command in plan.commands)
    return Rerun(stored=stored, plan=plan, attempts=len(sorted_out.wanted), estimate=sorted_out.estimate(commanded))


def _key_of(case: str, stored: StoredRun, store: Store) -> str:
    """A case by its name or its key."""
    run = stored.run
    for key in (case, f"{run.suite}/{case}"):
        if next(attempts_of(store, stored.pk, counted=True, case=key), None) is not None:
            return key
    names = (case_name(run, attempt.case) for attempt in attempts_of(store, stored.pk, counted=True))
    meant = did_you_mean(case, dict.fromkeys(names))
    raise NotFoundError(
        f"Run `{run.native_id}` has no case `{case}`",
        hint=meant or f"`errata failures {run.id}` lists those that failed",
    )


class _Sorted:
    """One pass over the counted attempts: what is to be repeated, and what the rest would cost or bring along."""

    def __init__(self, stored: StoredRun, store: Store, choice: rerun.Choice) -> None:
        self._stored, self._store, self._choice = stored, store, choice
        self.wanted: list[rerun.Wanted] = []
        self.others = rerun.Others()
        self._spent, self._priced = 0.0, 0
        self._doubled: dict[str, None] = {}
        self._passed: dict[str, list[rerun.Wanted]] = {}
        said = {
            one.attempt: Said(one.owner, one.decided_by, breaks) for one, breaks in each_attribution(store, stored.pk)
        }
        for attempt in attempts_of(store, stored.pk, counted=True, by_position=True):
            self._add(attempt, said.get(attempt.id, NOTHING_SAID))
        for case in self._doubled:
            self._add_contradictions(case, said)
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

    def _add_contradictions(self, case: str, said: Mapping[str, Said]) -> None:
        """Rows of one and the same try that disagree: nobody knows what it came to."""
        if self._choice.only_owners or (self._choice.cases is not None and case not in self._choice.cases):
            return
        rows: dict[str, list[Attempt]] = {}
        for attempt in attempts_of(self._store, self._stored.pk, counted=True, case=case):
            rows.setdefault(attempt.duplicate_of or attempt.id, []).append(attempt)
        for name, same in rows.items():
            differ = len({(one.outcome, one.failed_checks) for one in same}) > 1
            first = next((one for one in same if one.id == name), None)
            if differ and first is not None:
                taken = want(first, self._name(first), said.get(name, NOTHING_SAID), self._choice)
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
        return case_name(self._stored.run, attempt.case)
