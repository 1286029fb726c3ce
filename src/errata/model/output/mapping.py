"""What `errata map` prints: a drafted mapping, what it reads of the first rows, and what is uncertain."""

from typing import Any

from errata.model.record import Struct


class MappingDoubt(Struct):
    """Something about the table that its values do not decide."""

    key: str
    """The key of the mapping, such as `[attempt] passed`."""
    chosen: str
    """The value in the draft, as TOML; empty if the key was left out."""
    why: str
    alternatives: tuple[str, ...] = ()


class MappingPreviewRow(Struct):
    """The attempt that the drafted mapping makes of a row."""

    model: str
    case: str
    index: int
    execution: str
    measurement: str
    outcome: str
    answer: str | None
    expected: Any
    failed_checks: tuple[str, ...]
    error: str
    """The message of the first error; empty where there is none."""
    where: str
    """The place of the row."""


class MapOutput(Struct):
    """A mapping that was drafted for a table."""

    path: str
    target: str
    """The file of the mapping."""
    written: bool
    text: str
    """The mapping as TOML."""
    doubts: tuple[MappingDoubt, ...]
    rows: tuple[MappingPreviewRow, ...]
    """The first rows."""
    outcomes: dict[str, int]
    """How the first attempts (at most 200) came out: an outcome, or where there is none, the execution or the
    measurement → how many."""
    models: tuple[str, ...]
    unreadable: tuple[str, ...]
    """Rows that could not be read with this mapping: place and reason."""
    unmapped: tuple[str, ...] = ()
    """Columns that no key of the draft names."""


SHAPES = {"map": MapOutput}
