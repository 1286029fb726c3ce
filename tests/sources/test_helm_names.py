"""HELM's files under other names: known by content, joined where they are of one run, read alone where they must."""

import json
from pathlib import Path

import pytest
from changed_logs import FIXTURES, attempts, by_case, cases, copy_of, facts, runs

from errata import sources

PREDICTIONS = FIXTURES / "helm" / "predictions" / "data"
OTHER_NAMES = {"run_spec": "a1", "scenario_state": "b2", "per_instance_stats": "c3", "stats": "d4"}


@pytest.fixture
def demo(tmp_path) -> Path:
    return next(copy_of("helm/demo", tmp_path).iterdir())


def rename(folder: Path, names: dict[str, str]) -> Path:
    for old, new in names.items():
        (folder / f"{old}.json").rename(folder / f"{new}.json")
    return folder


def verdicts(path: Path):
    return [(one.case, one.index, facts(one), one.reported, one.reported_counted, one.output) for one in attempts(path)]


@pytest.mark.req("B-32")
def test_a_folder_is_the_same_run_whatever_its_files_are_called(demo):
    usual, (run,) = verdicts(demo), runs(demo)
    rename(demo, OTHER_NAMES)
    (renamed,) = runs(demo)

    assert [(found.path, found.source.NAME) for found in sources.find(demo)] == [(demo, "helm")]
    assert verdicts(demo) == usual
    assert (renamed.id, renamed.suite, renamed.subject) == (run.id, run.suite, run.subject)


def test_files_of_several_runs_in_one_folder_are_joined_by_name(demo):
    for name in OTHER_NAMES:
        content = (demo / f"{name}.json").read_text()
        for run in ("red", "blue"):
            (demo / f"{run}_{name}.json").write_text(content.replace("simple/model1", f"acme/{run}"))
        (demo / f"{name}.json").unlink()
    (demo / "scenario.json").unlink()
    found = sources.find(demo)

    assert [(one.path.name, one.source.NAME) for one in found] == [
        ("blue_scenario_state.json", "helm"),
        ("red_scenario_state.json", "helm"),
    ]
    assert [run.subject.model for run in runs(demo)] == ["acme/blue", "acme/red"]
    assert len(attempts(demo)) == 4
    assert sources.look(demo).unread.files == ()


def test_statistics_alone_are_verdicts_without_texts(demo, tmp_path):
    with_requests = {one.case.rpartition("/")[2]: facts(one) for one in attempts(demo)}
    alone = tmp_path / "elsewhere" / "scores of june.json"
    alone.parent.mkdir()
    alone.write_bytes((demo / "per_instance_stats.json").read_bytes())
    (run,) = runs(alone.parent)

    assert {one.case.rpartition("/")[2]: facts(one) for one in attempts(alone.parent)} == with_requests
    assert {one.output.text for one in attempts(alone.parent)} == {None}
    assert run.name == ""


def test_displayed_predictions_have_answers_and_their_instances_the_tasks():
    first, second = by_case(PREDICTIONS)["id1"], by_case(PREDICTIONS)["id2"]

    assert (facts(first), facts(second)) == (("completed", "scored", "pass"), ("completed", "scored", "fail"))
    assert (second.output.text, second.output.answer) == (" B", "N")
    assert [check.name for check in second.checks if check.counts] == ["exact_match"]
    case = cases(PREDICTIONS)["id2"]
    assert (case.input, case.expected) == ("Which flag means diver down?", "A")
    assert (second.usage.subject.input, second.usage.subject.output) == (19, 1)


def test_displayed_predictions_measure_requests_that_have_no_statistics(demo):
    usual = [facts(one) for one in attempts(demo)]
    rows = json.loads((demo / "per_instance_stats.json").read_text())
    shown = [
        {"instance_id": row["instance_id"], "train_trial_index": row["train_trial_index"], "predicted_text": "?"}
        | {"stats": {stat["name"]["name"]: stat.get("mean") for stat in row["stats"]}}
        for row in rows
    ]
    (demo / "per_instance_stats.json").unlink()
    (demo / "shown.json").write_text(json.dumps(shown))

    assert [facts(one) for one in attempts(demo)] == usual
