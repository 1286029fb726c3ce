"""`make bench-buckets`: failures grouped into root causes, against the true ones and beside two baselines; the speed.

The thresholds were chosen on `tune` alone. Of the other parts only totals are shown.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.buckets.measures import GroupingScores, each_harness, measure
from bench.buckets.reading import Reader
from bench.buckets.samples import FAULTS, faults, labelled
from bench.buckets.speed import Speed, speeds

MEMORY = Path("/dev/shm")
PARTS = ("labels", *FAULTS, "speed")
AIMS = "V ≥ 0.85, AMI ahead of both baselines, at most twice as many buckets as causes, 100,000 in under a minute"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=PARTS, help="only this part")
    parser.add_argument("--json", action="store_true", help="everything as one JSON document")
    chosen = parser.parse_args()
    started = time.perf_counter()
    parts = [chosen.part] if chosen.part else list(PARTS)
    with tempfile.TemporaryDirectory(prefix="errata-bench-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        measured = dict(_measure_parts(parts, Reader(Path(folder))))
    fast = list(speeds()) if "speed" in parts else []
    if chosen.json:
        document = {
            "sets": {name: one._asdict() for name, one in measured.items()},
            "speed": [one._asdict() for one in fast],
        }
        print(json.dumps(document, indent=1))
        return
    _print(measured, fast)
    print(f"took {time.perf_counter() - started:.0f} s")


def _measure_parts(parts: list[str], reader: Reader) -> Iterator[tuple[str, GroupingScores]]:
    if "labels" in parts:
        for labelled_set in labelled(reader):
            yield labelled_set.name, measure(labelled_set.rows)
    for part in (part for part in FAULTS if part in parts):
        sample = faults(part, reader)
        yield f"faults, {part}", measure(sample.rows)
        yield f"faults, {part}, harness by harness", each_harness(sample.rows)


def _print(measured: dict[str, GroupingScores], fast: list[Speed]) -> None:
    print(f"aims: {AIMS}\n")
    if measured:
        _print_table(measured)
    for fact in fast:
        figures = f"{fact.seconds:.1f} s ({fact.cpu:.1f} s of CPU), {fact.buckets:,} buckets"
        print(f"{fact.failures:,} {fact.what}: {figures}")


def _print_table(measured: dict[str, GroupingScores]) -> None:
    heads = "".join(f"{name:>24}" for name in ("errata", "exact error text", "TF-IDF, k-means, true k"))
    columns = f"{'V':>10}{'AMI':>7}{'n':>7}"
    print(f"{'':<53}{heads}\n{'':<38}{'failures':>8}{'causes':>7}{columns * 3}")
    for name, measures in measured.items():
        scores = (measures.errata, measures.exact_text, measures.k_means)
        figures = "".join(f"{score.v:>10.3f}{score.ami:>7.3f}{score.buckets:>7.0f}" for score in scores)
        print(f"{name:<38}{measures.failures:>8}{measures.causes:>7.0f}{figures}")
    print()


if __name__ == "__main__":
    main()
