"""Fuzz, one target for each source: damaged copies of its fixtures are read; records or an `ErrataError` come out."""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from errata import sources
from errata.errors import ErrataError
from errata.store.packing import pack_items, seal
from soak.damage import damaged

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures" / "sources"
SMALL = 300_000
"""Bytes: larger fixtures hold more of the same, and only a long pass reads them."""


class FuzzResult(NamedTuple):
    read: int
    refused: int


def run(folder: Path, rounds: int) -> None:
    """`rounds` damaged logs for each source."""
    targets = targets_in(FIXTURES)
    every = [fuzz(target, folder / "fuzz", rounds, seed=number) for number, target in enumerate(targets)]
    read, refused = sum(told.read for told in every), sum(told.refused for told in every)
    print(f"fuzz: {len(targets)} sources, {rounds:,} damaged logs of each")
    print(f"      {read:,} read as far as they go, {refused:,} refused in words, no crash")


def targets_in(folder: Path) -> list[str]:
    return sorted({path.relative_to(folder).parts[0] for path in folder.glob("**/ORIGIN.md")})


def fuzz(target: str, folder: Path, rounds: int, seed: int = 23, largest: int | None = None) -> FuzzResult:
    """Every fixture of a source in turn, one to four of its files damaged."""
    chance = random.Random(seed)
    fixtures = sorted(path.parent / "data" for path in (FIXTURES / target).glob("**/ORIGIN.md"))
    small = [fixture for fixture in fixtures if largest is None or _size(fixture) <= largest] or fixtures[:1]
    read = 0
    for number in range(rounds):
        with _copy(small[number % len(small)], folder / target) as copy:
            files = sorted(path for path in copy.rglob("*") if path.is_file())
            for file in chance.sample(files, min(len(files), chance.randint(1, 4))):
                file.write_bytes(damaged(file.read_bytes(), chance))
            read += _is_read(copy)
    return FuzzResult(read, rounds - read)


def _is_read(copy: Path) -> bool:
    """As far as it goes; what can't be recognised any more is refused in words."""
    try:
        for source in sources.find(copy):
            with suppress(ErrataError):
                for _ in seal(pack_items(sources.read(source))):
                    pass
    except ErrataError:
        return False
    return True


@contextmanager
def _copy(fixture: Path, to: Path) -> Iterator[Path]:
    shutil.copytree(fixture, to)
    try:
        yield to
    finally:
        shutil.rmtree(to)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
