"""`make bench-review`: wall time against the ideal, CPU for each review, and memory at two sizes."""

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from soak.failing_run import failing_run
from soak.reviews import provider


class Cost(NamedTuple):
    reviewed: int
    planning: float
    seconds: float
    cpu: float
    peak_mb: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=2_000)
    parser.add_argument("--parallel", type=int, default=64)
    parser.add_argument("--latency", type=float, default=1.0, help="seconds that the provider takes for each answer")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="errata-bench-") as folder:
        few = _measure(Path(folder) / "few", given.packets // 4, given)
        many = _measure(Path(folder) / "many", given.packets, given)
    print(f"{given.packets:,} reviews, {given.parallel} at once, {given.latency:g} s for each answer")
    ideal = math.ceil(given.packets / given.parallel) * given.latency
    print(f"  ideal   {ideal:7.2f} s")
    print(f"  errata  {many.seconds:7.2f} s    {many.seconds / ideal:.3f}×   (aim: at most 1.15)")
    each = (many.cpu - few.cpu) / (many.reviewed - few.reviewed)
    with_start = f"{1_000 * many.cpu / many.reviewed:.2f} with a share of the start"
    print(f"  cpu     {1_000 * each:7.2f} ms   for each review more, {with_start}   (aim: under 10)")
    print(
        f"  memory  {many.peak_mb:7.1f} MB   {few.peak_mb:.1f} MB at {few.reviewed}: {many.peak_mb / few.peak_mb:.3f}×"
    )
    print(f"  plan    {many.planning:7.2f} s    before the first is asked: what it will cost")


def _measure(folder: Path, packets: int, given: argparse.Namespace) -> Cost:
    store, _ = failing_run(folder, packets)
    with provider("friendly", folder / "provider.jsonl", given.latency) as url:
        command = [sys.executable, "-m", "bench.review.once", str(store.path), url, str(given.parallel)]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    cost = Cost(**json.loads(output))
    assert cost.reviewed == packets, f"{cost.reviewed} of {packets} were reviewed"
    return cost


if __name__ == "__main__":
    main()
