"""Reports as files that people keep: their names, what is carried over, and the same bytes from the same store."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from report_pages import (
    BATCH,
    COMPARISON,
    DAY,
    EARLIER,
    RUN_A,
    RUN_B,
    UNJUDGED,
    VERDICTS,
    only,
    reported,
    section,
)
from terminal import done, errata, import_fixtures

REPORT = "reports/acme/nimbus-2-coder/jn7mqywb_2026-03-10.md"
ACTION = "- 2026-03-11: `TASK.txt` says *newest* first (addresses 002-queries/001-text_lookup)\n\n  checked by hand"


def acted(path):
    """Somebody writes into the section what was done."""
    path.write_text(path.read_text().replace("## Actions taken\n\nNone\n", f"## Actions taken\n\n{ACTION}\n"))


@pytest.mark.req("C-22")
def test_the_file_is_named_by_provider_model_run_and_day(tmp_path):
    reported(RUN_B)

    assert (tmp_path / REPORT).is_file()


@pytest.mark.req("C-22")
def test_without_a_day_it_is_that_of_today_in_utc(tmp_path):
    before = datetime.now(UTC)
    done("report", RUN_B)

    (found,) = re.findall(r"_(\d{4}-\d\d-\d\d)\.md", only(tmp_path / "reports", "*.md").name)
    assert found in {(before + timedelta(hours=hours)).date().isoformat() for hours in (0, 1)}


def test_a_day_that_is_none_is_refused():
    result = errata("report", RUN_B, "--date", "10.3.2026")

    assert (result.code, "`10.3.2026` is not a date" in result.talk) == (2, True)


@pytest.mark.req("C-22", "C-32")
def test_on_the_same_day_all_is_written_anew_but_what_was_done(tmp_path):
    reported(RUN_B)
    path = tmp_path / REPORT
    acted(path)
    path.write_text(path.read_text().replace("# Run Analysis", "# Scribbled over"))
    reported(RUN_B)

    text = path.read_text()
    assert section(text, "Actions taken").partition("<!--")[0].strip() == ACTION
    assert text.startswith("# Run Analysis: nimbus-2-coder\n")


@pytest.mark.req("C-22", "C-32")
def test_a_later_day_has_a_file_of_its_own_that_carries_the_actions_over(tmp_path):
    reported(RUN_B)
    acted(tmp_path / REPORT)
    before = (tmp_path / REPORT).read_text()
    done("report", RUN_B, "--date", "2026-03-12", "--store", "errata.db")

    later = (tmp_path / REPORT.replace(DAY, "2026-03-12")).read_text()
    assert ACTION in section(later, "Actions taken")
    assert (tmp_path / REPORT).read_text() == before


@pytest.mark.req("C-32", "C-33")
def test_an_action_of_the_command_is_kept_and_its_advice_not_repeated(tmp_path):
    import_fixtures(RUN_B, store="errata.db")
    done("review", "import", VERDICTS / "run-b.jsonl", "--reviewer", "r", "--store", "errata.db", "--reports", EARLIER)
    reported(RUN_B)
    case, what = "005-idioms/004-pick_primitive", "Put the five sentences into the task"
    path = ("--path", "TASK.txt", "--date", "2026-03-11", "--store", "errata.db")
    done("action", "add", "--what", what, "--for", case, *path, "--report", REPORT)
    reported(RUN_B)

    text = (tmp_path / REPORT).read_text()
    assert "Put the five sentences into the task" in section(text, "Actions taken")
    assert "Recommended: Store the five sentences with the task" in section(text, "Recommendations")


@pytest.mark.req("C-22")
def test_two_runs_whose_ids_begin_alike_do_not_write_over_each_other(tmp_path):
    runs = sorted((COMPARISON / "runs" / "harbour_bench").glob("*voice-alpha*"))
    for run in (*runs, *runs):
        reported(run, "--profile", "run")

    found = {path.name: path.read_text() for path in (tmp_path / "reports").rglob("*.md")}
    assert sorted(found) == ["20260301T113000_voice-alpha_5e6f7a8b_2026-03-10.md", "20260301_2026-03-10.md"]
    assert "1a2b3c4d" in found["20260301_2026-03-10.md"].splitlines()[2]


def files_in(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "words",
    [(RUN_A, "--html"), (RUN_B,), ("--comparison-dir", COMPARISON, "--html"), (UNJUDGED, "--html"), (BATCH,)],
    ids=["run", "another run", "comparison", "transcripts", "batch"],
)
def test_the_same_store_gives_the_same_bytes_and_so_does_a_new_one(tmp_path, words):
    reported(*words, "-o", "first")
    reported(*words, "-o", "second")
    done("report", *words, "-o", "third", "--date", DAY, "--store", "other.db")

    first = files_in(tmp_path / "first")
    assert first
    assert files_in(tmp_path / "second") == first
    assert files_in(tmp_path / "third") == first


def test_a_link_leads_no_report_out_of_its_folder(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "acme").symlink_to(elsewhere)
    result = errata("report", RUN_B, "--date", DAY)

    assert (result.code, "leads out of" in result.talk) == (2, True)
    assert not list(elsewhere.rglob("*.md"))


def test_what_errata_remembers_in_a_report_reads_back(tmp_path):
    reported(RUN_B, "--reports", EARLIER)
    (memory,) = re.findall(r"<!-- errata:memory (.*) -->", (tmp_path / REPORT).read_text())

    kept = json.loads(memory)
    assert (kept["run"], kept["passed"], kept["total"]) == ("jn7mqywbwe952an46zjcswtz9r7by5p7", 16, 25)
    assert len(kept["failures"]) == 9
