"""`errata sessions --json`: sessions, results that a later one replaced, and cascades."""

from typing import Literal

import msgspec

from errata.model.output.compare import Cases


class SessionOutput(msgspec.Struct, frozen=True, kw_only=True):
    number: int
    started_at: str | None
    finished_at: str | None
    pattern: str
    tried: int
    passed: int
    failed: int
    not_measured: int
    cost: float | None
    exit_codes: dict[str, int]


class HiddenResultOutput(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    session: int
    was: Literal["pass", "fail"]
    now: Literal["fail", "not measured"]
    cost: float | None


class CascadeOutput(msgspec.Struct, frozen=True, kw_only=True):
    root: str
    case: str
    error: str
    followers: Cases


class SessionsOutput(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    run_id: str
    sessions: tuple[SessionOutput, ...]
    changes: tuple[HiddenResultOutput, ...]
    never_measured: Cases
    cascades: tuple[CascadeOutput, ...]


SHAPES: dict[str, type] = {"sessions": SessionsOutput}
