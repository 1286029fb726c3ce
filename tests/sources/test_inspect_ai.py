"""Inspect logs: what they are recognised by, their runs, and the numbers they give."""

import json
from collections import Counter

import pytest
from inspect_ai_logs import attempts, changed, items, log, raw, rezipped, run, unreadables, zipfile

from errata import sources
from errata.errors import UnknownFormatError
from errata.model import Case
from errata.sources import inspect_ai


def test_a_run_that_calls_itself_a_success_may_consist_of_errors_alone():
    path = log("all_errored")

    assert run(path).native_status == "success"
    assert Counter(one.execution for one in attempts(path).values()) == {"error": 14}


def test_a_listing_of_logs_is_no_log_but_explained(tmp_path):
    header, _ = raw(log("scorer_json"))
    listing = tmp_path / "logs.json"
    listing.write_text(json.dumps({"2026_task.eval": {"version": 2, "status": "success", "eval": header["eval"]}}))

    with pytest.raises(UnknownFormatError) as result:
        sources.find(listing)
    assert "listing" in result.value.hint


def test_another_archive_is_not_claimed(tmp_path):
    other = rezipped(log("demo_eval"), tmp_path / "other.zip", lambda name, data: data if "samples/" in name else None)

    assert inspect_ai.recognise(other) is None


def test_a_run_knows_its_task_its_model_and_what_it_was_given():
    mixed = run(log("mixed_json"))

    assert (mixed.suite, mixed.suite_version, mixed.subject.model) == ("mixed", "2-A", "mockllm/model")
    assert mixed.subject.params["temperature"] == 0.5
    assert mixed.variant == {"level": "4", "mode": "plain"}
    assert mixed.extra["tags"] == ["nightly"]
    assert mixed.environment["packages"] == {"inspect_ai": "0.3.285"}


def test_the_eval_id_names_a_log_and_the_run_id_groups_the_logs_of_one_call():
    header, _ = raw(log("demo_eval"))
    demo = run(log("demo_eval"))

    assert demo.native_id == header["eval"]["eval_id"]
    assert demo.group == header["eval"]["run_id"]
    assert demo.external_id == header["eval"]["task_id"]


def test_the_ids_that_were_selected_are_expected_not_the_whole_dataset():
    path = log("real_converted", "data_arc_qwen.json")

    assert raw(path)[0]["eval"]["dataset"]["samples"] == 2376
    assert run(path).expected_cases == 3


def test_a_scorer_that_asks_a_model_is_a_judge():
    scorers = {scorer.name: scorer for scorer in run(log("demo_eval")).scorers}

    assert (scorers["model_graded_qa"].kind, scorers["model_graded_qa"].model) == ("judge", "mockllm/judge")
    assert scorers["includes"].kind == "code"


def test_a_judge_may_be_named_by_any_option_of_its_scorer():
    path = log("real_converted", "data_with_llm_scoring.json")
    read = run(path)

    assert read.roles["judge"] == "google/gemini-2.0-flash-001"
    assert read.usage.judge.total == raw(path)[0]["stats"]["model_usage"]["google/gemini-2.0-flash-001"]["total_tokens"]


def test_a_judge_who_is_the_subject_itself_is_told_apart_by_its_calls():
    path = log("real_scout")
    _, samples = raw(path)
    one = next(sample for sample in samples if sample["id"] == 1)
    asked, judged = (event["output"]["usage"]["total_tokens"] for event in one["events"] if event["event"] == "model")

    usage = attempts(path)["1", 1].usage

    assert (usage.subject.total, usage.judge.total) == (asked, judged)


def test_a_judge_with_a_role_is_told_apart_by_it():
    usage = run(log("mixed_json")).usage

    assert (usage.judge.total, usage.judge.cost) == (84, 1.75)
    assert (usage.subject.total, usage.subject.cost) == (120, pytest.approx(4.51))


def test_an_error_that_ended_the_run_is_kept_as_evidence():
    failed = run(log("failed_json"))

    assert failed.native_status == "error"
    assert failed.log_evidence[0].quote == "ConnectionError('upstream 503: overloaded')"


def test_results_of_the_time_with_one_scorer_are_read(tmp_path):
    old = {"scorer": {"name": "match"}, "metrics": {"accuracy": {"name": "accuracy", "value": 0.5}}}
    sample = {"score": {"value": "C", "answer": "x"}, "scores": None, "error": None}
    header, _ = raw(log("scorer_json"))
    path = changed(log("scorer_json"), tmp_path / "log.json", results=old, sample=sample, eval=_without_scorers(header))

    assert [(one.scorer, one.value) for one in run(path).reported] == [("match", 0.5)]
    first = attempts(path)["boom", 1]
    assert (first.outcome, first.checks[0].name) == ("pass", "match")


def _without_scorers(header):
    return {name: value for name, value in header["eval"].items() if name != "scorers"}


def test_a_log_that_was_shortened_still_tells_of_how_many_samples_its_results_are():
    shortened = run(log("real_converted", "data_cyse2_vuln_exploit_challenges.json"))

    assert shortened.expected_cases == 2340 // 4


def test_samples_that_were_measured_and_are_not_in_the_log_are_named_but_not_missing():
    path = log("real_converted", "data_with_llm_scoring.json")

    assert (run(path).expected_cases, run(path).measured_attempts) == (1000, 1000)
    assert not attempts(path)
    assert [case.native_id for case in items(path, Case)] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("lost", ["directory", "last members", "in the middle of a member"])
def test_a_log_without_its_zip_directory_is_read_member_by_member(tmp_path, lost):
    whole = log("demo_eval")
    data = whole.read_bytes()
    with zipfile.ZipFile(whole) as archive:
        infos, end = archive.infolist(), archive.start_dir
    cut = {"directory": end, "last members": infos[-4].header_offset}.get(lost, infos[-4].header_offset + 60)
    (tmp_path / "cut.eval").write_bytes(data[:cut])
    samples = [one.filename for one in infos if one.filename.startswith("samples/") and one.header_offset < cut - 60]

    found = [one for one in attempts(tmp_path / "cut.eval").values() if one.execution != "missing"]

    assert len(found) >= len(samples) > 5
    assert "the directory at its end is missing" in unreadables(tmp_path / "cut.eval")[0].why
    if lost == "directory":
        assert {one.id for one in found} == {one.id for one in attempts(whole).values() if one.execution != "missing"}
