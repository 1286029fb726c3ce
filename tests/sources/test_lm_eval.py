"""What is special about lm-evaluation-harness: a row for each filter, repeats in a row, likelihoods, groups."""

import json
from pathlib import Path
from typing import Any

from changed_logs import FIXTURES, attempts, by_case, cases, facts, items, runs, unreadables

from errata.model import Attempt, Run
from errata.sources import lm_eval

API = FIXTURES / "lm_eval" / "api" / "data"
DUMMY = FIXTURES / "lm_eval" / "dummy" / "data"
MATHS = FIXTURES / "lm_eval" / "maths" / "data"
ALONE = FIXTURES / "lm_eval" / "rows_alone" / "data"


def results(folder: Path, results_: dict[str, Any], **more: Any) -> Path:
    path = folder / "results_2026-01-01T00-00-00.json"
    path.write_text(json.dumps({"results": results_, "configs": {}, "date": 1.0, "model_name": "m", **more}))
    return path


def sample(number: int, **more: Any) -> dict[str, Any]:
    asked = {"gen_args_0": {"arg_0": f"Q{number}", "arg_1": {"until": ["\n"]}}}
    row = {"doc_id": number, "doc": {"q": number}, "target": "4", "arguments": asked, "resps": [["4"]]}
    return row | {"filtered_resps": ["4"], "filter": "none", "metrics": ["acc"], "acc": 1.0} | more


def samples(folder: Path, task: str, *rows: dict[str, Any]) -> Path:
    path = folder / f"samples_{task}_2026-01-01T00-00-00.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_rows_of_all_filters_are_one_attempt():
    (first, *_) = attempts(API)

    assert [(check.name, check.status) for check in first.checks] == [
        ("exact_match,strict", "pass"),
        ("exact_match,flexible", "fail"),
    ]
    assert len(attempts(API)) == 3


def test_the_first_measure_of_the_results_decides():
    (first, *_) = attempts(API)

    assert [check.name for check in first.checks if check.counts] == ["exact_match,strict"]
    assert first.outcome == "pass"


def test_an_answer_that_a_filter_did_not_find_is_told():
    (first, *_) = attempts(API)

    assert [check.reason_code for check in first.checks] == ["", "no_match"]
    assert first.extra["filtered"] == {"flexible": ["[invalid]"]}


def test_repeats_are_tries_at_one_prompt_and_no_attempts_of_their_own():
    second = by_case(API)["1"]

    assert [(step.try_, step.text) for step in second.steps] == [(1, ""), (2, "4")]
    assert second.output.text == ""


def test_an_empty_answer_is_scored_and_nothing_more_is_known_of_it():
    assert facts(by_case(API)["2"]) == ("completed", "scored", "fail")


def test_of_likelihoods_the_highest_is_the_answer():
    picked = {name: one.output.answer for name, one in by_case(DUMMY).items() if one.output.structured}

    assert picked == {"0": "3", "1": "Canberra", "2": "6"}


def test_the_number_of_the_right_choice_is_told_as_that_choice():
    path = next(DUMMY.rglob("samples_demo_mc*"))
    (case, *_) = (item for item in lm_eval.read(path) if getattr(item, "choices", ()))

    assert (case.choices, case.expected) == (("3", "4"), "4")


def test_a_task_without_samples_is_a_run_without_attempts():
    perturbed, rephrased = runs(MATHS)

    assert {one.run for one in attempts(MATHS)} == {perturbed.id}
    assert rephrased.reported[0].value == 0.0004


def test_a_key_among_the_arguments_is_not_kept(tmp_path):
    path = results(tmp_path, {"t": {"acc,none": 1.0}}, config={"model": "x", "model_args": "model=m,api_key=abc123"})
    (run,) = runs(path)

    assert "abc123" not in str(run)


# groups


def test_a_group_with_a_number_of_its_own_is_one_run(tmp_path):
    path = results(
        tmp_path,
        {"g": {"acc,none": 0.75}, "a": {"acc,none": 1.0}, "b": {"acc,none": 0.0}},
        group_subtasks={"g": ["a", "b"]},
        **{"n-samples": {"a": {"effective": 3}, "b": {"effective": 1}}},
    )
    samples(tmp_path, "a", *(sample(number) for number in range(3)))
    samples(tmp_path, "b", sample(0, acc=0.0))
    (run,) = runs(path)

    assert (run.suite, run.expected_cases, run.reported[0].metric) == ("g", 4, "mean")
    assert [one.case for one in attempts(path)] == ["g/a/0", "g/a/1", "g/a/2", "g/b/0"]
    assert {case.category for case in cases(path).values()} == {"a", "b"}


def test_a_group_that_averages_its_tasks_says_so(tmp_path):
    path = results(
        tmp_path,
        {"g": {"acc,none": 0.5}, "a": {"acc,none": 1.0}, "b": {"acc,none": 0.0}},
        group_subtasks={"g": ["a", "b"]},
        **{"n-samples": {"a": {"effective": 3}, "b": {"effective": 1}}},
    )

    assert runs(path)[0].reported[0].metric == "mean of the means of its tasks"


