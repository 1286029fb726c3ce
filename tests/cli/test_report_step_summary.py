"""`errata report --step-summary`: a screenful for the page of a CI run."""

import re
from pathlib import Path

import pytest

from report_pages import BATCH, COMPARISON, EARLIER, RUN_A, RUN_B, RUN_D, UNJUDGED, facts, reported, table, tables
from terminal import errata, import_fixtures


@pytest.fixture
def page(tmp_path, monkeypatch):
    path = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    return path


@pytest.fixture(autouse=True)
def nobodys_page(monkeypatch):
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


def test_it_is_appended_to_the_page_and_the_words_go_to_stdout(page):
    page.write_text("# before\n")
    result = reported(RUN_B, "--step-summary", "--reports", EARLIER)

    assert page.read_text().startswith("# before\n# acme/nimbus-2-coder: 16/25 passed\n")
    assert result.out.startswith("jn7mqywb · acme/nimbus-2-coder")


def test_without_a_page_it_goes_to_stdout_alone():
    result = reported(RUN_B, "--step-summary", "--reports", EARLIER)

    assert result.out.startswith("# acme/nimbus-2-coder: 16/25 passed\n")
    assert "These are my findings" not in result.out


def test_of_a_run_it_has_bracket_owners_what_is_new_and_the_file(page):
    reported(RUN_B, "--step-summary", "--reports", EARLIER)
    text = page.read_text()

    assert [row["score"] for row in table(text)] == ["strict", "as reported", "clean"]
    result = facts(text)
    assert result["Owners"] == "model 5, grader 1, provider 1, task 1, environment 1"
    assert result["New failures"].startswith("5: 001-data_modeling/000-user_table, 002-queries/001-text_lookup")
    assert result["Failed before"].startswith("4: 000-fundamentals/002-http_greeting")
    assert result["Should already be fixed"] == "1: 000-fundamentals/002-http_greeting"
    assert "PROVISIONAL.** 0 of 9 failures reviewed; the rest comes from rules." in text
    assert "- `reports/acme/nimbus-2-coder/jn7mqywb_2026-03-10.md`" in text


def test_of_a_run_without_a_failure_nothing_was_written(page):
    reported(RUN_D, "--step-summary")

    assert "Nothing was written." in page.read_text()


def test_of_a_comparison_it_has_scores_and_top_causes(page):
    reported("--comparison-dir", COMPARISON, "-o", "r", "--step-summary")
    scores, causes = tables(page.read_text())

    assert scores[0]["voice-beta"] == "20/30 66.7 % [48.8–80.8]"
    assert len(causes) == 5
    assert "2 turns fail in every run" in page.read_text()


def test_of_a_batch_it_has_categories_and_what_the_last_session_hides(page):
    reported(BATCH, "--step-summary", "-o", "analysis")

    assert "Do not publish 51.1 %: it counts 13 failures" in page.read_text()
    assert [row["tests"] for row in tables(page.read_text())[1]] == ["11", "10", "2"]
    assert facts(page.read_text())["Passed before, not now"].startswith("5: test-006")


def test_of_transcripts_it_says_that_nobody_judged_them(page):
    reported(UNJUDGED, "--step-summary")

    assert "**NOT JUDGED.**" in page.read_text()


def test_of_several_reports_each_has_its_part(page):
    reported(RUN_A, RUN_B, "--profile", "run", "--step-summary")

    assert page.read_text().count("# acme/nimbus-2-coder: ") == 2


def test_json_beside_it_needs_a_page(page, monkeypatch):
    beside = errata("report", RUN_B, "--step-summary", "--json")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY")
    refused = errata("report", RUN_B, "--step-summary", "--json")

    assert (beside.code, beside.row["run"][:8]) == (0, "jn7mqywb")
    assert (refused.code, "leave one of them out" in refused.talk) == (2, True)


def test_a_page_that_cannot_be_written_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "no" / "such" / "folder"))
    result = errata("report", RUN_B, "--step-summary")

    assert (result.code, "can't be written" in result.talk) == (2, True)


def test_of_a_run_with_an_earlier_one_it_has_what_regressed(page):
    import_fixtures(RUN_A, store="errata.db")
    reported(RUN_B, "--step-summary")

    regressed = "3: 002-queries/001-text_lookup, 005-idioms/003-shared_validator, 005-idioms/004-pick_primitive"
    assert facts(page.read_text())["Regressed since run jn709tmj"] == regressed
    report = next(Path("reports").rglob("*.md")).read_text()
    first_screen = report[: report.index("\n## ")]
    assert "3 cases regressed since run jn709tmj of 2026-03-02 (not significant, p = 1.00)" in first_screen


def test_of_two_runs_it_has_regressions_split_by_owner(page):
    reported(RUN_A, RUN_B, "-o", "r", "--step-summary")

    text = page.read_text()

    assert re.search(r"From .* to .*: \d+ fixed, 3 regressed: ", text)
    assert "only because of infrastructure." in text
