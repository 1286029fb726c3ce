"""Runs that nobody judged: their own files, nothing counted as passed or failed, and what to read first."""

import csv
import json
import shutil

import pytest

from report_pages import COMPARISON, UNJUDGED, facts, folded, reported, section, table
from terminal import done, errata

FOLDER = "results/harbour_bench"
STORE = ("--store", "errata.db")


@pytest.fixture
def written(tmp_path):
    result = reported(UNJUDGED)
    return result, tmp_path / FOLDER


@pytest.fixture
def with_reference(tmp_path):
    """A run of the comparison without its judged file: the benchmark lies beside it, so references are known."""
    shutil.copytree(COMPARISON, tmp_path / "compare")
    (run,) = (tmp_path / "compare" / "runs" / "harbour_bench").glob("*voice-beta*")
    for path in run.glob("openai_*"):
        path.unlink()
    return run


def cells(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_nothing_is_counted_as_passed_or_failed(written):
    result, folder = written
    (run,) = json.loads((folder / "review_metadata.json").read_text())["runs"]
    text = (folder / "manual_error_review.md").read_text()

    assert (run["rows"], run["expected"], run["judged_rows"]) == (30, 30, 0)
    assert "No row has a verdict, so none counts as passed or failed" in folded(result)
    assert table(section(text, "Artefacts"))[0]["judged"] == "0"
    assert " passed" not in text.replace("nothing here is passed", "").replace("counts as passed", "")


def test_the_table_has_every_row_and_columns_to_fill_in(written):
    rows = cells(written[1] / "manual_error_review.csv")

    assert [int(row["turn"]) for row in rows] == list(range(30))
    assert {row["owner"] + row["bucket"] + row["note"] for row in rows} == {""}
    assert [row["turn"] for row in rows if row["flags"]] == ["4"]
    assert all(row["user_text"] for row in rows)


def test_an_ended_session_and_what_follows_are_flagged(tmp_path, with_reference):
    reported(with_reference, "-o", "r")
    flags = {row["turn"]: row["flags"] for row in cells(tmp_path / "r" / "manual_error_review.csv")}

    assert flags["24"].startswith("MODEL_ENDED_SESSION: the model ended the session here")
    assert flags["25"].startswith("MODEL_ENDED_SESSION_EARLY: filled in by the harness")
    assert not flags["1"]


def test_calls_are_held_against_the_reference_where_there_is_one(tmp_path, with_reference):
    reported(with_reference, "-o", "r")
    rows = {row["turn"]: row for row in cells(tmp_path / "r" / "manual_error_review.csv")}

    assert rows["8"]["flags"] == "other calls than in the reference"
    assert rows["11"]["flags"] == "other calls than in the reference"
    assert rows["8"]["golden_text"] == "Books the sail-making class for Lena."
    assert json.loads(rows["8"]["tool_calls_json"])[0]["args"]["slot"] == "Fri 15:00"
    assert json.loads(rows["8"]["required_calls_json"])["args"]["slot"] == "Fri 14:00"


def test_a_missing_turn_and_one_with_two_rows_are_told(tmp_path, with_reference):
    transcript = with_reference / "transcript.jsonl"
    lines = transcript.read_text().splitlines()
    transcript.write_text("\n".join([*lines[:7], *lines[8:], lines[3]]) + "\n")
    reported(with_reference, "-o", "r")

    (run,) = json.loads((tmp_path / "r" / "review_metadata.json").read_text())["runs"]
    assert run["missing"] == ["7"]
    assert run["several_rows"] == ["3"]


def test_judged_runs_beside_it_get_their_own_report_and_name_what_is_left_out(tmp_path):
    judged = sorted((COMPARISON / "runs" / "harbour_bench").iterdir())[:2]
    reported(*judged, UNJUDGED, "-o", "r")

    text = (tmp_path / "r" / "deep_error_analysis.md").read_text()
    assert "20260302T090000_voice-delta_7d8e9f0a: no attempt was scored" in section(text, "Not included")
    assert (tmp_path / "r" / "manual_error_review.md").is_file()


def test_a_run_folder_without_judged_rows_is_refused_with_the_way_on():
    result = errata("report", "--run-dir", UNJUDGED)

    assert result.code == 2
    assert "has no `openai_judged.jsonl`" in result.talk
    assert "it is not judged yet: `errata report" in result.talk


def test_asked_for_as_a_run_it_has_no_pass_rate(tmp_path):
    reported(UNJUDGED, "--profile", "run", "-o", "r.md")

    assert facts((tmp_path / "r.md").read_text())["Pass rate"] == "none: nothing was scored (30 cases)"


def test_json_has_the_rows():
    row = done("report", UNJUDGED, "--json").row

    assert len(row["report"]["rows"]) == 30


def test_reviewed_rows_are_listed_with_label_step_and_agent(tmp_path):
    """Nobody judged the turns, but a person may review those that could not be measured."""
    reported(UNJUDGED)
    attempt = done("failures", "latest", "--json", *STORE).rows[0]["attempt_id"]
    verdict = {"attempt_id": attempt, "label": "empty_response", "cause": "No answer came", "decisive_step": 0}
    (tmp_path / "v.json").write_text(json.dumps(verdict))
    done("review", "submit", tmp_path / "v.json", "--person", "--reviewer", "ada", *STORE)
    reported(UNJUDGED)
    folder = tmp_path / FOLDER
    text = (folder / "manual_error_review.md").read_text()

    assert "1 of " in facts(text)["Status"]
    (row,) = table(section(text, "Reviewed rows"))
    assert (row["classification"], row["decisive step"].split(",")[0]) == ("empty_response", "0")
    (reviewed,) = [one for one in cells(folder / "manual_error_review.csv") if one["verdict_label"]]
    assert (reviewed["verdict_label"], reviewed["decisive_step"]) == ("empty_response", "0")
    assert reviewed["decisive_agent"]
