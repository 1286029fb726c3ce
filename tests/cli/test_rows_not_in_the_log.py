"""Logs that hold a part of what was measured: nothing is said to have passed or failed that is not in them."""

import pytest

from report_pages import facts, only, reported, tables
from terminal import FIXTURES, done, errata

AIDER = FIXTURES / "aider" / "leaderboard" / "data"
CONVERTED = FIXTURES / "inspect_ai" / "real_converted" / "data"
SIMPLEQA = CONVERTED / "data_with_llm_scoring.json"
CVEBENCH = CONVERTED / "data_cvebench_empty_choices.json"
TRACES = FIXTURES / "otlp" / "openinference" / "data"
SWE_PRO = FIXTURES / "swe_bench" / "pro" / "data"


def folded(text):
    return " ".join(text.split())


@pytest.mark.req("C-07")
@pytest.mark.parametrize(
    ("log", "told"),
    [
        (SIMPLEQA, "No rows to analyse: the harness reports simpleqa_scorer accuracy 0.431 over 1,000"),
        (TRACES, "Nothing was measured: "),
    ],
    ids=["no rows", "no verdicts"],
)
def test_report_and_analyze_say_the_same_of_a_run_that_did_not_pass(log, told, tmp_path):
    report, analysis = folded(reported(log).out), folded(done("analyze", log).out)

    assert told in report
    assert told in analysis
    assert "No report was written." in report
    assert "All passed" not in report + analysis
    assert not (tmp_path / "reports").exists()


def test_a_leaderboard_is_told_by_its_own_count():
    page = folded(done("analyze", AIDER).out)

    assert "No rows to analyse: by the harness's own count " in page
    assert "All passed" not in page
    assert "errata rerun" not in page  # there is nothing that it could repeat
    assert "errata failures" not in page


def test_a_report_about_a_part_tells_the_harnesss_own_number(tmp_path):
    result = folded(reported(CVEBENCH).out)
    page = only(tmp_path, "reports/**/*.md").read_text()

    assert "the harness reports check_exploit mean 0.7051 over 78" in result
    assert facts(page)["Pass rate"] == "not known: the harness reports check_exploit mean 0.7051 over 78"
    assert "0/80" not in result + page


def test_what_was_measured_is_not_to_be_repeated():
    assert "Nothing to rerun" in done("rerun", SIMPLEQA).out
    assert done("rerun", CVEBENCH, "--json").row["attempts"] == 1  # the one that ended in an error


def test_scored_failures_without_a_check_are_told_by_their_verdict(tmp_path):
    reported(SWE_PRO, "--profile", "run")

    pages = list(tmp_path.rglob("reports/**/*.md"))
    assert len(pages) == 2
    for page in pages:
        (steps,) = (rows for rows in tables(page.read_text()) if "Check (first failed)" in rows[0])
        assert [row["Check (first failed)"] for row in steps] == ["none (overall verdict only)"]


def test_next_promises_no_repetition_that_there_is_not():
    assert "errata rerun" not in errata("check", SIMPLEQA).out
    assert "errata rerun" in errata("check", CVEBENCH).out
