"""Tables of one's own: each object in a nested list of runs is one run; repeated rows and stale runs are reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from errata.model import Attempt, Item, Run
from errata.sources.generic.mapping import load
from errata.sources.generic.reader import MappedSource
from terminal import errata

CASE = '[case]\nname = "task"\n[attempt]\nindex = "trial"\npassed = "ok"\n'
NESTED = f'rows = "runs[].results[]"\n[run]\nmodel = {{ column = "^model" }}\n{CASE}'


def results(*passed: int) -> list[dict[str, Any]]:
    return [{"task": f"t{at}", "trial": 0, "ok": value} for at, value in enumerate(passed)]


def read(folder: Path, document: Any, mapping: str, name: str = "log.json") -> list[Item]:
    path, beside = folder / name, folder / f"{name}.map.toml"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    beside.write_text(mapping, encoding="utf-8")
    return list(MappedSource(load(beside)).read(path))


def counts(items: list[Item]) -> list[int]:
    runs = dict.fromkeys(item.id for item in items if isinstance(item, Run))
    return [sum(item.run == run for item in items if isinstance(item, Attempt)) for run in runs]


RUNS = [{"model": "a", "results": results(1, 0)}, {"model": "a", "results": results(0, 0, 1)}]


def test_runs_of_one_model_stay_apart(tmp_path: Path):
    items = read(tmp_path, {"runs": RUNS}, NESTED)

    assert counts(items) == [2, 3]
    assert [item.native_id for item in items if isinstance(item, Run)] == ["log", "log-2"]
    assert not any(item.duplicate_of for item in items if isinstance(item, Attempt))


def test_runs_that_the_mapping_merges_are_merged(tmp_path: Path):
    assert counts(read(tmp_path, {"runs": RUNS}, NESTED.replace("[run]", '[run]\nid = "all"'))) == [5]


def test_objects_that_are_cases_are_no_runs(tmp_path: Path):
    tasks = [{"model": "a", "task": name, "trials": [{"ok": 1}, {"ok": 0}]} for name in ("x", "y")]
    mapping = (
        'rows = "[].trials[]"\n[run]\nmodel = { column = "^model" }\n[case]\nname = "^task"\n[attempt]\npassed = "ok"'
    )

    assert counts(read(tmp_path, tasks, mapping)) == [4]


def test_objects_one_further_out_may_be_the_runs(tmp_path: Path):
    tasks = [{"task": name, "trials": [{"ok": 1}, {"ok": 0}]} for name in ("x", "y")]
    runs = [{"model": "a", "tasks": tasks}, {"model": "a", "tasks": tasks}]
    mapping = (
        'rows = "[].tasks[].trials[]"\n[run]\nmodel = { column = "^^model" }\n[case]\nname = "^task"\n'
        '[attempt]\npassed = "ok"'
    )

    assert counts(read(tmp_path, runs, mapping)) == [4, 4]


TABLE = "job,seed_text,task,trial,ok\n" + "".join(
    f"{job},same,t{task},{trial},{task % 2}\n" for job in "xy" for task in range(3) for trial in (0, 1)
)
FLAT = f'[run]\nmodel = "m"\n{CASE}'


@pytest.fixture
def table(at_home: Path) -> Path:
    (at_home / "log.csv").write_text(TABLE, encoding="utf-8")
    (at_home / "log.csv.map.toml").write_text(FLAT, encoding="utf-8")
    return at_home / "log.csv.map.toml"


def test_repeated_rows_are_reported_with_columns_that_distinguish_them(table: Path):
    talk = errata("import", "log.csv").talk

    assert "6 rows with the case and attempt number of another row" in talk
    assert 'if `job` distinguishes runs, add `id = { column = "job" }` to `[run]`' in talk


def test_runs_of_an_earlier_mapping_are_listed_and_not_removed(table: Path):
    errata("import", "log.csv")
    table.write_text(FLAT.replace("[run]", '[run]\nid = { column = "job" }'), encoding="utf-8")

    talk = errata("import", "log.csv").talk

    assert "1 run of log.csv from an earlier import is not in this one; to remove: `errata rm log`" in talk
    assert len(errata("runs", "--json").rows) == 3
    assert errata("rm", "--yes", "log").code == 0
    assert "earlier import" not in errata("import", "log.csv").talk
