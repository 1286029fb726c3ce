"""`make soak`. `--quick` is one short pass of each, as CI does it."""

import argparse
import tempfile
from pathlib import Path

from soak import fuzz, kills, load, reviews


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    with tempfile.TemporaryDirectory(prefix="errata-soak-") as folder:
        kills.run(Path(folder), rounds=6 if quick else 200, size=(6 if quick else 24) * kills.MB)
        fuzz.run(Path(folder), rounds=2 if quick else 300)
        load.run(Path(folder), writers=3 if quick else 6, size=(2 if quick else 20) * load.MB)
        reviews.run(Path(folder), packets=40 if quick else 1_000, kills=2 if quick else 20)


if __name__ == "__main__":
    main()
