"""`make bench`: import and start-up, each beside its floor in the same run. `--small` is a quick look."""

import argparse
import statistics
import tempfile
from pathlib import Path

from bench import floor, generate, measure, startup

MB = 1024 * 1024
ROUNDS = 3


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
        _small(Path(folder), 1_000_000 // scale)
        _linear(Path(folder), 200 * MB // scale)


def _judged(folder: Path, size: int) -> None:
    run = generate.judged_run(folder / "judged", size)
    log = run / "openai_judged.jsonl"
    costs, bare = [], []
    for number in range(ROUNDS):
        store = folder / f"judged-{number}.db"
        costs.append(measure.run(measure.errata("import", run, "--no-triage", "--store", store)))
        bare.append(floor.bare_import(log, floor.judged_turn))
    tight = floor.prepared_rows(log, store)
    cost = _say("judged turns", log, costs)
    _ratio("orjson + executemany of the same rows", cost, statistics.median(bare), "   (aim: at most 1.5)")
    _ratio("the same with rows made beforehand", cost, tight, "")


def _transcripts(folder: Path, size: int) -> None:
    """Throughput once started: what the command takes for next to nothing is taken off."""
    log = generate.transcripts(folder / "transcripts", size)
    tiny = generate.transcripts(folder / "tiny", 1)
    costs, starts, parses = [], [], []
    for number in range(ROUNDS):
        costs.append(_import_mapped(log, folder / f"transcripts-{number}.db"))
        starts.append(_import_mapped(tiny, folder / f"tiny-{number}.db").seconds)
        parses.append(floor.parse_seconds(log))
    cost = _say("20 kB transcripts", log, costs)
    start, parse, megabytes = statistics.median(starts), statistics.median(parses), log.stat().st_size / MB
    print(f"  parse   {parse:6.2f} s   orjson alone, {megabytes / parse:.0f} MB/s")
    print(f"  start   {start:6.2f} s   the same command on one attempt")
    share = parse / (cost - start)
    figures = (
        f"of parse-only throughput once started ({100 * parse / cost:.1f} % with the start)   (aim: at least 40 %)"
    )
    print(f"  share   {100 * share:6.1f} % {figures}")


def _small(folder: Path, rows: int) -> None:
    log = generate.small_rows(folder / "small", rows)
    cost = _say(f"{rows:,} small attempts", log, [_import_mapped(log, folder / "small.db")])
    _ratio(
        "orjson + executemany of the same rows", cost, floor.bare_import(log, floor.small_row), "   (aim: at most 3)"
    )


def _linear(folder: Path, size: int) -> None:
    """Seconds per megabyte at a quarter, at the whole and at twice the size."""
    print("linear in size (judged turns)")
    first = 0.0
    for part in (size // 4, size, 2 * size):
        run = generate.judged_run(folder / f"linear-{part}", part)
        cost = measure.run(measure.errata("import", run, "--no-triage", "--store", folder / f"linear-{part}.db"))
        rate = cost.seconds / (part / MB)
        first = first or rate
        figures = f"{1000 * rate:6.1f} ms/MB ({rate / first:.2f}×)   {cost.peak_mb:.0f} MB"
        print(f"  {part / MB:6.0f} MB {cost.seconds:7.2f} s   {figures}")


def _import_mapped(log: Path, store: Path) -> measure.Cost:
    return measure.run(measure.errata("import", log, "--no-triage", "--map", log.parent / "map.toml", "--store", store))


def _say(what: str, log: Path, costs: list[measure.Cost]) -> float:
    """The median of the rounds, the peak of the worst."""
    size, seconds = log.stat().st_size / MB, statistics.median(cost.seconds for cost in costs)
    memory = f"peak memory {max(cost.peak_mb for cost in costs):.0f} MB (aim: at most 300)"
    print(f"{what}: {size:.0f} MB")
    print(f"  errata  {seconds:6.2f} s   {size / seconds:.0f} MB/s   {memory}")
    return seconds


def _ratio(what: str, seconds: float, bare: float, aim: str) -> None:
    print(f"  floor   {bare:6.2f} s   {what}: {seconds / bare:.2f}×{aim}")


if __name__ == "__main__":
    main()
