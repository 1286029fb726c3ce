"""errata's own JSON Lines: one record per line, written by an export or directly by a harness."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "errata-jsonl"
TITLE = "errata's own JSON Lines: one record per line"
HARNESS = Harness(name=NAME, title=NAME)

# the first two keys, in either order
_OPENING = lazy_regex(rb'\s*\{\s*(?:"errata"\s*:\s*\d+\s*,\s*"kind"\s*:|"kind"\s*:\s*"\w+"\s*,\s*"errata"\s*:)')


def recognise(path: Path) -> Match | None:
    opens = _OPENING.match(head_of(path, 200))
    return Match.sure("`errata` and `kind` open the first line") if opens else None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.errata_jsonl.lines import read_lines

    return read_lines(path)


def write(items: Iterable[Item]) -> Iterator[bytes]:
    from errata.sources.errata_jsonl.lines import write_lines

    return write_lines(items)
