"""`make bench-grow`: an import of a run that has grown by 1 %, and of one that has not, beside its first import."""

import argparse
import tempfile
from pathlib import Path

from bench import generate, measure

MB = 1024 * 1024
AIM = "aim: at most 5 %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the data")
    parser.add_argument("--folder", type=Path, help="where the data is made; a temporary folder otherwise")
    chosen = parser.parse_args()
    scale = 10 if chosen.small else 1
    with tempfile.TemporaryDirectory(prefix="errata-bench-", dir=chosen.folder) as folder:
        report(Path(folder), scale)


def report(folder: Path, scale: int) -> None:
    start = measure.run(_command(generate.small_rows(folder / "start", 1), folder / "start.db"))
    print(f"an import of one row: {start.seconds:.2f} s, {start.cpu_seconds:.2f} s of the processor")
    judged(folder, 200 * MB // scale, start)
    mapped(folder, "transcripts", 200 * MB // scale, start)
    mapped(folder, "small_rows", 1_000_000 // scale, start)


def judged(folder: Path, size: int, start: measure.Cost) -> None:
    run = generate.judged_run(folder / "grown", size)
    longer = generate.judged_run(folder / "longer", size + size // 100)  # the same seed: it begins with the same turns
    command = measure.errata("import", run, "--no-triage", "--store", folder / "grown.db")
    first, again = measure.run(command), measure.run(command)
    for file in longer.iterdir():
        file.replace(run / file.name)
    _say("judged turns", first, again, measure.run(command), start)


def mapped(folder: Path, kind: str, size: int, start: measure.Cost) -> None:
    make = {"transcripts": generate.transcripts, "small_rows": generate.small_rows}[kind]
    log, longer = make(folder / f"{kind}-grown", size), make(folder / f"{kind}-longer", size + size // 100)
    command = _command(log, folder / f"{kind}-grown.db")
    first, again = measure.run(command), measure.run(command)
    longer.replace(log)
    _say(kind.replace("_", " "), first, again, measure.run(command), start)


def _command(log: Path, store: Path) -> list[str]:
    return measure.errata("import", log, "--no-triage", "--map", log.parent / "map.toml", "--store", store)


def _say(what: str, first: measure.Cost, again: measure.Cost, grown: measure.Cost, start: measure.Cost) -> None:
    print(f"{what}: first import {first.seconds:.2f} s, {first.cpu_seconds:.2f} s of the processor")
    for name, cost in (("unchanged", again), ("grown by 1 %", grown)):
        share = 100 * cost.cpu_seconds / first.cpu_seconds
        once_started = 100 * (cost.cpu_seconds - start.cpu_seconds) / (first.cpu_seconds - start.cpu_seconds)
        figures = f"{cost.seconds:.2f} s, {100 * cost.seconds / first.seconds:.1f} % of the time"
        print(f"  {name:13} {figures}, {share:.1f} % of the processor ({once_started:.1f} % once started)   ({AIM})")


if __name__ == "__main__":
    main()