def test_a_group_without_a_number_is_only_a_list(tmp_path):
    entries = {"g": {" ": " ", "alias": "g"}, "a": {"acc,none": 1.0}, "b": {"acc,none": 0.0}}
    path = results(tmp_path, entries, group_subtasks={"g": ["a", "b"]})

    assert [run.suite for run in runs(path)] == ["a", "b"]


def test_a_group_of_groups_goes_down_to_the_tasks(tmp_path):
    entries = {"all": {"acc,none": 1.0}, "g": {"acc,none": 1.0}, "a": {"acc,none": 1.0}}
    path = results(tmp_path, entries, group_subtasks={"all": ["g"], "g": ["a"]})
    samples(tmp_path, "a", sample(0))

    assert [(run.suite, [one.case for one in attempts(path)]) for run in runs(path)] == [("all", ["all/a/0"])]


# measures


def test_a_measure_that_is_no_mean_fails_nobody(tmp_path):
    config = {"t": {"metric_list": [{"metric": "ppl", "aggregation": "perplexity"}]}}
    path = results(tmp_path, {"t": {"ppl,none": 12.5}}, configs=config)
    samples(tmp_path, "t", sample(0, metrics=["ppl"], ppl=[-3.0, 7]))
    (attempt,) = attempts(path)

    assert (facts(attempt), attempt.is_failure) == (("completed", "scored", "none"), False)
    assert runs(path)[0].reported[0].metric == "perplexity"


def test_where_lower_is_better_a_zero_passes(tmp_path):
    path = results(tmp_path, {"t": {"toxic,none": 0.5}}, higher_is_better={"t": {"toxic": False}})
    samples(tmp_path, "t", *(sample(at, metrics=["toxic"], toxic=float(at)) for at in range(2)))

    assert [one.outcome for one in attempts(path)] == ["pass", "fail"]


def test_a_measure_without_a_value_is_no_verdict(tmp_path):
    path = results(tmp_path, {"t": {"acc,none": 0.5}})
    samples(tmp_path, "t", sample(0, acc=None))

    assert facts(attempts(path)[0]) == ("completed", "unscored", "none")


# where the files are


def test_samples_alone_are_a_run_of_a_task_without_numbers():
    found = runs(ALONE)

    assert [(run.suite, run.reported) for run in found] == [("demo_gen", ()), ("demo_mc", ())]
    assert [one.outcome for one in attempts(ALONE)] == ["pass", "fail", "fail", "fail", "pass", "fail"]


def test_two_runs_in_one_folder_have_each_their_samples(tmp_path):
    for day in ("02", "03"):
        first = results(tmp_path, {"t": {"acc,none": 1.0}}, date=float(day))
        first.rename(tmp_path / f"results_2026-01-{day}T00-00-00.json")
        samples(tmp_path, "t", sample(0, target=day)).rename(tmp_path / f"samples_t_2026-01-{day}T00-00-00.jsonl")
    found = items(tmp_path)

    assert len({item.id for item in found if isinstance(item, Run)}) == 2
    assert len({item.run for item in found if isinstance(item, Attempt)}) == 2


def test_samples_of_a_task_that_the_results_do_not_name_are_told(tmp_path):
    path = results(tmp_path, {"t": {"acc,none": 1.0}})
    samples(tmp_path, "other", sample(0))

    assert [one.why for one in unreadables(path)] == ["samples of a task that is not in the results"]


def test_a_document_that_stands_twice_with_one_filter_was_tried_twice(tmp_path):
    path = results(tmp_path, {"t": {"acc,none": 1.0}})
    samples(tmp_path, "t", sample(0), sample(1), sample(0, resps=[["5"]]))

    assert [(one.case, one.index) for one in attempts(path)] == [("t/0", 1), ("t/0", 2), ("t/1", 1)]


# older files


def test_rows_of_an_older_release_are_one_list_with_arguments_in_lists(tmp_path):
    row = {"doc_id": 0, "doc": {}, "target": " 4", "arguments": [["Q", {"until": ["\n"]}]], "resps": [["4"]]}
    config = {"t": {"filter_list": [{"name": "strict"}, {"name": "flexible"}]}}
    path = results(tmp_path, {"t": {"acc,strict": 0.0, "acc,flexible": 1.0}}, configs=config)
    rows = [row | {"filtered_resps": ["4"], "acc": 0.0}, row | {"filtered_resps": ["4"], "acc": 1.0}]
    (tmp_path / "m_t.jsonl").write_text(json.dumps(rows, indent=2))
    (attempt,) = attempts(path)

    assert [(check.name, check.value) for check in attempt.checks] == [("acc,strict", 0.0), ("acc,flexible", 1.0)]
    assert attempt.ref.pointer == "/0"
