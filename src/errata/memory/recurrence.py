"""What repeats: which failures of a run earlier reports name, and what was done about them in the meantime."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from errata.memory.effects import Effect, RunOutcomes, effects
from errata.memory.reading.drafts import is_gap
from errata.memory.spelling import CaseNames, same_model, same_run
from errata.model import Action, Run
from errata.model.prior_report import PriorReport
from errata.model.times import moment_of

DAY = len("2026-03-04")
SHORT_PREFIX = 4
"""So few characters of an id name a run only together with its day."""


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """What one earlier report says of a case."""

    report: str
    line: int | None = None
    date: str = ""
    run: str = ""
    model: str = ""
    label: str = ""
    by_rule: bool = False
    """Whether nobody has read the failure that errata called a gap there."""
    failed_check: str = ""
    text: str = ""


class FailedRun(msgspec.Struct, frozen=True, kw_only=True):
    """Another run of the store in which the same case failed."""

    run: str
    run_id: str
    at: str = ""
    model: str = ""


class Before(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a case from before a run; newest first."""

    reports: tuple[Mention, ...] = ()
    runs: tuple[FailedRun, ...] = ()
    actions: tuple[Effect, ...] = ()
    """What was done about the case, whenever that was, and what this run shows of it."""
    others: tuple[Mention, ...] = ()
    """What reports about other models say of it."""
    other_runs: tuple[FailedRun, ...] = ()
    """Other models that fail it."""

    def as_json(self) -> dict[str, Any]:
        return {
            "is_repeat": self.is_repeat,
            "reports": self.reports,
            "runs": self.runs,
            "should_be_gone": self.should_be_gone,
            "actions": [effect_as_json(one) for one in self.actions],
            "other_models": {"reports": self.others, "runs": self.other_runs},
        }

    @property
    def is_repeat(self) -> bool:
        return bool(self.reports or self.runs)

    @property
    def should_be_gone(self) -> bool:
        return bool(self.due)

    @property
    def due(self) -> tuple[Effect, ...]:
        """What was done about it after it had failed and before this run: it should have resolved it, and did not."""
        return tuple(one for one in self.actions if one.worked == "no")


class Shelved(msgspec.Struct, frozen=True, kw_only=True):
    """Reports by what they are to a run; newest first."""

    same_model: tuple[PriorReport, ...] = ()
    others: tuple[PriorReport, ...] = ()
    own: tuple[PriorReport, ...] = ()
    """About this very run."""
    later: tuple[PriorReport, ...] = ()
    undated: tuple[PriorReport, ...] = ()
    """Nobody can say whether they came before."""

    @property
    def all(self) -> tuple[PriorReport, ...]:
        return (*self.same_model, *self.others, *self.own, *self.later, *self.undated)


def sort_out(reports: Iterable[PriorReport], run: Run, *, began: str, runs: Sequence[Run] = ()) -> Shelved:
    """`began` is when the run did; of `runs`, others, it is known when they did and of which suite they are."""
    found: dict[str, list[PriorReport]] = {"same_model": [], "others": [], "own": [], "later": [], "undated": []}
    known = _by_beginning(runs)
    for report in sorted(reports, key=lambda one: one.date, reverse=True):
        near = [one for written in runs_of(report) for one in known.get(_beginning(written), ())]
        its_run = next((one for one in near if is_about(report, one)), None)
        if its_run is not None and its_run.suite != run.suite:
            continue
        found[_what_it_is(report, its_run, run, began)].append(report)
    return Shelved(**{kind: tuple(some) for kind, some in found.items()})


def _by_beginning(runs: Iterable[Run]) -> dict[str, list[Run]]:
    found: dict[str, list[Run]] = {}
    for run in runs:
        names = (*_names_of(run), run.native_id.rpartition("_")[2])
        for beginning in {_beginning(name) for name in names if name}:
            found.setdefault(beginning, []).append(run)
    return found


def _beginning(name: str) -> str:
    return name.strip()[:SHORT_PREFIX].casefold()


def _names_of(run: Run) -> tuple[str, ...]:
    return (run.native_id, run.external_id, run.id, run.name)


