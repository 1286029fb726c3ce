"""`make bench`: import and start-up, each beside its floor in the same run. `--small` is a quick look."""

import argparse
import tempfile
from pathlib import Path

from bench import floor, generate, measure, startup

MB = 1024 * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the data")
    parser.add_argument("--folder", type=Path, help="where the data is made; a temporary folder otherwise")
    chosen = parser.parse_args()
    scale = 10 if chosen.small else 1
    with tempfile.TemporaryDirectory(prefix="errata-bench-", dir=chosen.folder) as folder:
        startup.report()
        _judged(Path(folder), 200 * MB // scale)
        _transcripts(Path(folder), 200 * MB // scale)
        _million(Path(folder), 1_000_000 // scale)
        _linear(Path(folder), 200 * MB // scale)


def _judged(folder: Path, size: int) -> None:
    run = generate.judged_run(folder / "judged", size)
    log = run / "openai_judged.jsonl"
    store = folder / "judged.db"
    cost = measure.run(measure.errata("import", run, "--store", store))
    bare = floor.measure(log, store)
    _say("judged turns", log, cost)
    told = f"orjson {bare.parse:.2f} s + executemany of the same rows {bare.insert:.2f} s"
    print(f"  floor   {bare.seconds:6.2f} s   {told}")
    print(f"  ratio   {cost.seconds / bare.seconds:6.2f}×  of the floor   (aim: at most 1.8)")


def _transcripts(folder: Path, size: int) -> None:
    log = generate.transcripts(folder / "transcripts", size)
    store = folder / "transcripts.db"
    cost = measure.run(measure.errata("import", log, "--map", log.parent / "map.toml", "--store", store))
    parse = floor.parse_seconds(log)
    _say("20 kB transcripts", log, cost)
    print(f"  parse   {parse:6.2f} s   orjson alone, {log.stat().st_size / MB / parse:.0f} MB/s")
    print(f"  share   {100 * parse / cost.seconds:6.1f} %  of parse-only throughput   (aim: at least 35 %)")


def _million(folder: Path, rows: int) -> None:
    log = generate.small_rows(folder / "small", rows)
    store = folder / "small.db"
    cost = measure.run(measure.errata("import", log, "--map", log.parent / "map.toml", "--store", store))
    bare = floor.measure(log, store)
    _say(f"{rows:,} small attempts", log, cost)
    print(f"  floor   {bare.seconds:6.2f} s   ratio {cost.seconds / bare.seconds:.2f}×")


def _linear(folder: Path, size: int) -> None:
    """Seconds per megabyte at a quarter, at the whole and at twice the size."""
    print("linear in size (judged turns)")
    first = 0.0
    for part in (size // 4, size, 2 * size):
        run = generate.judged_run(folder / f"linear-{part}", part)
        cost = measure.run(measure.errata("import", run, "--store", folder / f"linear-{part}.db"))
        rate = cost.seconds / (part / MB)
        first = first or rate
        told = f"{1000 * rate:6.1f} ms/MB ({rate / first:.2f}×)   {cost.peak_mb:.0f} MB"
        print(f"  {part / MB:6.0f} MB {cost.seconds:7.2f} s   {told}")


def _say(what: str, log: Path, cost: measure.Cost) -> None:
    size = log.stat().st_size / MB
    print(f"{what}: {size:.0f} MB")
    memory = f"peak memory {cost.peak_mb:.0f} MB (aim: under 400)"
    print(f"  errata  {cost.seconds:6.2f} s   {size / cost.seconds:.0f} MB/s   {memory}")


if __name__ == "__main__":
    main()
