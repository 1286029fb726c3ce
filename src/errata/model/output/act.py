"""What `errata rerun --json` and `errata writeback --json` print."""

import msgspec


class RerunReason(msgspec.Struct, frozen=True, kw_only=True):
    why: str
    signal: str | None
    attempts: int


class RerunCommand(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    env: dict[str, str]
    line: str
    cases: tuple[str, ...]
    attempts: int
    reasons: tuple[RerunReason, ...]
    also: int
    """How many other attempts it repeats, because the harness can't tell them apart."""
    also_why: str | None
    fill_in: dict[str, str]
    """Words of the command that only its user knows, and why."""


class RerunByHand(msgspec.Struct, frozen=True, kw_only=True):
    case: str
    attempt: int
    why: str
    signal: str | None
    why_not: str


class RerunCost(msgspec.Struct, frozen=True, kw_only=True):
    total: float
    each: float
    basis: int
    """How many measured attempts have a known cost."""


class RerunOutput(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    run_id: str
    model: str
    source: str
    attempts: int
    commands: tuple[RerunCommand, ...]
    by_hand: tuple[RerunByHand, ...]
    notes: tuple[str, ...]
    cost: RerunCost | None


class WritebackRun(msgspec.Struct, frozen=True, kw_only=True):
    run: str
    run_id: str


class WritebackChange(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is written back."""

    do: str
    run_id: str
    case: str
    attempt: int
    owner: str
    reason: str


class WritebackOutput(msgspec.Struct, frozen=True, kw_only=True):
    runs: tuple[WritebackRun, ...]
    source: str
    log: str
    changes: tuple[WritebackChange, ...]
    left: dict[str, int]
    """Why → how many failures are not written back."""
    files: tuple[str, ...]
    command: tuple[str, ...]


SHAPES: dict[str, type] = {"rerun": RerunOutput, "writeback": WritebackOutput}
