"""What is special about Langfuse: a trace has no state, scores have types, and runs stand beside the traces."""

import json
import shutil

import pytest
from changed_logs import FIXTURES, attempts, by_case, cases, facts, runs, unreadables, write_rows
from langfuse_traces import observation, score, trace

from errata import sources
from errata.errors import UnknownFormatError
from errata.model import Attempt

DATASET_RUN = FIXTURES / "langfuse" / "dataset_run" / "data"
BUCKET = FIXTURES / "langfuse" / "bucket" / "data"


def read(folder, *rows) -> Attempt:
    return attempts(write_rows(folder / "traces.jsonl", *rows))[0]


def test_a_trace_whose_observation_broke_has_no_outcome_although_it_is_scored():
    broken = by_case(DATASET_RUN)["i-3"]

    assert facts(broken) == ("error", "scored", "none")
    assert (broken.reported, [(error.type, error.message) for error in broken.errors]) == (
        0.0,
        [("APIConnectionError", "503 upstream")],
    )


def test_a_trace_that_nobody_scored_has_no_verdict():
    assert [facts(one) for one in attempts(BUCKET)] == [
        ("completed", "scored", "pass"),
        ("completed", "not_run", "none"),
    ]


def test_several_tries_at_an_item_are_told_apart_by_their_order():
    tries = [one for one in attempts(DATASET_RUN) if one.case == "tides/i-1"]

    assert [(one.index, one.native_id, one.outcome) for one in tries] == [(1, "t-1", "pass"), (2, "t-4", "number")]


def test_an_item_whose_trace_is_not_in_the_export_is_missing():
    assert facts(by_case(DATASET_RUN)["i-4"]) == ("missing", "not_run", "none")


def test_the_dataset_tells_what_was_expected():
    assert {name: case.expected for name, case in cases(DATASET_RUN).items()} == {
        "i-1": "14:05",
        "i-2": "20:10",
        "i-3": "9 March",
        "i-4": "18 March",
    }


def test_the_number_of_a_run_names_the_score_that_decides():
    (run,) = runs(DATASET_RUN)
    first = attempts(DATASET_RUN)[0]

    assert [(one.name, one.scorer, one.metric, one.headline) for one in run.reported] == [
        ("avg_accuracy", "accuracy", "mean", True)
    ]
    assert {check.name: check.counts for check in first.checks} == {"accuracy": True, "tone": False}


@pytest.mark.parametrize(
    ("told", "status", "value"),
    [
        (score("m", 1, "BOOLEAN"), "pass", True),
        (score("m", 0, "BOOLEAN"), "fail", False),
        (score("m", 0.4), "fail", 0.4),
        (score("m", 7), "not_applicable", 7.0),
        (score("m", 0, "CATEGORICAL", stringValue="incorrect"), "fail", "incorrect"),
        (score("m", 0, "CATEGORICAL", stringValue="friendly"), "not_applicable", "friendly"),
        (score("m", None), "unscored", None),
    ],
)
def test_a_score_is_read_by_its_type(tmp_path, told, status, value):
    (check,) = read(tmp_path, trace(told)).checks

    assert (check.status, check.value) == (status, value)


@pytest.mark.parametrize("kind", ["TEXT", "CORRECTION"])
def test_words_and_corrections_are_no_measurement(tmp_path, kind):
    attempt = read(tmp_path, trace(score("note", 0, kind, stringValue="Better: 14:05")))

    assert facts(attempt) == ("completed", "not_run", "none")
    assert attempt.checks[0].value == "Better: 14:05"


def test_observations_are_told_in_the_order_in_which_they_began():
    first = attempts(DATASET_RUN)[0]

    assert [(step.kind, step.text) for step in first.steps] == [
        ("log", "desk"),
        ("message", "When is high water?"),
        ("model_call", ""),
        ("model_call", "14:05"),
    ]
    assert first.steps[2].tool_calls[0].result.text == "14:05"


