"""Which run a row or an unreadable line belongs to in a file of several runs, and a name for a run without one."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path

from msgspec.structs import replace

from errata.model import Attempt, Case, Item, Run, Unreadable
from errata.sources.base import READ_SIZE, Numbering, Row, convert_each, of_run

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
    """`which` returns the run of a row. An unreadable row belongs to that run, or to the only run in the file."""
    yield from runs.values()
    only = next(iter(runs.values())).id if len(runs) == 1 else ""
    yield from of_run(only, convert_each(rows, convert, source=source, owner=lambda row: runs[which(row)].id))


def by_neighbours(items: Iterable[Item]) -> Iterator[Item]:
    """Assign an unreadable row to the run of the rows around it, if they agree.

    If rows alternate between runs or repeat in small groups, no position has two rows of one run before it and two
    after it. If one has, the file keeps the rows of a run together. All other unreadable rows stay without a run.
    """
    waiting: list[Unreadable] = []
    run, streak, after = "", 0, 0
    for item in items:
        if type(item) is Attempt:
            streak = streak + 1 if item.run == run else 1
            if waiting:
                after = after + 1 if item.run == run else AROUND
                if after == AROUND:
                    yield from (replace(one, run=run if item.run == run else "") for one in waiting)
                    waiting = []
            run = item.run
        elif type(item) is Unreadable and not item.run and streak >= AROUND and len(waiting) < WAITING_CAP:
            waiting.append(item)
            after = 0
            continue
        yield item
    yield from waiting


def hash_of_content(path: Path, data: bytes | None = None) -> str:
    """A hash of the log, for a run whose log has neither a name nor a time; it stays the same if the file is moved.

    `data` is what is in it, if it was read before.
    """
    if data is not None:
        return blake2b(data, digest_size=HASH_SIZE).hexdigest()
    digest = blake2b(digest_size=HASH_SIZE)
    try:
        with path.open("rb") as file:
            while chunk := file.read(READ_SIZE):
                digest.update(chunk)
    except OSError:
        return path.stem
    return digest.hexdigest()


# --- rows that describe their own case: the case is emitted again wherever a row asks or expects something else


REMEMBERED = 100_000


class CaseNumbering(Numbering):
    """Attempt numbers, and the last description of each case.

    Rows of one id need not agree on what they ask or expect. An attempt has the facts of the case that was emitted last
    before it, so a source emits a case whenever `is_news` holds. Emitting it more often does no harm.
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[int, int] = {}

    def is_news(self, case: Case) -> bool:
        """Whether the case is new, or differs from its last description."""
        key, facts = hash((case.run, case.key)), hash(case.digest)
        if self._last.get(key) == facts:
            return False
        if len(self._last) >= REMEMBERED:
            self._last.clear()
        self._last[key] = facts
        return True
