"""What is said of a path that no source reads: what it seems to be, and what would be right."""

import shutil
from pathlib import Path

import pytest

from errata import sources
from errata.errors import SourceError


@pytest.fixture
def tmp_path(tmp_path):
    """Two folders down: hints look at the folders above, and those of other tests may well be runs."""
    deep = tmp_path / "some" / "folder"
    deep.mkdir(parents=True)
    return deep


FIXTURES = Path(__file__).parents[1] / "fixtures"
GEN1 = FIXTURES / "sources" / "scylla" / "batch-resumed" / "data"
DESCRIBED = {
    "lighteval results": '{"config_general": {}, "results": {}, "config_tasks": {}, "summary_tasks": {}}',
    "OpenCompass predictions": '{"0": {"origin_prompt": "2+2", "prediction": "4", "gold": "4"}}',
    "LangSmith runs": '{"id": "a", "run_type": "chain", "dotted_order": "2026"}\n',
    "Weave calls": '{"id": "a", "op_name": "Evaluation.evaluate", "trace_id": "b", "started_at": "2026"}\n',
}


def refusal(path) -> SourceError:
    with pytest.raises(SourceError) as caught:
        sources.find(Path(path))
    return caught.value


@pytest.mark.parametrize(("what", "content"), DESCRIBED.items(), ids=DESCRIBED)
def test_a_format_that_is_known_by_its_description_is_named(tmp_path, what, content):
    (tmp_path / "some.json").write_text(content)

    assert refusal(tmp_path / "some.json").hint.startswith(f"it looks like {what}: not supported yet")


def test_what_can_be_described_by_a_mapping_is_offered_one(tmp_path):
    (tmp_path / "some.json").write_text(DESCRIBED["lighteval results"])

    assert "describe it with `--map`" in refusal(tmp_path / "some.json").hint


def test_a_folder_is_named_by_the_first_file_that_gives_it_away(tmp_path):
    (tmp_path / "out" / "logs").mkdir(parents=True)
    (tmp_path / "out" / "logs" / "one.json").write_text(DESCRIBED["OpenCompass predictions"])

    assert refusal(tmp_path).hint.startswith(
        "`out/logs/one.json` looks like OpenCompass predictions: not supported yet"
    )


def test_an_empty_file_is_called_empty(tmp_path):
    (tmp_path / "log.eval").touch()

    assert refusal(tmp_path / "log.eval").hint.startswith("the file is empty")


def test_a_folder_of_empty_folders_is_called_so(tmp_path):
    (tmp_path / "jobs" / "first").mkdir(parents=True)

    assert refusal(tmp_path).hint == "the folder contains only empty folders"


def test_a_left_over_of_a_write_names_the_finished_file(tmp_path):
    (tmp_path / "results.json").write_text(DESCRIBED["lighteval results"])
    (tmp_path / "results.json.tmp.1402").write_text('{"created": 1.0, "root": "/home/us')
    error = refusal(tmp_path / "results.json.tmp.1402")

    assert error.message == "`results.json.tmp.1402` ends inside a string that starts at line 1, column 26"
    assert error.hint.splitlines() == [
        "this is a temporary file of an interrupted write; import the finished one:",
        f"`errata import {tmp_path / 'results.json'}`",
    ]


def test_a_left_over_in_a_run_names_the_run(tmp_path):
    (batch,) = [child for child in GEN1.iterdir() if child.is_dir()]
    copy = Path(shutil.copytree(batch, tmp_path / batch.name))
    (copy / "batch_summary.json.tmp.7").write_text('{"results": [{"test_id"')

    assert refusal(copy / "batch_summary.json.tmp.7").hint.endswith(f"`errata import {copy}`")


def test_a_left_over_without_a_finished_file_says_so(tmp_path):
    (tmp_path / "results.json.part").write_text('{"a": ')

    assert "the finished file is missing" in refusal(tmp_path / "results.json.part").hint


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ('{"a": [1, 2', "is truncated at line 1, column 12"),
        ('{"a":\n "text', "ends inside a string that starts at line 2, column 2"),
    ],
)
def test_a_document_that_was_cut_off_says_where_it_stops(tmp_path, content, where):
    (tmp_path / "cut.json").write_text(content)

    assert refusal(tmp_path / "cut.json").message == f"`cut.json` {where}"


@pytest.mark.parametrize("content", ["{} {}", "[1, 2] tail", '{"a": }', "plain words", '{"a": 1}\n{"a": 2}\n'])
def test_what_is_no_document_or_is_wrong_elsewhere_was_not_cut_off(tmp_path, content):
    (tmp_path / "other").write_text(content)

    assert refusal(tmp_path / "other").message.startswith("No source recognises")


def test_a_part_of_a_run_names_the_whole(tmp_path):
    (batch,) = [child for child in GEN1.iterdir() if child.is_dir()]
    copy = Path(shutil.copytree(batch, tmp_path / batch.name))

    assert refusal(copy / "thread_logs").hint == f"it is part of a run; import the whole run: `errata import {copy}`"


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (("hello/task.toml", "hello/instruction.md"), "it contains tasks of a benchmark, not a finished job"),
        (("hello/task.yaml", "hello/run-tests.sh"), "it contains tasks of a benchmark, not a finished job"),
        (("000-a/001-b/TASK.txt", "000-a/001-b/grader.test.ts"), "it contains the tasks and graders of convex-evals"),
        (("TASK.txt", "answer/index.ts"), "it contains the tasks and graders of convex-evals"),
    ],
)
def test_a_benchmark_in_the_place_of_a_run_is_called_one(tmp_path, names, told):
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")

    assert refusal(tmp_path).hint.startswith(told)
