"""What is known of a case from before a run: earlier reports and runs, and what actions changed."""

from typing import Any, Literal

import msgspec

from errata.model.action import Action

Worked = Literal["yes", "no", "unknown"]


class ActionResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one run shows of an action."""

    action: Action
    worked: Worked
    why: str
    """In plain words: `003-mutations/002-cascade_remove passes now`."""
    run: str = ""
    """The run that was looked at."""

    @property
    def resolved(self) -> Action:
        """The action with what this run showed of it."""
        shown = self.run if self.worked != "unknown" else ""
        return msgspec.structs.replace(self.action, worked=self.worked, worked_in=shown)


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


class History(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a case from before a run; newest first."""

    reports: tuple[Mention, ...] = ()
    runs: tuple[FailedRun, ...] = ()
    actions: tuple[ActionResult, ...] = ()
    """What was done about the case, whenever that was, and what this run shows of it."""
    others: tuple[Mention, ...] = ()
    """What reports about other models say of it."""
    other_runs: tuple[FailedRun, ...] = ()
    """Other models that fail it."""

    @property
    def is_repeat(self) -> bool:
        return bool(self.reports or self.runs)

    @property
    def should_be_gone(self) -> bool:
        return bool(self.due)

    @property
    def due(self) -> tuple[ActionResult, ...]:
        """What was done about it after it had failed and before this run: it should have resolved it, and did not."""
        return tuple(one for one in self.actions if one.worked == "no")

    def as_json(self) -> dict[str, Any]:
        from errata.model.output.memory import CaseHistoryOutput  # noqa: PLC0415 the shapes of output import this

        return msgspec.structs.asdict(CaseHistoryOutput.of(self))
