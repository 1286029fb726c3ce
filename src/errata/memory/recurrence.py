"""What repeats: which failures of a run earlier reports name, and what was done about them in the meantime."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from errata.memory.effects import Effect, RunOutcomes, effects
from errata.memory.spelling import CaseNames
from errata.model import Action
from errata.model.output import memory as output
from errata.model.output.memory import CaseHistoryOutput, EffectOutput, OtherModelsOutput
from errata.model.prior_report import PriorReport


class Mention(msgspec.Struct, frozen=True, kw_only=True):
    """What one earlier report says of a case."""

    report: str
    line: int | None = None
    date: str = ""
    run: str = ""
    model: str = ""
    label: str = ""
    by_rule: bool = False
    """Whether nobody had read the failure that errata called so."""
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

    def as_json(self) -> CaseHistoryOutput:
        others = {"reports": self.others, "runs": self.other_runs}
        return CaseHistoryOutput(
            is_repeat=self.is_repeat,
            reports=msgspec.convert(self.reports, tuple[output.Mention, ...], from_attributes=True),
            runs=msgspec.convert(self.runs, tuple[output.FailedRun, ...], from_attributes=True),
            should_be_gone=self.should_be_gone,
            actions=tuple(effect_as_json(one) for one in self.actions),
            other_models=msgspec.convert(others, OtherModelsOutput, from_attributes=True),
        )

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
                by_rule=failure.by_rule,
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


def effect_as_json(effect: Effect) -> EffectOutput:
    action = effect.action
    return EffectOutput(
        date=action.date,
        path=action.path,
        what=action.what,
        cases=action.addresses,
        worked=effect.worked,
        why=effect.why,
        report=action.report,
    )
