"""The programs of `make soak`: one short pass of each part, and the state file that makes a second call continue."""

import json
import random
import re
from pathlib import Path

import pytest
from soak import kills, load, program, reviews, secrets, visible
from soak.kill_stages import STAGES

ROOT = Path(__file__).parent.parent
RESTORE, MIGRATION = ([stage.name for stage in STAGES].index(name) for name in ("restore", "migration"))
IMPORT, SMALL_FILES = 1, 5
"""The import into a store that has another run, and the import of many small files."""


@pytest.mark.req("nothing was lost")
@pytest.mark.parametrize("number", [IMPORT, SMALL_FILES, RESTORE, MIGRATION])
def test_commands_that_are_killed_leave_nothing_half_visible(number, tmp_path):
    baseline = kills.baseline_of(number, tmp_path)
    figures = kills.series(tmp_path, STAGES[number], baseline, random.Random("1"))

    assert baseline.before != baseline.after
    assert figures["kills"] + figures["finished before the kill"] >= 1


def test_every_command_of_the_promise_is_killed():
    of_runs = {"import", "triage", "review", "buckets", "report"}
    of_stores = {"migration", "backup", "copy", "restore", "thin"}
    assert {stage.name for stage in STAGES} == of_runs | of_stores


def test_a_part_that_is_neither_as_before_nor_as_after_is_found():
    visible.check_between({"run a": "1"}, {"run a": "2"}, {"run a": "2"})
    with pytest.raises(AssertionError, match="run a"):
        visible.check_between({"run a": "1"}, {"run a": "3"}, {"run a": "2"})
    with pytest.raises(AssertionError, match="run b"):
        visible.check_between({"run b": "1"}, {}, {"run b": "1"})
    with pytest.raises(AssertionError, match="a part"):
        visible.check_between({}, {"run a": "1"}, {"run a": "1", "run b": "1"}, whole=True)


def test_several_imports_at_once_are_each_seen_whole(tmp_path):
    figures = load.run(tmp_path, "1", writers=2, size=load.MB // 8)

    assert figures["imports at once"] == 2


def test_reviews_that_are_killed_pay_nothing_twice_and_forget_nothing(tmp_path):
    figures = reviews.run(tmp_path, "1", packets=8, kills=1)

    assert figures["reviewed"] + figures["refused"] + figures["failed with a reason"] == 8


def a_unit(folder: Path, seed: str) -> dict[str, float]:
    unit = int(seed.rpartition("/")[2])
    assert unit != 2, "the third unit fails"
    (folder / seed.replace("/", "-")).touch()
    return {"things": 10, "peak memory": 100 + unit}


def test_no_secret_is_in_anything_that_is_written(tmp_path):
    assert secrets.run(tmp_path, secrets=1, each=1, seed=11) == []


def test_a_long_pass_shows_how_far_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(program, "PROGRESS", 0)
    state = program.State(tmp_path / "state.json")
    state.seed = "7"
    program.run([program.Part("part", 2, a_unit)], state, tmp_path, until=float("inf"), processes=1)

    assert capsys.readouterr().out.splitlines()[-1] == "units done: part 2/2; failures 0"


def test_a_second_call_continues_and_totals_go_over_all_seeds(tmp_path):
    part, path = program.Part("part", 4, a_unit), tmp_path / "state.json"
    state = program.State(path)
    state.seed = "7"
    program.run([part._replace(units=1)], state, tmp_path, until=float("inf"), processes=1)
    again = program.State(path)
    assert (again.seed, program.is_done([part], again)) == ("7", False)
    program.run([part], again, tmp_path, until=float("inf"), processes=1)

    kept = json.loads(path.read_text())
    assert program.is_done([part], program.State(path))
    assert sorted(kept["done"]["7"]["part"]) == [0, 1, 2, 3]
    assert kept["totals"]["7"]["part"]["things"] == 30
    assert kept["totals"]["7"]["part"]["peak memory"] == 103
    assert [(one["seed"], one["unit"]) for one in kept["problems"]] == [("7", 2)]
    assert "the third unit fails" in kept["problems"][0]["problem"]
    assert program.summary(again)[-1].startswith("| part | 7 | 30 things, peak memory 103 MB |")


def test_no_unit_starts_after_the_time_is_over(tmp_path):
    state = program.State(tmp_path / "state.json")
    program.run([program.Part("part", 4, a_unit)], state, tmp_path, until=0, processes=1)

    assert state.totals == {}


def test_every_promise_names_a_test_that_exists():
    page = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", page)

    assert len(named) > 10
    for file, name in named:
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), name
