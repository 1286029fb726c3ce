"""Long fuzz: damaged copies of every fixture are read; nothing but an `ErrataError` may come out of it."""

import random
import shutil
from contextlib import suppress
from pathlib import Path

from errata import sources
from errata.errors import ErrataError
from errata.store.packing import pack_items, seal

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures" / "sources"


def run(folder: Path, rounds: int) -> None:
    chance = random.Random(23)
    fixtures = sorted(path.parent / "data" for path in FIXTURES.glob("**/ORIGIN.md"))
    read = refused = 0
    for number in range(rounds):
        copy = folder / "fuzz" / str(number)
        shutil.copytree(chance.choice(fixtures), copy)
        files = sorted(path for path in copy.rglob("*") if path.is_file())
        for file in chance.sample(files, min(len(files), chance.randint(1, 4))):
            file.write_bytes(damaged(file.read_bytes(), chance))
        try:
            for found in sources.find(copy):
                with suppress(ErrataError):
                    for _ in seal(pack_items(sources.read(found))):
                        pass
            read += 1
        except ErrataError:
            refused += 1
        shutil.rmtree(copy)
    print(f"fuzz: {rounds} damaged logs; {read} read as far as they go, {refused} refused in words, no crash")


def damaged(data: bytes, chance: random.Random) -> bytes:
    kind = chance.randrange(5)
    if kind == 0:
        return data[: chance.randrange(len(data) + 1)]
    changed = bytearray(data or b" ")
    if kind == 1:
        for _ in range(chance.randint(1, 20)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    elif kind == 2:
        at = chance.randrange(len(changed))
        changed[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 50)))
    elif kind == 3:
        start = chance.randrange(len(changed))
        del changed[start : start + chance.randint(1, 200)]
    else:
        for old in (b"true", b"null", b"0", b'"'):
            if chance.random() < 0.5:
                changed = bytearray(
                    bytes(changed).replace(old, chance.choice((b"null", b"[]", b"NaN", b"-1", b"{}")), 3)
                )
    return bytes(changed)
