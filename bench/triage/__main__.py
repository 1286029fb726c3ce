"""`make bench-triage`: how well triage finds who has to act, and how fast it is.

Without a part: the labelled samples, the part to tune on, the held-out part, the fresh part, the part of the newer
sources (`field`), and the speed.
`--part tune --misses` shows the misses with their texts; of the others only names are shown.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.triage import report, speed
from bench.triage.samples import Sample, field, fresh, injected, labelled
from bench.triage.trying import Trials, Tried

# hundreds of small imports: where there is a disk in memory, it is not the disk that is waited for
MEMORY = Path("/dev/shm")
SAMPLES = {"labels": labelled, "tune": injected, "held-out": injected, "fresh": fresh, "field": field}
PARTS = tuple(SAMPLES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=(*PARTS, "speed"), help="only this part")
    parser.add_argument("--misses", action="store_true", help="list what was attributed wrongly")
    parser.add_argument("--json", action="store_true", help="everything as one JSON document")
    chosen = parser.parse_args()
    started = time.perf_counter()
    parts = [chosen.part] if chosen.part else [*PARTS, "speed"]
    with tempfile.TemporaryDirectory(prefix="errata-bench-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        tried = {part: _try(part, Path(folder) / part) for part in parts if part in PARTS}
    with tempfile.TemporaryDirectory(prefix="errata-bench-") as folder:
        measured = speed.compare(Path(folder)) if "speed" in parts else None
    if chosen.json:
        print(json.dumps(_document(tried, measured), indent=1, ensure_ascii=False))
        return
    report.print_split()
    for part, results in tried.items():
        report.print_part(part, results, misses=chosen.misses)
    if measured:
        _say(measured)
    print(f"took {time.perf_counter() - started:.0f} s")


def _try(part: str, scratch: Path) -> list[Tried]:
    scratch.mkdir()
    samples: list[Sample] = [sample for sample in SAMPLES[part]() if sample.part == part]
    return list(Trials(scratch).all(samples))


def _say(measured: speed.Speed) -> None:
    print(f"speed: {measured.failures:,} failures")
    print(f"  import  {measured.import_seconds:6.2f} s")
    print(f"  triage  {measured.triage_seconds:6.2f} s   {measured.ratio:.2f}× of importing them   (aim: at most 1)")


def _document(tried: dict[str, list[Tried]], measured: speed.Speed | None) -> dict[str, Any]:
    parts = [report.as_json(part, found) for part, found in tried.items()]
    fast = {"failures": measured.failures, "import_seconds": measured.import_seconds,
            "triage_seconds": measured.triage_seconds, "ratio": measured.ratio} if measured else None  # fmt: skip
    return {"parts": parts, "speed": fast}


if __name__ == "__main__":
    main()
