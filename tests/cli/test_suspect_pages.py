"""Suspect tasks on the first page of an import, a comparison and their reports."""

import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot
from tests.suite_of_runs import write_logs

from terminal import done

SUBJECTS = {"alpha": "=--++++-++", "beta": "=-++-+++++", "gamma": "=-+++-+++-", "delta": "=--+++++-+"}
"""Nobody passes the first two cases; on the first one all agree."""


@pytest.fixture
def logs(tmp_path):
    return write_logs(tmp_path / "logs", SUBJECTS)


def test_an_import_of_several_subjects_lists_them_before_the_pages_of_its_runs(logs):
    page = done("analyze", logs, "--no-report").out

    assert page.partition("\nRun ")[0] == snapshot("""\
Suite suite
Suspect  2 suspect tasks, 1 with evidence beyond the counts · no model passed 2 of the 10 tasks with
         a result from at least 3 of 4 models (about 0.2 expected by chance if all tasks were
         equally hard)
         The counts alone do not distinguish a hard task from a broken one.
         case-00: passed by 0 of 4 models
           models agree on another answer than the reference (in 4 of 4 models' failures): expected
             412, answered: 421
         case-01: passed by 0 of 4 models; no evidence beyond the counts (for a task of average
           difficulty, so few passes have p = 0.022)
""")
    assert page.count("Suspect  2 failed cases among the suspect tasks above") == 4
    assert page.count("check 1 suspect task: is it broken?") == 4, "only the one with evidence"


def test_one_more_run_lists_what_the_store_knows_of_its_suite(logs, tmp_path):
    done("import", logs)
    more = write_logs(tmp_path / "more", {"omega": "+-++++++++"})

    page = done("analyze", more, "--no-report").out

    assert "Suspect  1 suspect task by the counts alone · " in page
    words = " ".join(page.split())
    assert re.search(
        r"no model passed 1 of .{0,80}\(about [\d.]+ expected by chance if all tasks were equally hard\)", words
    )
    reason = "no evidence beyond the counts (for a task of average difficulty, so few passes have p = "
    assert f"case-01: passed by 0 of 5 models; {reason}" in words


def test_a_comparison_lists_them(logs):
    done("import", logs)
    names = list(SUBJECTS)

    page = done("compare", *names).out
    row = done("compare", *names, "--json").row

    heading = "Suspect 2 suspect tasks, 1 with evidence beyond the counts · no model passed 2 of the 10 tasks"
    assert heading in " ".join(page.split())
    words = (
        "models agree on another answer than the reference (in 4 of 4 models' failures): expected 412, answered: 421"
    )
    assert words in " ".join(page.split())
    assert [task["case"] for task in row["suspects"]["tasks"]] == ["case-00", "case-01"]


def test_two_subjects_that_agree_are_not_evidence(logs):
    done("import", logs)

    tasks = done("compare", "alpha", "beta", "--json").row["suspects"]["tasks"]

    assert tasks == []


def test_the_reports_have_a_section_about_them(logs):
    done("import", logs)

    done("report", *SUBJECTS, "-o", "several")
    done("report", "alpha", "-o", "single.md")

    for page in (Path("several/deep_error_analysis.md"), Path("single.md")):
        section = page.read_text(encoding="utf-8").partition("## Suspect tasks")[2].partition("\n## ")[0]
        assert "The counts alone do not distinguish a hard task from a broken one" in section
        assert "| case-00 | passed by 0 of 4 models | models agree on another answer" in section
        assert "| case-01 | passed by 0 of 4 models | no evidence beyond the counts (for a task of average" in section
        assert "difficulty, so few passes have p = 0.022)" in section


def test_review_tasks_lists_all_of_them(logs):
    done("import", logs)

    page = done("review", "tasks", "alpha").out
    row = done("review", "tasks", "alpha", "--json").row

    assert "errata review next alpha --tasks" in page
    assert [task["case"] for task in row["tasks"]] == ["case-00", "case-01"]


def test_where_no_count_is_a_surprise_one_line_has_the_numbers_and_no_names(tmp_path):
    weak = {f"m{at}": "-" * 6 + "-" * at + "+++" + "-" * (7 - at) for at in range(5)}
    done("import", write_logs(tmp_path / "logs", weak))
    page = done("review", "tasks", "m0").out

    assert page == snapshot("""\
Suspect  No suspect tasks: too many fail in every model to single one out · no model passed 9 of the
         16 tasks with a result from at least 3 of 5 models (about 5.1 expected by chance if all
         tasks were equally hard)
""")
