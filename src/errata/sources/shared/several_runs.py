"""A file with the rows of one run or of several: the runs come first, then what belongs to them."""

from collections.abc import Callable, Iterable, Iterator

from errata.model import Item, Run, Unreadable
from errata.sources.base import Row, convert_each, of_run


def items_of_runs(
    runs: dict[str, Run],
    rows: Iterable[Row | Unreadable],
    convert: Callable[[Row], Iterable[Item]],
    *,
    which: Callable[[Row], str],
    source: str,
) -> Iterator[Item]:
    """`which` names the run of a row. What can't be read belongs to that one, or to the only one that there is."""
    yield from runs.values()
    only = next(iter(runs.values())).id if len(runs) == 1 else ""
    yield from of_run(only, convert_each(rows, convert, source=source, owner=lambda row: runs[which(row)].id))
