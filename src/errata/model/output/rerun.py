"""What `errata rerun --json` and `errata writeback --json` print: what goes back to a harness."""

import msgspec

from errata.model.output.runs import NamedRun


class RerunReasonOutput(msgspec.Struct, frozen=True, kw_only=True):
    """Why attempts are to be repeated."""

    why: str
    """An owner, or `not measured`, `missing`, `unfinished`, `contradictory`, `asked for`."""
    signal: str | None
    attempts: int


class RerunCommandOutput(msgspec.Struct, frozen=True, kw_only=True):
    """A command of the harness."""

    argv: tuple[str, ...]
    env: dict[str, str]
    line: str
    """The same for a shell."""
    cases: tuple[str, ...]
    attempts: int
    reasons: tuple[RerunReasonOutput, ...]
    also: int
    """Other attempts that it repeats, because the harness cannot tell them apart."""
    also_why: str | None
    fill_in: dict[str, str]
    """Words of the command that only its user knows, and why."""


class ByHandOutput(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt that no command repeats."""

    case: str
    attempt: int
    why: str
    signal: str | None
    why_not: str
    """Why there is no command for it."""


class RerunCostOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What repeating would cost, at the mean cost of the measured attempts, in dollars."""

    total: float
    each: float
    basis: int
    """Measured attempts with a known cost."""


class RerunOutput(NamedRun, frozen=True, kw_only=True):
    """How to repeat what failed for reasons other than the model."""

    model: str
    source: str
    attempts: int
    """How many are to be repeated."""
    commands: tuple[RerunCommandOutput, ...]
    by_hand: tuple[ByHandOutput, ...]
    notes: tuple[str, ...]
    """What to know before running the commands."""
    cost: RerunCostOutput | None
    """Null where the log has no costs."""


class ChangeOutput(msgspec.Struct, frozen=True, kw_only=True):
    """One edit."""

    do: str
    """The kind of edit, in the harness's own word."""
    run_id: str
    case: str
    attempt: int
    owner: str
    reason: str
    """The text that is written into the log."""


class WritebackOutput(msgspec.Struct, frozen=True, kw_only=True):
    """The edits of one log."""

    runs: tuple[NamedRun, ...]
    source: str
    log: str
    """The log that the runs were read from; it is not changed."""
    changes: tuple[ChangeOutput, ...]
    left: dict[str, int]
    """Why → failures that are not written back."""
    files: tuple[str, ...]
    """What was written."""
    command: tuple[str, ...]
    """The command that applies it."""


SHAPES: dict[str, type] = {"rerun": RerunOutput, "writeback": WritebackOutput}
