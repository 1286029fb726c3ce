"""A rerun plan: the attempts to repeat, and the commands that repeat them. Nothing here is ever run."""

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import Literal

import msgspec

from errata.model import Run
from errata.model.output.act import AlsoWhy, FillIn, RerunNoteName, WhyNoCommand
from errata.rerun.fit import UnfitError

NEVER_MADE = frozenset(("missing", "unfinished"))
NOT_JUDGED = "not judged"
"""The reason to repeat only the judging."""


class RerunAttempt(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An attempt to repeat; a run may have a hundred thousand of them."""

    case: str
    """The harness's name for it."""
    index: int = 1
    why: str
    """The owner, or `not measured`, `not judged`, `missing`, `unfinished`, `contradictory`, `asked for`."""
    signal: str = ""
    execution: str = "error"
    native_status: str = ""
    broke: bool = True
    """It was never made, or its harness reports it as an error."""


class Others(msgspec.Struct):
    """Counts of attempts that need no rerun but that a harness's own retry may repeat as well."""

    broke: int = 0
    scored: int = 0
    statuses: Counter[str] = msgspec.field(default_factory=Counter)
    """By the harness's own status."""


class RerunRequest(msgspec.Struct, frozen=True):
    run: Run
    attempts: Sequence[RerunAttempt]
    others: Others


class Command(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    purpose: Literal["run", "judge"] = "run"
    """`judge` scores what is recorded; the subject is not called again."""
    env: dict[str, str] = {}
    attempts: tuple[RerunAttempt, ...] = ()
    also: int = 0
    """How many other attempts it repeats, because the harness can't select more narrowly."""
    also_why: AlsoWhy | None = None
    fill_in: dict[str, FillIn] = {}
    """Placeholders in the command that the user replaces, and why."""

    @property
    def line(self) -> str:
        return shlex.join(self.words)

    @property
    def words(self) -> list[str]:
        settings = [f"{name}={value}" for name, value in self.env.items()]
        return [*(["env", *settings] if settings else []), *self.argv]

    @property
    def cases(self) -> list[str]:
        return list(dict.fromkeys(attempt.case for attempt in self.attempts))


class ByHand(msgspec.Struct, frozen=True, gc=False):
    """An attempt that no command repeats."""

    attempt: RerunAttempt
    why_not: WhyNoCommand
    about: str = ""
    """The field, path, test or source that `why_not` is about."""


class PlanNote(msgspec.Struct, frozen=True):
    name: RerunNoteName
    values: tuple[str, ...] = ()


class RerunPlan(msgspec.Struct, frozen=True, kw_only=True):
    commands: tuple[Command, ...] = ()
    by_hand: tuple[ByHand, ...] = ()
    notes: tuple[PlanNote, ...] = ()


def all_by_hand(attempts: Sequence[RerunAttempt], problem: UnfitError) -> RerunPlan:
    return RerunPlan(by_hand=tuple(ByHand(attempt, problem.why, problem.about) for attempt in attempts))


def log_value(run: Run, *names: str) -> object:
    """A value from the harness's own configuration in the log, by its path; none if the log lacks it."""
    value: object = run.extra
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def texts(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def mapping(value: object) -> dict[str, object]:
    return {str(name): item for name, item in value.items()} if isinstance(value, dict) else {}