def _what_it_is(report: PriorReport, its_run: Run | None, run: Run, began: str) -> str:
    if is_about(report, run):
        return "own"
    known = its_run.started_at if its_run is not None else None
    if not report.date and not known:
        return "undated"
    # on the same day the report may have come first or last; the start of its run tells, where that is known
    earlier = "" < report.date < began[:DAY] or (known is not None and moment_of(known) < moment_of(began))
    if not earlier:
        return "later"
    model = report.model or (its_run.subject.model if its_run is not None else "")
    return "same_model" if same_model(model, run.subject.model, providers=(run.subject.provider,)) else "others"


def is_about(report: PriorReport, run: Run) -> bool:
    """By its id, the beginning of it, or the tail by which people call it; a report may be about several runs."""
    return any(_is_called(written, report.date, run) for written in runs_of(report))


def runs_of(report: PriorReport) -> list[str]:
    return [written.strip() for written in report.run.split(",") if written.strip()]


def _is_called(written: str, date: str, run: Run) -> bool:
    if same_run(written, *_names_of(run)) or (len(written) >= SHORT_PREFIX and run.native_id.endswith(f"_{written}")):
        return True
    short = len(written) >= SHORT_PREFIX and run.native_id.startswith(written)
    return short and date == (run.started_at or "")[:DAY]


class Named(msgspec.Struct, frozen=True):
    """The cases of a run that reports name as failed."""

    cases: dict[str, tuple[Mention, ...]]
    ambiguous: tuple[tuple[Mention, tuple[str, ...]], ...] = ()
    """A name, in the mention's text, that fits several cases: none of them is taken for meant."""


def mentions(reports: Iterable[PriorReport], names: CaseNames) -> Named:
    found: dict[str, list[Mention]] = {}
    ambiguous = []
    for report in reports:
        for failure, keys in ((one, names.find(one.case)) for one in report.failures):
            told = Mention(
                report=report.path,
                line=failure.ref.line if failure.ref else None,
                date=report.date,
                run=report.run,
                model=report.model,
                label=failure.label,
                by_rule=report.own and is_gap(failure.label) and failure.case not in report.gaps,
                failed_check=failure.failed_check,
                text=failure.reasoning,
            )
            if len(keys) == 1:
                found.setdefault(keys[0], []).append(told)
            elif keys:
                ambiguous.append((msgspec.structs.replace(told, text=failure.case), keys))
    return Named({key: tuple(_one_a_report(some)) for key, some in found.items()}, tuple(ambiguous))


def _one_a_report(told: Iterable[Mention]) -> Iterator[Mention]:
    """Two names in one report may be one case; the first that has a label is kept."""
    kept: dict[str, Mention] = {}
    for one in told:
        if one.report not in kept or (one.label and not kept[one.report].label):
            kept[one.report] = one
    return iter(kept.values())


def outcomes_in(report: PriorReport, names: CaseNames) -> RunOutcomes:
    """As far as a report tells how a run went: what failed in it."""
    keys = {found[0] for one in report.failures if len(found := names.find(one.case)) == 1}
    return RunOutcomes(run=report.run, at=report.date, failed=frozenset(keys))


def addressed(action: Action, names: CaseNames) -> Action:
    """The action with the keys of those cases of a run that it names; the others keep their names."""
    keys = (found[0] if len(found := names.find(name)) == 1 else name for name in action.addresses)
    return msgspec.structs.replace(action, addresses=tuple(dict.fromkeys(keys)))


def effects_on(
    case: str, actions: Iterable[Action], now: RunOutcomes, before: Sequence[RunOutcomes]
) -> tuple[Effect, ...]:
    """What a run shows of each action that addresses a case, as far as that case goes."""
    about = [msgspec.structs.replace(one, addresses=(case,)) for one in actions if case in one.addresses]
    return effects(about, now, before)


def effect_as_json(effect: Effect) -> dict[str, Any]:
    action = effect.action
    return {
        "date": action.date,
        "path": action.path,
        "what": action.what,
        "cases": action.addresses,
        "worked": effect.worked,
        "why": effect.why,
        "report": action.report,
    }
