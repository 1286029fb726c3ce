"""Inspect logs: what they are recognised by, their runs, and the numbers they give."""

import json
from collections import Counter

import pytest
from inspect_ai_logs import FOLDER, attempts, changed, items, log, raw, rezipped, run, unreadables, zipfile

from errata import sources
from errata.errors import UnknownFormatError
from errata.model import Case, Run
from errata.sources import inspect_ai

ALL = sorted(path for path in FOLDER.glob("*/data/*") if path.is_file())
WHOLE = [path for path in ALL if "chunked" not in path.name]


def named(path):
    return f"{path.parent.parent.name}/{path.stem[-20:]}"


@pytest.mark.parametrize("path", ALL, ids=named)
def test_every_log_is_recognised_for_sure(path):
    assert inspect_ai.recognise(path).confidence == "sure"


@pytest.mark.parametrize("path", ALL, ids=named)
def test_every_log_is_read_whole(path):
    assert unreadables(path) == []
    assert len(items(path, Run)) == 1


@pytest.mark.parametrize("path", WHOLE, ids=named)
def test_each_sample_is_an_attempt_with_its_score(path):
    header, samples = raw(path)
    first = next(iter(header["eval"].get("scorers") or (header.get("results") or {}).get("scores") or []), {})
    values = {(str(one["id"]), one["epoch"]): (one.get("scores") or {}).get(first.get("name")) for one in samples}

    read = attempts(path)

    assert {key for key, attempt in read.items() if attempt.execution != "missing"} == set(values)
    for key, score in values.items():
        outcome = {"C": "pass", "I": "fail", "P": "partial", "N": "fail"}.get(str((score or {}).get("value")))
        if outcome and not next(one for one in samples if (str(one["id"]), one["epoch"]) == key).get("error"):
            assert read[key].outcome == outcome


@pytest.mark.parametrize("path", WHOLE, ids=named)
def test_tokens_of_subject_and_judge_add_up_to_what_the_log_says(path):
    header, samples = raw(path)
    stated = [one["total_tokens"] for one in ((header.get("stats") or {}).get("model_usage") or {}).values()]

    usage = run(path).usage

    assert (usage.subject.total or 0) + (usage.judge.total or 0) == sum(stated)
    for one in samples:
        read = attempts(path)[str(one["id"]), one["epoch"]].usage
        spent = sum(usage["total_tokens"] for usage in (one.get("model_usage") or {}).values())
        assert (read.subject.total or 0) + (read.judge.total or 0) == spent


@pytest.mark.parametrize("path", WHOLE, ids=named)
def test_every_metric_of_the_log_is_reported(path):
    header, _ = raw(path)
    scores = (header.get("results") or {}).get("scores") or []
    stated = [(one["name"], name, metric["value"]) for one in scores for name, metric in one["metrics"].items()]

    reported = run(path).reported

    assert [(one.name, one.metric, one.value) for one in reported] == stated
    assert sum(one.headline for one in reported) == (1 if stated else 0)


def test_the_real_logs_have_37_samples_of_which_8_are_wrong_and_10_were_never_scored():
    read = [one for path in ALL if path.parent.parent.name == "real_logs" for one in attempts(path).values()]
    made = [one for one in read if one.execution != "missing"]

    assert len(made) == 37
    assert Counter(one.outcome for one in made) == {"pass": 19, "fail": 8, "none": 10}
    assert sum(one.measurement == "not_run" for one in made) == 10


def test_a_model_that_judged_itself_passed_11_of_16():
    assert Counter(one.outcome for one in attempts(log("real_scout")).values()) == {"pass": 11, "fail": 5}


def test_members_packed_with_zstandard_are_read():
    read = Counter((one.execution, one.measurement, one.outcome) for one in attempts(log("demo_eval")).values())

    assert read == {
        ("completed", "scored", "pass"): 4,
        ("completed", "scored", "fail"): 6,
        ("limit", "scored", "fail"): 2,
        ("error", "not_run", "none"): 2,
    }


def test_a_run_that_calls_itself_a_success_may_consist_of_errors_alone():
    path = log("all_errored")

    assert run(path).native_status == "success"
    assert Counter(one.execution for one in attempts(path).values()) == {"error": 14}


def test_a_folder_of_logs_gives_a_run_for_each():
    found = sources.find(FOLDER / "real_logs" / "data")

    assert len(found) == 13
    assert {one.source.NAME for one in found} == {"inspect-ai"}


def test_a_log_is_known_without_its_version_and_with_its_fields_sorted(tmp_path):
    data, _ = raw(log("scorer_json"))
    path = tmp_path / "any"
    path.write_text(json.dumps(data, sort_keys=True, indent=2).replace('"error": null,', ""))

    assert inspect_ai.recognise(path) is not None


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


def test_before_there_was_an_eval_id_run_and_task_name_a_log():
    header, _ = raw(log("real_logs", "log_formats.eval"))

    assert (
        run(log("real_logs", "log_formats.eval")).native_id == f"{header['eval']['run_id']}_{header['eval']['task_id']}"
    )


def test_a_suite_is_named_without_its_package():
    path = log("real_converted", "data_arc_qwen.json")

    assert raw(path)[0]["eval"]["task"] == "inspect_evals/arc_easy"
    assert run(path).suite == "arc_easy"


def test_the_ids_that_were_selected_are_expected_not_the_whole_dataset():
    path = log("real_converted", "data_arc_qwen.json")

    assert raw(path)[0]["eval"]["dataset"]["samples"] == 2376
    assert run(path).expected_cases == 3


def test_the_third_version_of_the_format_is_read():
    path = log("real_logs", "log_message_deduplication.eval")

    assert run(path).source.format_version == "3"
    assert [step.text for step in attempts(path)["0", 1].steps if step.actor.role == "assistant"][-1] == "done"


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


def test_the_headline_is_the_one_that_the_log_names():
    demo = run(log("demo_eval"))

    (headline,) = [one for one in demo.reported if one.headline]
    assert (headline.scorer, headline.metric, headline.n) == ("includes", "accuracy", 6)
    assert headline.stderr == pytest.approx(0.2108185)


def test_an_error_that_ended_the_run_is_kept_as_evidence():
    failed = run(log("failed_json"))

    assert failed.native_status == "error"
    assert failed.log_evidence[0].quote == "ConnectionError('upstream 503: overloaded')"


def test_the_time_of_a_log_with_an_offset_is_utc():
    assert run(log("real_logs", "log_formats.eval")).started_at == "2024-10-15T16:53:13Z"


def test_the_commit_of_the_task_is_kept(tmp_path):
    header, _ = raw(log("scorer_json"))
    revision = {"type": "git", "origin": "https://host/repo.git", "commit": "abc123", "dirty": True}
    path = changed(log("scorer_json"), tmp_path / "log.json", eval=header["eval"] | {"revision": revision})

    code = run(path).code

    assert (code.repo, code.commit, code.extra["dirty"]) == ("https://host/repo.git", "abc123", True)


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


def test_a_case_holds_what_was_asked():
    path = log("real_converted", "data_arc_qwen.json")
    _, samples = raw(path)

    cases = {case.native_id: case for case in items(path, Case)}

    for sample in samples:
        read = cases[str(sample["id"])]
        assert (read.input, list(read.choices), read.expected) == (sample["input"], sample["choices"], sample["target"])


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
