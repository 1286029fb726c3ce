"""Which attempts of a run to repeat: failures the model did not cause, and attempts never made. And at what cost."""

from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple, Protocol

from errata.model import Attempt, Run, StoredRun
from errata.model.output.act import RerunCost
from errata.model.record import Struct
from errata.model.run import case_name
from errata.rerun import plan_for
from errata.rerun.plan import NEVER_MADE, NOT_JUDGED, Others, RerunAttempt, RerunPlan, RerunRequest

NOT_MEASURED = "not measured"
ASKED_FOR = "asked for"
CONTRADICTORY = "contradictory"
VERDICT = "verdict"
"""In place of a rule's name where a reviewer decided."""


class TriagedFailure(NamedTuple):
    """What decides about a rerun of a failure: its verdict if that counts, else its triage."""

    owner: str = ""
    signal: str = ""
    broken: bool = False
    """The measurement is at fault, not the answer."""


NOT_TRIAGED = TriagedFailure()


class RerunChoice(Struct):
    owners: Container[str]
    """Repeat failures of these owners."""
    only_owners: bool = False
    """Repeat nothing else: no attempts that were never made or not measured."""
    cases: frozenset[str] | None = None
    """Keys of the only cases to consider, whoever owns their failures."""
    recovered: Container[str] = ()
    """Keys of cases whose result comes from an earlier session: measured, so not repeated unless asked for."""
    judges_later: bool = False
    """The harness judges in a command of its own, so that what was not judged can be made up for."""


class CountedAttempts(Protocol):
    """The counted attempts of a run in their order; of a single case if one is given."""

    def __call__(self, *, case: str = "") -> Iterator[Attempt]: ...


class Rerun(Struct):
    stored: StoredRun
    plan: RerunPlan
    attempts: int
    """How many to repeat."""
    recovered: tuple[str, ...] = ()
    """Cases that are not repeated, because an earlier session measured them."""
    estimate: RerunCost | None
    """None if the log has no costs; that is not zero."""


def select_rerun(
    stored: StoredRun, attempts: CountedAttempts, triaged: Mapping[str, TriagedFailure], choice: RerunChoice
) -> Rerun:
    selection = _Selection(stored.run, attempts, triaged, choice)
    plan = plan_for(RerunRequest(stored.run, selection.attempts, selection.others))
    commanded = sum(len(command.attempts) + command.also for command in plan.commands)
    return Rerun(
        stored=stored,
        plan=plan,
        attempts=len(selection.attempts),
        recovered=tuple(selection.recovered),
        estimate=selection.estimate(commanded),
    )


def rerun_if_chosen(attempt: Attempt, name: str, triage: TriagedFailure, choice: RerunChoice) -> RerunAttempt | None:
    """The attempt with the reason to repeat it; none if it is not repeated."""
    reason = _reason(attempt, triage, choice)
    return None if reason is None else rerun_attempt(attempt, name, *reason)


def rerun_attempt(attempt: Attempt, name: str, why: str, signal: str = "") -> RerunAttempt:
    return RerunAttempt(
        case=name,
        index=attempt.index,
        why=why,
        signal=signal,
        execution=attempt.execution,
        native_status=attempt.native_status,
        broke=broke(attempt),
    )


def broke(attempt: Attempt) -> bool:
    """It was never made, or its harness reports it as an error."""
    ended = attempt.execution in NEVER_MADE or attempt.execution in ("error", "cancelled")
    return ended or attempt.measurement == "error" or attempt.invalidated is not None


def _reason(attempt: Attempt, triage: TriagedFailure, choice: RerunChoice) -> tuple[str, str] | None:
    if attempt.duplicate_of is not None or (choice.cases is not None and attempt.case not in choice.cases):
        return None
    if triage.owner in choice.owners:
        return triage.owner, triage.signal
    if choice.only_owners:
        return None
    if attempt.execution in NEVER_MADE:
        return attempt.execution, ""
    if triage.broken or attempt.measurement in ("error", "unscored"):
        return NOT_MEASURED, triage.signal
    if choice.judges_later and attempt.execution == "completed" and attempt.measurement == "not_run":
        return NOT_JUDGED, ""
    if choice.cases is not None and attempt.outcome != "pass":
        return triage.owner or ASKED_FOR, triage.signal
    return None


