"""What is to be repeated, and the commands that would do it. Nothing here is ever run."""

import shlex
from collections import Counter
from collections.abc import Sequence

import msgspec

from errata.model import Run

NEVER_MADE = frozenset(("missing", "unfinished"))


class Wanted(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One attempt that is to be repeated; a run may have a hundred thousand of them."""

    case: str
    """As its harness names it."""
    index: int = 1
    why: str
    """The owner, or `not measured`, `missing`, `unfinished`, `contradictory`, `asked for`."""
    signal: str = ""
    execution: str = "error"
    native_status: str = ""
    broke: bool = True
    """It was never made, or ended in what its harness itself calls an error."""


class Others(msgspec.Struct):
    """What is not to be repeated, as far as a harness's own retry would take it along."""

    broke: int = 0
    statuses: Counter[str] = msgspec.field(default_factory=Counter)
    """By the harness's own word for how they ended."""


class Request(msgspec.Struct, frozen=True):
    run: Run
    wanted: Sequence[Wanted]
    others: Others


class Command(msgspec.Struct, frozen=True, kw_only=True):
    argv: tuple[str, ...]
    env: dict[str, str] = {}
    wanted: tuple[Wanted, ...] = ()
    also: int = 0
    """How many other attempts it repeats, because the harness can't tell them apart."""
    also_why: str = ""
    fill_in: dict[str, str] = {}
    """Words of the command that only its user knows, and why."""

    @property
    def line(self) -> str:
        return shlex.join(self.words)

    @property
    def words(self) -> list[str]:
        settings = [f"{name}={value}" for name, value in self.env.items()]
        return [*(["env", *settings] if settings else []), *self.argv]

    @property
    def cases(self) -> list[str]:
        return list(dict.fromkeys(one.case for one in self.wanted))


class ByHand(msgspec.Struct, frozen=True, gc=False):
    """What no command can be given for."""

    wanted: Wanted
    why_not: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    commands: tuple[Command, ...] = ()
    by_hand: tuple[ByHand, ...] = ()
    notes: tuple[str, ...] = ()


def all_by_hand(wanted: Sequence[Wanted], why_not: str) -> Plan:
    return Plan(by_hand=tuple(ByHand(one, why_not) for one in wanted))


def told(run: Run, *names: str) -> object:
    """What the log says under a path of names; none where it says nothing."""
    found: object = run.extra
    for name in names:
        found = found.get(name) if isinstance(found, dict) else None
    return found


def texts(found: object) -> list[str]:
    return [one for one in found if isinstance(one, str)] if isinstance(found, list | tuple) else []


def mapping(found: object) -> dict[str, object]:
    return {str(name): value for name, value in found.items()} if isinstance(found, dict) else {}
