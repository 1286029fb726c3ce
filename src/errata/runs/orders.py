"""What is to be read, and by whom, in a form that another process understands."""

from pathlib import Path

import msgspec

from errata import sources
from errata.sources import Found
from errata.sources.base import Match
from errata.sources.generic import with_map


class Order(msgspec.Struct, frozen=True):
    path: str
    source: str
    map: str = ""
    passed_over: tuple[str, ...] = ()
    """What tells of the same evaluation, and less of it."""
    alone: bool = False
    """One reader is to read it: it turned out that several can't."""
    reader: int = 0
    readers: int = 1


def found_by(order: Order) -> Found:
    path = Path(order.path)
    source = with_map(Path(order.map)) if order.map else sources.source_named(order.source)
    return Found(path, source, Match.sure("as ordered"))
