"""Which run a row or a fault in a file of several runs belongs to, and a name for a run that has none."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from msgspec.structs import replace

from errata.model import Attempt, Item, Run, Unreadable
from errata.sources.base import READ_SIZE, Row, convert_each, of_run

AROUND = 2
WAITING_CAP = 1_000
HASH_SIZE = 6


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


def by_neighbours(items: Iterable[Item]) -> Iterator[Item]:
    """What can't be read belongs to the run of the rows around it, where these agree.

    Rows that alternate between runs, or repeat in small groups, never stand twice before and twice after a place; where
    they do, the file keeps the rows of a run together. Anything else stays without a run, and may be any one's.
    """
    waiting: list[Unreadable] = []
    run, streak, after = "", 0, 0
    for item in items:
        if type(item) is Attempt:
            streak = streak + 1 if item.run == run else 1
            if waiting:
                after = after + 1 if item.run == run else AROUND
                if after == AROUND:
                    yield from _settled(waiting, run if item.run == run else "")
                    waiting = []
            run = item.run
        elif type(item) is Unreadable and not item.run and streak >= AROUND and len(waiting) < WAITING_CAP:
            waiting.append(item)
            after = 0
            continue
        yield item
    yield from waiting


def _settled(waiting: list[Unreadable], run: str) -> Iterator[Unreadable]:
    return (replace(item, run=run) for item in waiting)


def named_by_content(path: Path) -> str:
    """A hash of the log, for a run whose log has no name, not even a time; it stays the same where a file is moved."""
    made = blake2b(digest_size=HASH_SIZE)
    try:
        with path.open("rb") as file:
            while chunk := file.read(READ_SIZE):
                made.update(chunk)
    except OSError:
        return path.stem
    return made.hexdigest()
