"""`make bench-inspect`: `errata import` of an Inspect log beside inspect-ai's own reading of it, and beside the floor.

The floor unpacks and parses every member and throws it away. errata's time is that of the whole command, start and
store included, without triage, which reads no log; the time with triage is shown as well. inspect-ai's time is that of
the call alone, without the seconds that importing it takes.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import measure
from bench.inspect import MESSAGES, equality
from bench.inspect.bare import zipfile

SAMPLES, ROUNDS, COMPARED = 2_000, 5, 50
MB = 1024 * 1024
READINGS = ("read_eval_log", "samples_df", "messages_df")
FASTER, FLOOR, AIM, MEMORY = 5.0, 3.0, 2.0, 200.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="a Python that has inspect-ai")
    parser.add_argument("--small", action="store_true", help="a tenth of the samples")
    parser.add_argument("--log", type=Path, help="a log that was made before; it is copied")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="errata-inspect-") as folder:
        log = Path(folder) / "bench.eval"
        log.write_bytes(_log(chosen.python, chosen.log, Path(folder), SAMPLES // (10 if chosen.small else 1)))
        sys.exit(report(chosen.python, log))


def _log(python: Path, given: Path | None, folder: Path, samples: int) -> bytes:
    if given is not None:
        return given.read_bytes()
    started = time.perf_counter()
    command = [str(python), "-m", "bench.inspect.generate", str(folder / "made"), str(samples)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    (made,) = (folder / "made").glob("*.eval")
    print(f"{samples:,} samples × {MESSAGES} messages, written by inspect-ai in {_since(started)}")
    return made.read_bytes()


def report(python: Path, log: Path) -> int:
    best = _measure(python, log)
    ours, floor = best["errata"], best["floor"]
    print(f"{log.stat().st_size / MB:.0f} MB, best of {ROUNDS} alternating runs")
    for name, cost in best.items():
        ratio = "" if name == "errata" else f"   errata takes {ours.seconds / cost.seconds:.2f}×"
        print(f"  {name:<14} {cost.seconds:7.2f} s   {cost.peak_mb:6.0f} MB{ratio}")
    faster = best["read_eval_log"].seconds / ours.seconds
    wanted = {
        f"{faster:.1f}× as fast as read_eval_log (at least {FASTER:.0f})": faster >= FASTER,
        f"{ours.seconds / floor.seconds:.2f}× the floor (at most {FLOOR:.0f}, aim {AIM:.0f})": ours.seconds
        <= FLOOR * floor.seconds,
        f"{ours.peak_mb:.0f} MB (under {MEMORY:.0f})": ours.peak_mb < MEMORY,
    }
    for aim, met in wanted.items():
        print(f"  {'met   ' if met else 'MISSED'} {aim}")
    _compare(python, log)
    return 0 if all(wanted.values()) else 1


def _measure(python: Path, log: Path) -> dict[str, measure.Cost]:
    """Each in turn, so that whatever else the machine does meets all of them."""
    costs: dict[str, list[measure.Cost]] = {}
    for number in range(ROUNDS):
        for name, words in (("errata", ["--no-triage"]), ("with triage", [])):
            store = log.with_name(f"{name.replace(' ', '-')}-{number}.db")
            cost = measure.run(measure.errata("import", log, "--store", store, *words))
            costs.setdefault(name, []).append(cost)
        costs.setdefault("floor", []).append(_timed([sys.executable, "-m", "bench.inspect.bare", str(log)]))
        for what in READINGS:
            command = [str(python), "-m", "bench.inspect.theirs", what, str(log)]
            costs.setdefault(what, []).append(_timed(command))
    return {
        name: measure.Cost(min(one.seconds for one in some), max(one.peak_mb for one in some))
        for name, some in costs.items()
    }


def _timed(command: list[str]) -> measure.Cost:
    """The seconds that the program itself counted, and the memory of its process."""
    cost, output = measure.run_and_listen(command)
    return measure.Cost(float(output), cost.peak_mb)


def _compare(python: Path, log: Path) -> None:
    store = log.with_name("kept.db")
    measure.run(measure.errata("import", log, "--store", store))
    ids = _ids(log)
    expected = equality.theirs(python, log, random.Random(7).sample(ids, min(COMPARED, len(ids))))
    log.unlink()
    print(f"  the log deleted: {equality.compare(expected, store)} samples as inspect-ai has their messages")


def _ids(log: Path) -> list[str]:
    with zipfile.ZipFile(log) as archive:
        names = [name for name in archive.namelist() if name.startswith("samples/")]
    return [name.removeprefix("samples/").rpartition("_epoch_")[0] for name in names]


def _since(started: float) -> str:
    return f"{time.perf_counter() - started:.0f} s"


if __name__ == "__main__":
    main()
