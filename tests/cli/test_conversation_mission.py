"""The error analysis of judged conversations, from the logs to the final report, with commentary of real length."""

import csv
import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from long_conversations import MISSING, MISTAKES, TURNS, build, truths
from report_pages import facts, folded, reported, section, table, tables, working_in
from terminal import Said, done, errata

LABELS = ["voice-x run 1", "voice-x run 2", "voice-y", "acme/voice-z"]
FOLLOWERS = TURNS - 24


class Mission(NamedTuple):
    result: Said
    text: str
    rows: list[dict]
    folder: Path


@pytest.fixture(scope="module")
def mission(tmp_path_factory):
    with working_in(tmp_path_factory.mktemp("mission")) as folder:
        return _reported(folder, build(folder))


@pytest.fixture(scope="module")
def reviewed(tmp_path_factory):
    """Every failed row is read by somebody who gives it the cluster of the fixture."""
    with working_in(tmp_path_factory.mktemp("reviewed")) as folder:
        comparison = build(folder)
        done("import", comparison, "--store", "errata.db")
        verdicts = [json.dumps(one) for one in _verdicts(folder)]
        (folder / "verdicts.jsonl").write_text("\n".join(verdicts))
        done("review", "import", "verdicts.jsonl", "--reviewer", "reader", "--store", "errata.db")
        return _reported(folder, comparison)


def _reported(folder: Path, comparison: Path) -> Mission:
    result = reported("--comparison-dir", comparison.relative_to(folder))
    lines = (comparison / "failure_review_rows.jsonl").read_text().splitlines()
    text = (comparison / "deep_error_analysis.md").read_text()
    return Mission(result, text, [json.loads(line) for line in lines], folder)


def _verdicts(folder: Path):
    for run in sorted((folder / "runs" / "kiln_bench").iterdir()):
        known = truths(run.name.partition("_")[2])
        handle = run.name.rpartition("_")[2]
        for failure in done("failures", handle, "--json", "--store", "errata.db").rows:
            row = failure["case"].removeprefix("turn-")
            label = known.get(int(row), "premature_end_session")
            if not failure["failed_checks"]:
                continue
            places = done("review", "next", failure["attempt_id"], "--reviewer", "x", "--store", "errata.db").row
            place = next(one for one in places["packet"]["places"] if one["place"] == "judge_reasoning")
            yield {
                "attempt_id": failure["attempt_id"],
                "label": label,
                "cause": f"{label.replace('_', ' ')}, as read",
                "reasoning": "The commentary and the calls show it.",
                "evidence": [{"place": "judge_reasoning", "quote": place["text"].partition(". ")[0]}],
                "confidence": "certain",
                "underlying_mistake": f"{label.replace('_', ' ')} behind the dimensions",
                "consequences": ["a dimension that only follows"],
            }


@pytest.mark.req("J-01", "J-03", "J-06", "J-07", "J-08")
def test_failed_rows_are_those_with_a_false_dimension_as_they_were_judged(mission):
    expected = [
        row
        for run in sorted((mission.folder / "runs" / "kiln_bench").iterdir())
        for row in map(json.loads, (run / "openai_judged.jsonl").read_text().splitlines())
        if False in row["scores"].values()
    ]

    assert Counter((row["model_name"], row["turn"]) for row in mission.rows) == Counter(
        (row["model_name"], row["turn"]) for row in expected
    )
    by_text = {(row["turn"], row["assistant_text"]): row for row in mission.rows}
    for row in expected:
        written = by_text[row["turn"], row["assistant_text"]]
        assert (written["user_text"], written["judge_reasoning"]) == (row["user_text"], row["judge_reasoning"])
        assert json.loads(written["scores_json"]) == row["scores"]
        assert json.loads(written["tool_calls_json"]) == row["tool_calls"]
        assert json.loads(written["tool_results_json"]) == row["tool_results"]


@pytest.mark.req("J-08", "J-18")
def test_both_runs_of_a_model_are_in_the_rows_and_tell_which_is_which(mission):
    turn_5 = {row["run_id"]: row["error_mode_candidate"] for row in mission.rows if row["turn"] == 5}
    with (mission.folder / "results" / "kiln_bench" / "compare" / "failure_review_rows.csv").open() as file:
        written = list(csv.DictReader(file))

    assert turn_5 == {
        "20260401T090000_voice-x_00000001": "tool_or_action_selection_error",
        "20260401T090100_voice-x_00000002": "state_memory_failure",
        "20260401T090300_acme_voice-z_00000004": "ambiguity_handling_failure",
    }
    assert [row["run_id"] for row in written] == [row["run_id"] for row in mission.rows]


