"""`errata report --step-summary`: a screenful for the page of a CI run."""

from pathlib import Path

import pytest

from report_pages import EARLIER, RUN_A, RUN_B, UNJUDGED, facts, reported, table
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


def test_of_transcripts_it_says_that_nobody_judged_them(page):
    reported(UNJUDGED, "--step-summary")

    assert "**NOT JUDGED.**" in page.read_text()


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
