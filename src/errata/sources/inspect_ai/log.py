"""A log of either kind, as the rest of the source sees it."""

from collections.abc import Iterator
from typing import Any

import msgspec

from errata.model import SourceRef, Unreadable
from errata.model.record import TurnBegins
from errata.sources.base import Row


class Log(msgspec.Struct, frozen=True, kw_only=True):
    header: dict[str, Any]
    """`version`, `status`, `eval`, `plan`, `results`, `stats`, `error` and what else stands beside the samples."""
    ref: SourceRef
    samples: Iterator[Row | Unreadable | TurnBegins]
    """Read once, one by one."""
    summaries: Iterator[Row | Unreadable] = iter(())
    """A row per sample that was finished, which is all that is left of one whose own member is lost."""
    problems: tuple[Unreadable, ...] = ()