@pytest.mark.req("J-10", "J-15", "J-28", "J-29", "B-59")
def test_every_failed_row_has_the_cluster_that_a_reader_gives_it(mission):
    wrong = []
    for row in mission.rows:
        known = truths(row["run_id"].partition("_")[2])
        expected = known.get(row["turn"], "premature_end_session")
        if row["error_mode_candidate"] != expected:
            wrong.append((row["run_id"], row["turn"], row["error_mode_candidate"], expected))

    assert wrong == []


@pytest.mark.req("J-10", "J-14")
def test_turns_after_an_ended_session_follow_from_it(mission):
    rows = [row for row in mission.rows if row["model_name"] == "voice-y" and row["turn"] > 23]

    assert {(row["follows_turn"], row["error_mode_candidate"]) for row in rows} == {("23", "premature_end_session")}
    assert len(rows) == FOLLOWERS


@pytest.mark.req("J-09", "J-19", "J-27")
def test_counts_are_exact(mission):
    top = {row["run"]: row for row in tables(section(mission.text, "Top-Line Comparison"))[0]}
    shown = {row["dimension"]: row for row in tables(section(mission.text, "Top-Line Comparison"))[2]}

    assert [top[label]["failed rows"] for label in LABELS] == ["7/34", "4/34", "13/34", "6/32"]
    assert [top[label]["MODEL_ENDED_SESSION"] for label in LABELS] == ["0", "0", "1", "0"]
    assert [top[label]["EMPTY_RESPONSE"] for label in LABELS] == ["0", "0", "0", "1"]
    assert [shown["instruction_following"][label].partition("/")[0] for label in LABELS] == ["2", "0", "12", "1"]


@pytest.mark.req("J-11", "J-24")
def test_turns_that_all_fail_mark_the_runs_where_they_only_follow(mission):
    shared = section(mission.text, "Shared and Unique")

    assert facts(shared)["Failed by all 4 runs"] == "15, 25 [only knock-on in voice-y]"
    assert facts(shared)["Failed by all 3 models"] == "15, 25 [only knock-on in voice-y]"


@pytest.mark.req("J-22", "J-21", "J-32")
def test_each_model_is_described_with_turns_and_dimensions(mission):
    rows = table(section(mission.text, "voice-x"))

    assert all(row["turns"] and row["dimensions"] and row["mistake"] for row in rows)
    assert sum(int(row["rows"]) for row in rows) == 11


@pytest.mark.req("J-23", "J-28")
def test_datapoints_show_the_long_commentary_beside_calls_and_results(mission):
    causes = section(mission.text, "Causes")

    assert "Two move_piece calls were expected, one for P-31 and one for P-32." in causes
    assert 'move_piece {"piece": "P-31", "firing": "Fri"}' in causes


@pytest.mark.req("J-26")
def test_each_test_has_one_p_with_its_correction_and_one_without_followers(mission):
    text = section(mission.text, "Differences Between Runs")
    rows = {(row["first"], row["second"]): row for row in table(text)}

    assert "Every p is Holm-corrected for 6 pairs." in text
    assert "The turns of a conversation are not independent" in text
    pair = rows["voice-x run 2", "voice-y"]
    assert (pair["only first fails"], pair["only second fails"]) == ("1", "10")
    assert float(pair["p"]) < float(pair["p, clean"])
    assert "Fisher's exact test over turns, p Holm-corrected for 3 categories" in section(mission.text, "Categories")


@pytest.mark.req("B-63")
def test_a_run_that_is_not_fit_is_named_on_top_in_the_table_and_on_the_terminal(mission):
    fit = {row["run"]: row["checkup"] for row in table(section(mission.text, "Run Set"))}

    assert [fit[label] for label in LABELS] == ["fit", "fit", "with care", "NOT FIT"]
    assert "acme/voice-z is NOT FIT for comparison: 1 of 34 planned turns is not in the log" in section(
        mission.text, "Summary"
    )
    assert "unfit acme/voice-z is NOT FIT for comparison" in folded(mission.result)


@pytest.mark.req("B-64")
def test_a_missing_turn_is_explained_by_the_lines_of_the_log(mission):
    rows = {(row["run"], row["turn"]): row for row in table(section(mission.text, "Not Measured"))}

    missing = rows["acme/voice-z", str(MISSING)]
    assert missing["why"] == "missing"
    assert "run.log:12 “request failed: 503 Service Unavailable”" in missing["log"]
    assert "“WebSocket closed: code=1011 reason=internal error”" in missing["log"]


