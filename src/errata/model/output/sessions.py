"""`errata sessions --json`: sessions, results that a later one replaced, and cascades."""

from typing import Literal

from errata.model.output.compare import Cases
from errata.model.record import Struct


class SessionOutput(Struct):
    """One execution whose traces lie in the run."""

    number: int
    started_at: str | None
    finished_at: str | None
    pattern: str
    """In words: what happened in it as a whole."""
    tried: int
    passed: int
    failed: int
    not_measured: int
    cost: float | None
    """Null where no attempt reports one."""
    exit_codes: dict[str, int]
    """`none` where the log states none."""


class HiddenResultOutput(Struct):
    """A case whose counted attempt hides what an earlier session had found."""

    case: str
    session: int
    """The latest session that measured the case."""
    was: Literal["pass", "fail"]
    now: Literal["fail", "not measured"]
    cost: float | None


class CascadeOutput(Struct):
    """A failure, and those that only follow from it."""

    root: str
    """An attempt id."""
    case: str
    error: str
    followers: Cases


class SessionsOutput(Struct):
    run: str
    run_id: str
    sessions: tuple[SessionOutput, ...]
    changes: tuple[HiddenResultOutput, ...]
    never_measured: Cases
    cascades: tuple[CascadeOutput, ...]


SHAPES: dict[str, type] = {"sessions": SessionsOutput}
