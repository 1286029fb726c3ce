"""`make soak`: everything that takes long, as one program with a seed that can be repeated.

It prints its seed, keeps what is done in a state file, and continues there when it is called again. `--quick` is one
short pass of each part.
"""

import argparse
import math
import random
import sys
import tempfile
import time
from pathlib import Path

from soak import crowd, fuzz, kills, live_kills, load, postgres_kills, program, reviews, secrets, served
from soak.secret_strings import CARRIERS

STATE = Path("build/soak.json")
IN_MEMORY = Path("/dev/shm")
INPUTS, KILLS = 1_000_000, 2_000
SECRETS = 8
"""Kinds of secrets of one unit."""
KILLS_OF_ONE_UNIT = 20
"""At least: each unit kills each of seventeen commands one to four times."""


def parts_of(seed_size: float = 1.0) -> list[program.Part]:
    """Every part; to add one, add a line: how many units, and the function that runs one."""
    return [
        program.Part("kills", round(seed_size * KILLS / KILLS_OF_ONE_UNIT), kills.run),
        program.Part("postgres", max(1, round(20 * seed_size)), postgres_kills.run),
        program.Part("fuzz", round(seed_size * INPUTS / fuzz.INPUTS), fuzz.run),
        program.Part("load", max(1, round(10 * seed_size)), load.run),
        program.Part("reviews", max(1, round(40 * seed_size)), reviews.run),
        program.Part("live", max(1, round(10 * seed_size)), live_kills.run),
        program.Part("crowd", max(1, round(3 * seed_size)), crowd.run),
        program.Part("served", max(1, round(10 * seed_size)), served.run),
        program.Part("secrets", math.ceil(seed_size * secrets.how_many() / SECRETS), _secrets),
    ]


def _secrets(folder: Path, seed: str) -> program.Figures:
    """Some kinds in every disguise; over all units of a seed, every kind has its turn."""
    turn = int(seed.rpartition("/")[2])
    with tempfile.TemporaryDirectory(dir=folder) as place:
        number = random.Random(seed).randrange(10**6)
        leaked = secrets.run(Path(place), secrets=SECRETS, each=SECRETS, seed=number, turn=turn)
    assert not leaked, f"{len(leaked)} secrets got out: {leaked[0]}"
    return {"disguised secrets": min(SECRETS, secrets.how_many() - turn * SECRETS) * len(CARRIERS)}


def main() -> None:
    given = _arguments()
    parts = [part for part in parts_of() if not given.only or part.name in given.only.split(",")]
    if not parts:
        sys.exit(f"no part is named `{given.only}`; one of: {', '.join(part.name for part in parts_of())}")
    state = program.State(given.state)
    with tempfile.TemporaryDirectory(prefix="errata-soak-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        if given.unit is not None:
            _repeat(parts, Path(folder), given.seed, given.unit)
            return
        state.seed = given.seed or (state.seed if not program.is_done(parts, state) else "") or program.new_seed()
        print(f"seed {state.seed}; stop at any time, `make soak` continues", flush=True)
        if given.quick:
            parts = [part._replace(units=1) for part in parts]
        until = time.monotonic() + 60 * given.minutes if given.minutes else float("inf")
        try:
            program.run(parts, state, Path(folder), until=until, processes=given.processes)
        except KeyboardInterrupt:
            print("stopped; units that were under way are repeated by the next call", flush=True)
    program.show(program.summary(state))
    sys.exit(1 if state.problems else 0)


def _repeat(parts: list[program.Part], folder: Path, seed: str, unit: int) -> None:
    for part in parts:
        result = program.run_unit(part, folder, seed, unit)
        print(f"{part.name} {seed}/{unit}: {result.problem or result.figures}")
        if result.problem:
            sys.exit(1)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="", help="repeat this seed; default: the unfinished one, else a new one")
    parser.add_argument("--only", default="", metavar="PART,…", help="only these parts")
    parser.add_argument("--minutes", type=float, default=0, help="start nothing after this time")
    parser.add_argument("--processes", type=int, default=2, help="units at once (default: 2)")
    parser.add_argument("--state", type=Path, default=STATE, help=f"state file (default: {STATE})")
    parser.add_argument("--unit", type=int, help="repeat one unit of `--seed`, without the state file")
    parser.add_argument("--quick", action="store_true", help="one unit of each part")
    return parser.parse_args()


if __name__ == "__main__":
    main()
