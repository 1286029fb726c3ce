"""`make bench-report`: reports over 10,000 failures, from a store that was triaged before. Aim: each under 10 s.

The folder of issues has two files for each failure, so that it takes as long as the disk needs for them; it has no aim.
"""

import argparse
import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.measure import errata, run

FAILURES, PASSES = 10_000, 2_000
AIM = 10
MAPPING = """
suite = "bench"

[run]
name = "NAME"
model = { column = "model" }

[case]
name = "task"
category = "topic"
input = "prompt"
expected = "gold"

[attempt]
output = "answer"
passed = "correct"
error = "exception"
"""
WORDS = ("harbour", "tide", "boat", "captain", "ticket", "price", "Sunday", "booking", "cancel", "seat", "map", "quay")
CRASHES = (
    "TimeoutError: no answer within {n} s",
    "RateLimitError: 429 Too Many Requests, retry after {n} s",
    "ConnectionResetError: [Errno 104] reset while reading chunk {n}",
    "ValidationError: {n} validation errors for Answer",
    "KeyError: 'field_{n}'",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failures", type=int, default=FAILURES)
    failures = parser.parse_args().failures
    with tempfile.TemporaryDirectory(prefix="errata-bench-") as place:
        slowest = _measure(Path(place), failures)
    verdict = "met" if slowest < AIM else "NOT met"
    print(f"{failures:,} failures; aim: each report under {AIM} s: {verdict}, the slowest took {slowest:.1f} s")


def _measure(folder: Path, failures: int) -> float:
    store = folder / "errata.db"
    for name, count in (("whole", failures), ("half-1", failures // 2), ("half-2", failures // 2)):
        _say(f"import and triage, {name}", "import", _log(folder, name, count), "--store", store)
        _say(f"buckets, {name}", "buckets", "suggest", name, "--store", store)
    for name in ("whole", "half-1", "half-2"):  # what later runs show of the tasks changes the owners
        _say(f"triage again, {name}", "triage", name, "--store", store)
        _say(f"buckets again, {name}", "buckets", "suggest", name, "--store", store)
    shared = ("--date", "2026-03-10", "--store", store)
    run_report = ("report", "whole", "--profile", "run", "-o", folder / "reports", *shared)
    slowest = max(
        _say("run, markdown", *run_report),
        _say("run, again and as a page", *run_report, "--html"),
        _say("run, JSON", *run_report, "--json"),
        _say("comparison of both halves", "report", "half-1", "half-2", "-o", folder / "results", "--html", *shared),
    )
    _say("folder of issues", "issues", "whole", "-o", folder / "analysis", *shared)
    return slowest


def _say(what: str, *words: str | Path) -> float:
    cost = run(errata(*words))
    print(f"{what:<28} {cost.seconds:6.2f} s   {cost.peak_mb:.0f} MB", flush=True)
    return cost.seconds


def _log(folder: Path, model: str, failures: int) -> Path:
    path = folder / f"{model}.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in _rows(model, failures)), encoding="utf-8")
    path.with_name(f"{path.name}.map.toml").write_text(MAPPING.replace("NAME", model), encoding="utf-8")
    return path


def _rows(model: str, failures: int) -> Iterator[dict[str, object]]:
    chance, tasks = random.Random(model), random.Random("tasks")
    for number in range(failures + PASSES):
        row: dict[str, object] = {
            "model": model,
            "task": f"topic-{number % 20:02}/task-{number:05}",
            "topic": f"topic-{number % 20:02}",
            "prompt": _sentence(tasks, 40),
            "gold": _sentence(tasks, 6),
            "answer": _sentence(chance, 60),
            "correct": number >= failures,
        }
        if number < failures and number % 3 == 0:
            crash = chance.choice(CRASHES).format(n=chance.randrange(1000))
            row |= {"answer": None, "exception": crash}
        yield row


def _sentence(chance: random.Random, words: int) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(words))


if __name__ == "__main__":
    main()