def test_every_command_counts_the_same_failed_rows(mission):
    with working_in(mission.folder):
        handles = [name.rpartition("_")[2] for name in MISTAKES]
        compared = done("compare", *handles, "--json", "--store", "errata.db").row
        page = done("compare", *handles, "--store", "errata.db").out
        listed = done("runs", "--store", "errata.db").out
        failures = [done("failures", handle, "--json", "--store", "errata.db").rows for handle in handles]

    counted = [sum(bool(one["failed_checks"]) for one in rows) for rows in failures]
    assert counted == [run["failed_rows"] for run in compared["runs"]] == [7, 4, 13, 6]
    assert sum(counted) == len(mission.rows)
    assert "(only knock-on in voice-y: turn-25)" in page
    assert "30 failed rows" in folded(mission.result)
    assert "1 failure not scored" in listed
    with working_in(mission.folder):
        assert "7 failures (6 failed rows, 1 not scored)" in folded(
            done("failures", "00000004", "--store", "errata.db")
        )


@pytest.mark.req("J-15", "J-30", "J-20")
def test_what_only_rules_have_grouped_is_provisional(mission):
    assert facts(mission.text)["Status"].startswith("PROVISIONAL.")
    assert "not from a second judge" in mission.text
    assert "PROVISIONAL" in mission.result.out


@pytest.mark.req("J-02", "J-12", "J-16", "J-25", "J-31")
def test_after_review_the_causes_are_those_of_the_reader_and_final(reviewed):
    assert facts(reviewed.text)["Status"].startswith("final.")
    assert {row.get("status", "final") for row in table(section(reviewed.text, "Causes"))} <= {"final", ""}
    assert "behind the dimensions" in section(reviewed.text, "Causes")


def test_an_injection_in_the_task_is_no_reason_to_distrust_the_log(reviewed):
    assert "second reviewer" not in facts(reviewed.text)["Status"]


@pytest.mark.req("J-13")
def test_a_label_that_a_reader_changes_is_kept_beside_the_first(mission):
    with working_in(mission.folder):
        attempt = next(
            one["attempt_id"]
            for one in done("failures", "00000002", "--json", "--store", "errata.db").rows
            if one["case"] == "turn-25"
        )
        done("review", "next", attempt, "--reviewer", "ada", "--store", "errata.db")
        quote = "False recall: on turn 8 the assistant quoted sixteen a bag"
        answer = {"attempt_id": attempt, "label": "knowledge_grounding_error", "cause": "takes over a wrong price"}
        answer |= {"reasoning": "It is about a price.", "evidence": [{"place": "judge_reasoning", "quote": quote}]}
        Path("answer.jsonl").write_text(json.dumps(answer | {"confidence": "certain"}))
        done("review", "import", "answer.jsonl", "--reviewer", "ada", "--store", "errata.db")
        shown = done("show", attempt, "--json", "--store", "errata.db").out

    assert "state_memory_failure" in shown
    assert "knowledge_grounding_error" in shown


@pytest.mark.req("B-61")
def test_a_reader_can_blame_the_judge_and_the_report_shows_it(tmp_path):
    with working_in(tmp_path):
        comparison = build(tmp_path)
        done("import", comparison, "--store", "errata.db")
        failures = done("failures", "00000001", "--json", "--store", "errata.db").rows
        attempt = next(one["attempt_id"] for one in failures if one["case"] == "turn-21")
        quote = "It dropped its role and went along with the injected instruction."
        answer = {"attempt_id": attempt, "label": "none", "owner": "grader", "cause": "the judge misreads a refusal"}
        answer |= {"reasoning": "No code is given.", "evidence": [{"place": "judge_reasoning", "quote": quote}]}
        Path("answer.jsonl").write_text(json.dumps(answer | {"confidence": "certain"}))
        done("review", "import", "answer.jsonl", "--reviewer", "ada", "--store", "errata.db")
        text = _reported(tmp_path, comparison).text

    row = next(row for row in table(section(text, "Causes")) if row["voice-x run 1"] == "21")
    assert row["owner"] == "grader"
    assert "(none)" not in row["cause"]


@pytest.mark.req("J-17")
def test_the_summary_is_in_the_reply_too(mission):
    result = folded(mission.result)

    assert "voice-y: 13 failed rows in 1 run, 10 of them knock-on" in result
    assert "all 15 Is Maren teaching this month?" in result
    assert "deep_error_analysis.md" in result


@pytest.mark.req("J-04", "J-05")
def test_run_folders_win_and_a_missing_file_is_named(mission):
    with working_in(mission.folder):
        run = next(iter(sorted((mission.folder / "runs" / "kiln_bench").iterdir())))
        result = reported("--comparison-dir", "results/kiln_bench/compare", "--run-dir", run, "-o", "one")
        refused = errata("report", "--run-dir", mission.folder / "benchmarks")

    assert "1 run, 7 failed rows" in folded(result)
    assert (refused.code, "has no `openai_judged.jsonl`" in refused.talk) == (2, True)
