"""`make bench-shapes`: what users import, beside the even rows that errata was first measured with.

    python -m bench.shapes --checkout before=../old --checkout after=.    # several checkouts take turns, on equal data

Each command of a shape runs in every checkout before the next one begins. Shown is the least time of the rounds, in
seconds of the processor of a command and all its processes, and the most memory that they took together.
"""

import argparse
import json
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

from bench import generate, measure
from bench.comparing.__main__ import log_of_model
from bench.small_files import harbor_job, inspect_logs

MB = 1024 * 1024
ROUNDS = 3
MODELS = 5


class Shape(NamedTuple):
    paths: list[Path]
    options: tuple[str, ...] = ()
    """Of `errata import`."""
    longer: Path | None = None
    """The same log with more rows."""


def tokens(folder: Path, scale: int) -> Shape:
    """A flat table with one column of tokens."""
    mapping = '[attempt]\npassed = "ok"\noutput = "answer"\ntotal_tokens = "tokens"\n'
    rows = (_row(number) | {"tokens": 200 + number * 7919 % 3000} for number in range(200_000 // scale))
    return _table(folder, rows, mapping)


def usage(folder: Path, scale: int) -> Shape:
    """Two runs with 40 attempts a case, each with nested usage and the text of a judge."""
    mapping = (
        '[attempt]\nindex = "trial"\npassed = "ok"\noutput = "answer"\njudge_reasoning = "why"\n'
        'input_tokens = "usage.prompt_tokens"\noutput_tokens = "usage.completion_tokens"\n'
        'cache_read_tokens = "usage.details.cached_tokens"\n'
    )
    shapes = [_table(folder, _tries(run, 20_000 // scale), mapping, f"run-{run}") for run in range(2)]
    return Shape([path for shape in shapes for path in shape.paths], shapes[0].options)


def _tries(run: int, count: int) -> Iterator[dict[str, object]]:
    for number in range(count):
        passed = number * 7919 % 100 > (number // 40 + 7 * run) % 90
        yield _row(number // 40) | {
            "trial": number % 40 + 1, "ok": passed,
            "why": "" if passed else f"expected {number % 97}, and the answer names {number * 31 % 89}",
            "usage": {"prompt_tokens": 900 + number % 100, "completion_tokens": number % 300,
                      "details": {"cached_tokens": number % 2 * 512}},
        }  # fmt: skip


def uneven(folder: Path, scale: int) -> Shape:
    """Transcripts of one to eighty messages, every third with calls of a tool."""
    chance = random.Random(4)
    rows = (_row(number) | {"messages": _messages(chance, calls=number % 3 == 0)} for number in range(6_000 // scale))
    return _table(folder, rows, '[attempt]\npassed = "ok"\noutput = "answer"\nmessages = "messages"\n')


def inspect(folder: Path, scale: int) -> Shape:
    return Shape([inspect_logs(folder / "logs", 135, samples=max(1, 20 // scale)).path])


def harbor(folder: Path, scale: int) -> Shape:
    return Shape([harbor_job(folder / "job", 3_000 // scale).path])


def suite(folder: Path, scale: int) -> Shape:
    """Ten attempts a case by several models, each with one check."""
    logs = [log_of_model(folder, model, 2_000 // scale) for model in range(MODELS)]
    named = folder / "map.toml"
    # each run has the name of its file
    named.write_text(re.sub(r'^name = "model-\d"\n', "", named.read_text(), flags=re.M))
    return Shape(logs, ("--map", str(named)))


def small_rows(folder: Path, scale: int) -> Shape:
    return _even(generate.small_rows, folder, 300_000 // scale)


def transcripts(folder: Path, scale: int) -> Shape:
    return _even(generate.transcripts, folder, 100 * MB // scale)


def judged(folder: Path, scale: int) -> Shape:
    return Shape([generate.judged_run(folder / "judged", 50 * MB // scale)])


def _even(make: Callable[[Path, int], Path], folder: Path, size: int) -> Shape:
    log, longer = make(folder / "log", size), make(folder / "longer", size + size // 100)
    return Shape([log], ("--map", str(log.parent / "map.toml")), longer)


def _table(folder: Path, rows: Iterable[object], mapping: str, name: str = "attempts") -> Shape:
    log, named = folder / f"{name}.jsonl", folder / "map.toml"
    with log.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
    named.write_text('suite = "shape"\n[run]\nmodel = "bench"\n[case]\nname = "id"\ninput = "question"\n' + mapping)
    return Shape([log], ("--map", str(named)))


def _row(number: int) -> dict[str, object]:
    question = f"Which pier is the ferry number {number} at, and when does it leave?"
    return {"id": f"case-{number:06}", "question": question, "answer": f"pier {number % 7}", "ok": number % 4 > 0}


def _messages(chance: random.Random, *, calls: bool) -> list[dict[str, object]]:
    made: list[dict[str, object]] = [{"role": "system", "content": "Answer from the timetable."}]
    for at in range(chance.randrange(1, 80)):
        text = " ".join(chance.choices(generate.WORDS, k=chance.randrange(5, 120)))
        if calls and at % 4 == 1:
            call = {"id": f"c{at}", "type": "function", "function": {"name": "look", "arguments": '{"pier": 4}'}}
            made.append({"role": "assistant", "content": None, "tool_calls": [call]})
            made.append({"role": "tool", "tool_call_id": f"c{at}", "content": text})
        else:
            made.append({"role": "assistant" if at % 2 else "user", "content": text})
    return made


USERS = (tokens, usage, uneven, inspect, harbor)
EVEN = (suite, small_rows, transcripts, judged)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkout", action="append", metavar="NAME=FOLDER", help="this one otherwise")
    parser.add_argument("--only", nargs="+", choices=[shape.__name__ for shape in (*USERS, *EVEN)])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--small", action="store_true", help="a tenth of the data")
    parser.add_argument("--folder", type=Path, help="where the data is made; a temporary folder otherwise")
    chosen = parser.parse_args()
    named = dict(word.split("=", 1) for word in chosen.checkout or ["errata=."])
    checkouts = {name: Path(folder).resolve() for name, folder in named.items()}
    print(f"{'':12}{'':10}" + "".join(f"{name:>24}" for name in checkouts))
    for make in (*USERS, *EVEN):
        if not chosen.only or make.__name__ in chosen.only:
            with tempfile.TemporaryDirectory(prefix="errata-bench-", dir=chosen.folder) as folder:
                _report(make, Path(folder), 10 if chosen.small else 1, checkouts, chosen.rounds)


def _report(
    make: Callable[[Path, int], Shape], folder: Path, scale: int, checkouts: dict[str, Path], rounds: int
) -> None:
    shape = make(folder, scale)
    costs: dict[str, dict[str, list[measure.Cost]]] = {}
    for _ in range(rounds):
        stores = {name: Path(tempfile.mkdtemp(dir=folder)) / "shape.db" for name in checkouts}
        for step, words in _steps(shape):
            with _grown(shape) if step == "grown" else nullcontext():
                for name, checkout in checkouts.items():
                    command = [sys.executable, "-m", "errata", *words, "--store", str(stores[name])]
                    cost = measure.run(command, {"PYTHONPATH": str(checkout / "src")})
                    costs.setdefault(step, {}).setdefault(name, []).append(cost)
        for store in stores.values():
            shutil.rmtree(store.parent)
    for step, by_name in costs.items():
        figures = [_figures(by_name[name], by_name[next(iter(checkouts))]) for name in checkouts]
        print(f"{make.__name__:12}{step:10}" + "".join(f"{figure:>24}" for figure in figures), flush=True)


def _steps(shape: Shape) -> Iterator[tuple[str, tuple[str, ...]]]:
    importing = ("import", *map(str, shape.paths), *shape.options)
    yield "import", importing
    yield "again", importing
    if shape.longer is not None:
        yield "grown", importing
    if len(shape.paths) > 1:
        yield "compare", ("compare", *(path.stem for path in shape.paths), "--json")
    yield "causes", ("buckets", "list", "--json")


@contextmanager
def _grown(shape: Shape) -> Iterator[None]:
    """The longer log in the place of the first one."""
    assert shape.longer is not None
    log, aside = shape.paths[0], shape.paths[0].with_name("aside")
    log.replace(aside)
    shutil.copyfile(shape.longer, log)
    try:
        yield
    finally:
        aside.replace(log)


def _figures(costs: list[measure.Cost], first: list[measure.Cost]) -> str:
    least, before = (min(cost.cpu_seconds for cost in each) for each in (costs, first))
    return f"{least:.2f} s {100 * least / before:4.0f} % {max(cost.peak_mb for cost in costs):4.0f} MB"


if __name__ == "__main__":
    main()