class _Selection:
    """One pass over the counted attempts: which to repeat, and the costs and statuses of the others."""

    def __init__(
        self, run: Run, attempts: CountedAttempts, triaged: Mapping[str, TriagedFailure], choice: RerunChoice
    ) -> None:
        self._run, self._counted, self._triaged, self._choice = run, attempts, triaged, choice
        self.attempts: list[RerunAttempt] = []
        self.others = Others()
        self._spent, self._priced = 0.0, 0
        self._duplicated: dict[str, None] = {}
        self._passed: dict[str, list[RerunAttempt]] = {}
        self.recovered: dict[str, None] = {}
        for attempt in attempts():
            self._add(attempt, triaged.get(attempt.id, NOT_TRIAGED))
        for case in self._duplicated:
            self._add_contradictions(case)
        self._add_passed()

    def _add(self, attempt: Attempt, triage: TriagedFailure) -> None:
        chosen = rerun_if_chosen(attempt, self._name(attempt), triage, self._choice)
        if chosen is not None and self._is_known(attempt):
            self.recovered[self._name(attempt)] = None
            self._leave(attempt, triage)
            return
        if chosen is not None:
            self.attempts.append(chosen)
            return
        if attempt.duplicate_of is not None:
            self._duplicated[attempt.case] = None
            return
        self._leave(attempt, triage)

    def _is_known(self, attempt: Attempt) -> bool:
        asked = self._choice.only_owners or self._choice.cases is not None
        return not asked and attempt.case in self._choice.recovered

    def _leave(self, attempt: Attempt, triage: TriagedFailure) -> None:
        self.others.broke += broke(attempt)
        self.others.scored += attempt.measurement == "scored"
        self.others.statuses[attempt.native_status] += 1
        cost = attempt.usage.cost
        if cost is not None and attempt.measurement == "scored" and not triage.broken:
            self._spent, self._priced = self._spent + cost, self._priced + 1
        cases = self._choice.cases
        if cases is not None and attempt.case in cases and not self._choice.only_owners:
            again = rerun_attempt(attempt, self._name(attempt), ASKED_FOR)
            self._passed.setdefault(attempt.case, []).append(again)

    def _add_contradictions(self, case: str) -> None:
        """Rows of the same attempt that disagree: its outcome is unknown."""
        if self._choice.only_owners or (self._choice.cases is not None and case not in self._choice.cases):
            return
        rows: dict[str, list[Attempt]] = {}
        for attempt in self._counted(case=case):
            rows.setdefault(attempt.duplicate_of or attempt.id, []).append(attempt)
        for name, same in rows.items():
            differ = len({(row.outcome, row.failed_checks) for row in same}) > 1
            first = next((row for row in same if row.id == name), None)
            if differ and first is not None:
                triage = self._triaged.get(name, NOT_TRIAGED)
                is_chosen = rerun_if_chosen(first, self._name(first), triage, self._choice) is not None
                self.attempts += [] if is_chosen else [rerun_attempt(first, self._name(first), CONTRADICTORY)]

    def _add_passed(self) -> None:
        """If the user names a case that passed, repeat all of its attempts."""
        names = {attempt.case for attempt in self.attempts} if self._passed else set()
        for passed in self._passed.values():
            self.attempts += passed if passed[0].case not in names else []

    def estimate(self, attempts: int) -> RerunCost | None:
        if not self._priced or not attempts:
            return None
        each = self._spent / self._priced
        return RerunCost(total=attempts * each, each=each, basis=self._priced)

    def _name(self, attempt: Attempt) -> str:
        return case_name(self._run, attempt.case)
