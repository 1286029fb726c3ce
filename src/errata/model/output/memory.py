"""The shapes of `--json` for actions, known gaps, and the history of a run and of its cases."""

from typing import Literal

from errata.model.action import Action, KnownGap
from errata.model.history import ActionResult, CaseEffect, EffectReason, FailedRun, History, Mention, Worked
from errata.model.record import Struct


class ActionAddOutput(Struct):
    action: Action
    new: bool
    run: str | None
    """The native id of the run whose report it belongs into."""
    report: str | None
    written: Literal["written", "there", "no report"]
    line: int | None
    text: str | None
    """The line of the report."""
    dry_run: bool


class ActionListOutput(Struct):
    action: Action
    kept: bool
    """Whether the store has it; else only a report."""
    worked: Worked
    why: EffectReason
    case_effects: tuple[CaseEffect, ...]
    run: str | None
    shown_by: str | None
    """The report that shows it, where no run in the store does."""


class ActionRmOutput(Struct):
    action: Action
    removed: bool
    report: str | None
    line: int | None
    undo: str
    """The command that brings it back."""


class KnownListOutput(Struct):
    gap: KnownGap
    cases: tuple[str, ...]
    was: str | None
    """The text that it had before."""
    runs: tuple[str, ...]
    """The native ids of runs with failures on it."""


class KnownAddOutput(KnownListOutput):
    new: bool
    dry_run: bool


class KnownRmOutput(KnownListOutput):
    removed: bool
    undo: str
    """The command that brings it back."""


class EffectOutput(Struct):
    """An action, and what a run shows of it."""

    date: str
    path: str
    what: str
    cases: tuple[str, ...]
    worked: Worked
    why: EffectReason
    case_effects: tuple[CaseEffect, ...]
    report: str

    @classmethod
    def of(cls, effect: ActionResult) -> "EffectOutput":
        action = effect.action
        return cls(
            date=action.date,
            path=action.path,
            what=action.what,
            cases=action.addresses,
            worked=effect.worked,
            why=effect.reason,
            case_effects=effect.cases,
            report=action.report,
        )


class OtherModelsOutput(Struct):
    reports: tuple[Mention, ...]
    runs: tuple[FailedRun, ...]


class CaseHistoryOutput(Struct):
    """The key `before` of a failure."""

    is_repeat: bool
    """Failed before, in the same way as far as that is known."""
    failed_otherwise: bool
    """Failed before, but each time at another check or with another failure key."""
    reports: tuple[Mention, ...]
    runs: tuple[FailedRun, ...]
    should_be_gone: bool
    actions: tuple[EffectOutput, ...]
    other_models: OtherModelsOutput

    @classmethod
    def of(cls, history: History) -> "CaseHistoryOutput":
        return cls(
            is_repeat=history.is_repeat,
            failed_otherwise=history.failed_otherwise,
            reports=history.reports,
            runs=history.runs,
            should_be_gone=history.should_be_gone,
            actions=tuple(map(EffectOutput.of, history.actions)),
            other_models=OtherModelsOutput(reports=history.others, runs=history.other_runs),
        )


class EarlierReportOutput(Struct):
    report: str
    date: str
    run: str
    passed: int | None
    total: int | None
    own: bool


class UnreadReportOutput(Struct):
    path: str
    why: str


class RepeatsOutput(Struct):
    in_reports: int = 0
    in_runs: int = 0
    otherwise: int = 0
    """Of these, failures at another check or with another failure key than before."""
    should_be_gone: int = 0
    """Something was done about them in the meantime."""


class AmbiguousNameOutput(Struct):
    name: str
    report: str
    line: int | None
    cases: tuple[str, ...]


class RunHistoryOutput(Struct):
    """The history of a run in `analyze --json`."""

    earlier_reports: tuple[EarlierReportOutput, ...]
    reports_of_other_models: int
    reports_not_read: tuple[UnreadReportOutput, ...]
    repeats: RepeatsOutput
    ambiguous_names: tuple[AmbiguousNameOutput, ...]
    actions: tuple[EffectOutput, ...]


SHAPES: dict[str, type] = {
    "action add": ActionAddOutput,
    "action list": ActionListOutput,
    "action rm": ActionRmOutput,
    "known add": KnownAddOutput,
    "known list": KnownListOutput,
    "known rm": KnownRmOutput,
}