def test_one_of_several_observations_without_a_parent_may_break_and_be_made_good(tmp_path):
    failed = observation("o-1", name="answer", level="ERROR", statusMessage="503", output=None)
    attempt = read(tmp_path, trace(observations=[failed, observation("o-2", name="answer", at=2)]))

    assert (attempt.execution, [error.recovered for error in attempt.errors]) == ("completed", [True])


def test_an_observation_that_never_ended_and_gave_nothing_is_unfinished(tmp_path):
    assert read(tmp_path, trace(observations=[observation("o-1", endTime=None, output=None)])).execution == "unfinished"


def test_an_export_to_a_bucket_has_other_names_and_times_without_a_zone():
    first = attempts(BUCKET)[0]

    assert (first.started_at, first.steps[2].model, first.usage.subject.cache_read) == (
        "2026-03-04T10:00:00.000000Z",
        "nimbus-2",
        4,
    )
    assert [(call.name, call.arguments, call.result.text) for call in first.steps[2].tool_calls] == [
        ("tide_table", {"port": "Kiel"}, "14:05")
    ]


@pytest.mark.parametrize("shape", ["lines", "list"])
def test_a_trace_whose_observations_are_in_several_files_is_read_whole(tmp_path, shape):
    """A bucket gets a file an hour, and a trace may go on beyond it."""
    shutil.copytree(BUCKET, tmp_path / "data")
    (file,) = (tmp_path / "data" / "observations_v2").iterdir()
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    file.unlink()
    for hour, part in enumerate((rows[::2], rows[1::2], rows[:1]), 11):  # the third one repeats a row
        lines = [json.dumps(row) for row in part]
        text = "\n".join(lines) if shape == "lines" else f"[{', '.join(lines)}]"
        (file.parent / f"2026-03-04T{hour}.jsonl").write_text(text)

    whole, split = attempts(BUCKET), attempts(tmp_path / "data")

    assert [(one.native_id, one.usage, facts(one)) for one in split] == [
        (one.native_id, one.usage, facts(one)) for one in whole
    ]
    assert [[step.text for step in one.steps] for one in split] == [[step.text for step in one.steps] for one in whole]


def test_an_item_of_an_experiment_is_its_own_link(tmp_path):
    item = {"id": "o-1", "traceId": "t-1", "startTime": "2026-03-04T10:00:00Z", "endTime": None, "level": "DEFAULT"}
    item |= {"experimentId": "e-1", "experimentName": "first", "experimentItemId": "i-1", "input": "Q", "output": "A"}
    path = write_rows(
        tmp_path / "items.jsonl", item | {"expectedOutput": "A", "scores": [score("exact", True, "BOOLEAN")]}
    )

    assert [(run.native_id, run.name) for run in runs(path)] == [("e-1", "first")]
    assert (facts(attempts(path)[0]), cases(path)["i-1"].expected) == (("completed", "scored", "pass"), "A")


def test_a_list_of_traces_without_details_has_only_ids_inside(tmp_path):
    folder = tmp_path / "export"
    write_rows(folder / "traces.jsonl", trace() | {"observations": ["o-1"], "scores": ["s-exact"]})
    write_rows(folder / "observations.jsonl", observation("o-1"))
    write_rows(folder / "scores.jsonl", score("exact", 1))
    (attempt,) = attempts(folder)

    assert (facts(attempt), len(attempt.steps)) == (("completed", "scored", "pass"), 2)


def test_scores_alone_say_where_they_belong(tmp_path):
    shutil.copy(DATASET_RUN / "scores.json", tmp_path)
    with pytest.raises(UnknownFormatError) as caught:
        sources.find(tmp_path / "scores.json")

    assert caught.value.hint.startswith("it belongs to Langfuse traces: import the folder")


def test_a_score_of_nothing_is_told(tmp_path):
    write_rows(tmp_path / "traces.jsonl", trace())
    write_rows(tmp_path / "scores.jsonl", score("mood", 1, traceId=None, sessionId="c-1"))

    assert [one.why for one in unreadables(tmp_path)] == ["a score without a trace or a run"]
