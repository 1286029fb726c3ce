"""Logs that grow line by line, as they were before they were read. Reading begins before the store is imported."""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from errata import __version__, sources
from errata.errors import ErrataError
from errata.model.identity import fingerprint
from errata.runs.log_search import Order, found_by
from errata.sources import RecognisedPath
from errata.sources.line_growth import GrowingLog

_READ_BY = ("model", "sources", "store", "text")


class LogState(NamedTuple):
    """A log before it is read, to notice whether it changes meanwhile."""

    file: Path
    signature: str
    stat: tuple[int, int, int, int]


begun: dict[Order, LogState | None] = {}
"""Of logs whose reading has begun."""


def state_of(order: Order) -> LogState | None:
    """None for a log that can't grow line by line."""
    try:
        log = log_of(found_by(order))
        return None if log is None else LogState(log.file, log.signature, stat_of(log.file))
    except (ErrataError, OSError, ValueError):
        return None


def stat_of(path: Path) -> tuple[int, int, int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino


def log_of(match: RecognisedPath) -> GrowingLog | None:
    log = sources.growing_log(match)
    return None if log is None else log._replace(signature=f"{log.signature} {_program()}")


@cache
def _program() -> str:
    """The code that turns lines into rows: another version may read the same lines in another way."""
    root = Path(sources.__file__).parents[1]
    stats = [(file.name, file.stat()) for folder in _READ_BY for file in sorted((root / folder).rglob("*.py"))]
    return fingerprint(__version__, [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])
