"""Fuzz, one target for each source: damaged copies of its logs are read; records or an `ErrataError` come out.

Most inputs go to their source directly, some through recognition by all sources, a few through `errata analyze`.
"""

import functools
import io
import os
import random
import shutil
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from errata import sources
from errata.cli.door import BUG
from errata.cli.door import run as run_command
from errata.errors import ErrataError
from errata.model import Item
from errata.runs.reader_processes import collect_seldom
from errata.sources.base import Match, RecognisedPath, Source
from errata.store.packing import as_sent, pack_items, seal
from soak.damage import damaged
from soak.limits import at_most, peak_mb
from soak.small_logs import SMALL, TINY, SmallLog, small_logs, targets, write

INPUTS = 2_000
"""Of one unit."""
RECOGNISED_EVERY, ANALYSED_EVERY, FULLER_EVERY = 50, 500, 10
SLOWEST = 20.0
PEAK_MB = 900


def run(folder: Path, seed: str, inputs: int = INPUTS) -> Counter[str]:
    """One unit: damaged logs of one source, which the number at the end of the seed selects."""
    every = targets()
    _collect_seldom()
    return fuzz(every[int(seed.rpartition("/")[2]) % len(every)], folder, inputs, seed)


@functools.cache
def _collect_seldom() -> None:
    """Once in a process: what is garbage at that moment is never freed."""
    collect_seldom()


def fuzz(target: str, folder: Path, inputs: int, seed: str, *, analysed_every: int = ANALYSED_EVERY) -> Counter[str]:
    """Most inputs are tiny, so that there are many; each tenth has several rows, elements and folders."""
    work = folder / f"fuzz-{os.getpid()}" / target
    figures: Counter[str] = Counter()
    few = inputs // FULLER_EVERY
    for cut, many in ((SMALL, few), (TINY, inputs - few)):
        logs = small_logs(target, cut)
        for at, log in enumerate(logs):
            numbers = range(at, many, len(logs))
            figures += _fuzz_log(log, work, numbers, random.Random(f"{seed}/{cut.rows}/{at}"), analysed_every)
    figures["inputs"] = inputs
    peak = peak_mb()
    assert peak < PEAK_MB, f"{peak:.0f} MB were in use at once"
    figures["peak memory"] = int(peak)
    return figures


def _fuzz_log(log: SmallLog, work: Path, numbers: range, chance: random.Random, analysed_every: int) -> Counter[str]:
    figures: Counter[str] = Counter()
    write(log, work)
    matches = _readable(work)
    for number in numbers:
        with _damaged(log, work, chance) as files, at_most(SLOWEST):
            concerned = [match for match in matches if any(file.is_relative_to(match.path) for file in files)]
            figures[_result(work, concerned or matches, number, analysed_every)] += 1
    shutil.rmtree(work)
    return figures


def _result(work: Path, matches: list[RecognisedPath], number: int, analysed_every: int) -> str:
    if number % analysed_every == analysed_every - 1:
        return _analyse(work)
    if number % RECOGNISED_EVERY == 0 or not matches:
        try:
            matches = sources.find(work)
        except ErrataError:
            return "refused in words"
    watched = [WatchedSource(match.source) for match in matches]
    for match, source in zip(matches, watched, strict=True):
        try:
            for _ in seal(map(as_sent, pack_items(sources.read(match._replace(source=source))))):
                pass
        except ErrataError:
            return "refused in words"
    stopped = [source.stopped_at for source in watched if source.stopped_at]
    if stopped and "SOAK_SHOW" in os.environ:
        sys.stderr.write(f"stopped {stopped[0]}\n")
    return "read up to the damage" if stopped else "read"


def _analyse(work: Path) -> str:
    """As a user would, into a store of its own."""
    store = work.parent / "analysed.db"
    output = io.StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        code = run_command(["analyze", str(work), "--no-report", "--store", str(store)])
    for path in store.parent.glob(f"{store.name}*"):
        path.unlink()
    assert code != BUG, output.getvalue()
    return "analysed"


class WatchedSource:
    """A source that notes where it gave up: a damaged value should cost its row, not the rest of the log."""

    def __init__(self, source: Source) -> None:
        self.NAME, self.TITLE, self.HARNESS = source.NAME, source.TITLE, source.HARNESS
        self._source = source
        self.stopped_at = ""

    def recognise(self, path: Path) -> Match | None:
        return self._source.recognise(path)

    def read(self, path: Path) -> Iterator[Item]:
        try:
            yield from self._source.read(path)
        except Exception as error:
            if not isinstance(error, ErrataError):
                self.stopped_at = _place_of(error)
            raise


def _place_of(error: BaseException) -> str:
    frames: list[Any] = [frame for frame in traceback.extract_tb(error.__traceback__) if "sources" in frame.filename]
    last = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{Path(last.filename).parent.name}/{Path(last.filename).name}:{last.lineno} {type(error).__name__}: {error}"


def _readable(work: Path) -> list[RecognisedPath]:
    try:
        return sources.find(work)
    except ErrataError:
        return []


@contextmanager
def _damaged(log: SmallLog, work: Path, chance: random.Random) -> Iterator[list[Path]]:
    """One to three files of the log, until the end of the block."""
    names = chance.sample(sorted(log.files), min(len(log.files), chance.choice((1, 1, 2, 3))))
    for name in names:
        (work / name).write_bytes(damaged(log.files[name], chance))
    try:
        yield [work / name for name in names]
    finally:
        for name in names:
            (work / name).write_bytes(log.files[name])
