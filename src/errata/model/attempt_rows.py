"""Many usual attempts at once, packed: what their records would become in the store, without making the records."""

from collections.abc import Iterable
from itertools import repeat
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from errata.model.check import Check
from errata.model.words import Measurement, Outcome

_packer = msgspec.msgpack.Encoder()
NEVER = repeat(UNSET)


class AttemptRows(msgspec.Struct, frozen=True, kw_only=True):
    """Completed attempts of one run in the order of the log, each the first at its case.

    Only a source that several readers share yields them, and only where each is the attempt that it would yield else.
    """

    run: str
    cases: list[str]
    outcomes: list[Outcome]
    measurements: list[Measurement] | Measurement = "scored"
    failures: list[bool]
    positions: list[int] | None = None
    tokens: list[int | None] | None = None
    checks: list[tuple[Check, ...]] = []
    records: list[bytes]
    """Each as `pack` packs the attempt without its steps."""
    steps: list[bytes] = []
    """The packed steps of each; empty where no attempt has any."""

    def __len__(self) -> int:
        return len(self.cases)


class PackedRef(msgspec.Struct, frozen=True, gc=False):
    """A `SourceRef` with a line, as it is packed."""

    file: str
    line: int


class PackedText(msgspec.Struct, frozen=True, gc=False):
    """An `Output` with a text."""

    text: str


# a `Step` with a text; a struct with more than 15 fields is packed with a longer header
PackedStep: Any = msgspec.defstruct(
    "PackedStep",
    ["index", "actor", ("text", str, ""), *[(f"unset_{at}", Any, UNSET) for at in range(13)]],
    omit_defaults=True,
    gc=False,
)


class PackedAttempts(NamedTuple):
    """The fields of many attempts, each a value for every attempt; those that are never set are left out."""

    ref: Iterable[PackedRef]
    id: Iterable[str]
    run: Iterable[str]
    case: Iterable[str]
    execution: Iterable[str]
    measurement: Iterable[str]
    outcome: Iterable[str]
    reported: Iterable[float | UnsetType]
    extra: Iterable[Any] = NEVER
    position: Iterable[int | UnsetType] = NEVER
    reported_counted: Iterable[bool | UnsetType] = NEVER
    output: Iterable[Any] = NEVER
    checks: Iterable[Any] = NEVER
    judgements: Iterable[Any] = NEVER
    conduct: Iterable[Any] = NEVER
    usage: Iterable[Any] = NEVER
    started_at: Iterable[str | UnsetType] = NEVER
    durations: Iterable[Any] = NEVER


def pack_each(attempts: PackedAttempts) -> list[bytes] | None:
    """As `pack` packs each attempt; None where one of them holds what can't be packed as it is."""
    fields = [getattr(attempts, name) for name in _PackedAttempt.__struct_fields__]
    try:
        return list(map(_packer.encode, map(_PackedAttempt, *fields)))
    except (OverflowError, UnicodeEncodeError):
        return None


class _PackedAttempt(msgspec.Struct, gc=False):
    """Some fields of an `Attempt`, in their order. A struct with more than 15 is packed with a longer header."""

    extra: Any
    ref: Any
    id: Any
    run: Any
    case: Any
    position: Any
    execution: Any
    measurement: Any
    outcome: Any
    reported: Any
    reported_counted: Any
    output: Any
    checks: Any
    judgements: Any
    conduct: Any
    usage: Any
    started_at: Any
    durations: Any
