"""One large log, read by several processes that take turns: what a source needs for its share, if it can do so at all.

A source that can has a function `read_share(path, share)` beside `read`. The shares in the order of their turns are the
same items as `read` gives. A log that can't be shared out is read by the first reader alone, and the others yield
nothing.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from errata.model import Item
from errata.model.record import TurnBegins


class ReaderShare(NamedTuple):
    number: int
    """Of this reader, from 0."""
    of: int
    tell: Callable[[bytes], None]
    """What the first reader has to know of this one, when all turns are over."""
    hear: Callable[[], list[bytes]]
    """For the first reader: what all the others told. Waits until their turns are over."""


ALONE = ReaderShare(0, 1, lambda _: None, list)


@runtime_checkable
class Shareable(Protocol):
    def read_share(self, path: Path, share: ReaderShare) -> Iterator[Item | TurnBegins]: ...
