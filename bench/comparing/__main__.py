"""`make bench-compare`: matrix, unique fails and buckets on a store of a million attempts, each beside a bare query.

The floor is one SQL statement that groups the same rows; it returns no names, no sets and no page. What is found of a
run is kept with it, so that the first command after an import takes longer than later ones; both are measured.
"""

import argparse
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import measure

MODELS, CASES, TRIES = 20, 5_000, 10
AIM = 2.0
MISTAKES = (
    "expected {a} rows but the query returned {b}",
    "TypeError: unsupported operand type for {a} and {b}",
    "the answer names {a} where {b} was asked for",
    "connection to host-{a} reset by peer after {b} ms",
    "missing field `item_{a}` in object {b}",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the cases")
    parser.add_argument("--store", type=Path, help="a store that an earlier run of this made")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="errata-compare-") as folder:
        store = chosen.store or Path(folder) / "large.db"
        if not store.exists():
            fill(store, Path(folder), CASES // 10 if chosen.small else CASES)
        report(store)


def fill(store: Path, folder: Path, cases: int) -> None:
    """One log for each model, some cases hard for all, some for one alone."""
    started = time.perf_counter()
    for model in range(MODELS):
        log = log_of_model(folder, model, cases)
        measure.run(measure.errata("import", log, "--map", log.parent / "map.toml", "--store", store))
        log.unlink()
    made = MODELS * cases * TRIES
    print(f"{made:,} attempts: {MODELS} models × {cases:,} cases × {TRIES}   {time.perf_counter() - started:.0f} s")


def log_of_model(folder: Path, model: int, cases: int) -> Path:
    chance = random.Random(model)
    log = folder / f"model-{model}.jsonl"
    with log.open("w", encoding="utf-8") as file:
        for case in range(cases):
            hard = (case * 7919 % 100) / 120
            for number in range(1, TRIES + 1):
                ok = chance.random() > hard
                why = (
                    "" if ok else MISTAKES[(case + model) % 5].format(a=chance.randrange(999), b=chance.randrange(999))
                )
                file.write(
                    f'{{"id":"case-{case:04}","topic":"topic-{case % 12}","try":{number},'
                    f'"ok":{"true" if ok else "false"},"why":"{why}"}}\n'
                )
    (folder / "map.toml").write_text(
        f'suite = "large"\n[run]\nname = "model-{model}"\nmodel = "model-{model}"\n[case]\nname = "id"\n'
        'category = "topic"\n[attempt]\nindex = "try"\npassed = "ok"\n'
        '[checks]\nanswer = { column = "ok", explanation = "why" }\n'
    )
    return log


def report(store: Path) -> None:
    floor = _best(lambda: grouped(store))
    print(f"  floor        {floor:5.2f} s   one grouping query over the same rows")
    everything = [f"model-{number}" for number in range(MODELS)]
    for what, words in (
        ("matrix, sets", ["compare", *everything, "--json"]),
        ("page", ["compare", *everything]),
        ("buckets", ["buckets", "list", "--json"]),
    ):
        first, *again = (measure.run(measure.errata(*words, "--store", store)) for _ in range(4))
        cost = min(again, key=lambda one: one.seconds)
        figures = f"{cost.seconds / floor:.1f}× the floor   {cost.peak_mb:.0f} MB   (aim: {AIM:.0f} s, start included)"
        print(f"  {what:<12} {cost.seconds:5.2f} s   {figures}   the first time {first.seconds:.1f} s")


def grouped(store: Path) -> None:
    connection = sqlite3.connect(store)
    query = "select run_pk, case_key, count(*), sum(outcome = 'pass') from attempts where counted group by 1, 2"
    assert connection.execute(query).fetchall()
    connection.close()


def _best(work: Callable[[], None], rounds: int = 3) -> float:
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        taken.append(time.perf_counter() - started)
    return min(taken)


if __name__ == "__main__":
    main()
