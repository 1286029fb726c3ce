"""`errata compare --write`, as a user sees it (E-23)."""

import shutil

import pytest
from inline_snapshot import snapshot

from terminal import FIXTURES, done, errata

OWN = FIXTURES / "conversation_bench" / "comparison" / "data" / "compare_20260301"
UNJUDGED = FIXTURES / "conversation_bench" / "unjudged" / "data"
RUN_A = FIXTURES / "convex_evals" / "run_a" / "data" / "run-a"


@pytest.fixture
def runs(at_home):
    """Runs as a user has them, without any comparison."""
    shutil.copytree(OWN / "runs", at_home / "runs")
    shutil.copytree(UNJUDGED, at_home / "runs" / "harbour_bench", dirs_exist_ok=True)
    return at_home / "runs" / "harbour_bench"


@pytest.mark.req("E-23")
def test_the_page_lists_what_was_written_and_what_was_not(runs):
    assert done("compare", "runs/harbour_bench", "--write", "results/harbour_bench/rebuilt").out == snapshot("""\
harbour_bench · 4 runs of 3 models · results/harbour_bench/rebuilt

file                rows  status
run_results.csv        4  new
metric_summary.csv    18  new
model_summary.csv      3  new
metadata.json             new
summary.md                new

left out 7d8e9f0a voice-delta: no attempt was judged
skipped  commands.csv: the runs do not record their commands
Next     errata compare results/harbour_bench/rebuilt   compares the runs in it
""")


@pytest.mark.req("E-23")
def test_the_folder_is_read_as_the_comparison_that_it_is(runs):
    of_runs = done("compare", *sorted(runs.glob("20260301*")), "--json").row
    done("compare", "runs/harbour_bench", "--write", "results/harbour_bench/rebuilt")
    of_folder = done("compare", "results/harbour_bench/rebuilt", "--json", "--store", "another.db").row

    assert of_folder == of_runs
    assert [(one["passed"], one["failed"]) for one in of_folder["runs"]] == [(25, 5), (26, 4), (20, 10), (22, 7)]


def test_runs_are_named_by_their_ids_too(library, at_home):
    row = done("compare", "1a2b3c4d", "5e6f7a8b", "--write", "out", "--json", "--store", library).row

    assert [one["run"] for one in row["runs"]] == [
        "20260301T100000_voice-alpha_1a2b3c4d",
        "20260301T113000_voice-alpha_5e6f7a8b",
    ]
    assert [(one["file"].removeprefix(f"{at_home}/out/"), one["rows"], one["change"]) for one in row["written"]] == [
        ("run_results.csv", 2, "new"),
        ("metric_summary.csv", 6, "new"),
        ("model_summary.csv", 1, "new"),
        ("commands.csv", 4, "new"),
        ("metadata.json", None, "new"),
        ("summary.md", None, "new"),
    ]
    assert row["not_found"] == [one["run"] for one in row["runs"]]


def test_what_is_there_is_written_over_only_by_force(runs):
    done("compare", "runs/harbour_bench", "--write", "out")
    first = next(iter(sorted(runs.iterdir())))
    refused = errata("compare", first, "--write", "out")

    assert (refused.code, refused.out) == (2, "")
    assert "run_results.csv` already exists and differs" in refused.talk
    assert "choose another folder, or add `--force`" in refused.talk
    assert "changed" in done("compare", first, "--write", "out", "--force").out


def test_a_run_of_another_harness_is_refused_with_what_would_be_right(at_home):
    result = errata("compare", RUN_A, "--write", "out")

    assert (result.code, result.out) == (2, "")
    assert "is of `convex-evals`, which has no comparison folders" in result.talk
    assert "`--write` takes judged runs of `conversation-bench`" in result.talk
    assert not (at_home / "out").exists()


def test_options_that_choose_a_part_are_refused(runs):
    result = errata("compare", "runs/harbour_bench", "--write", "out", "--by-model", "--category", "basic_qa")

    assert (result.code, result.out) == (2, "")
    assert "`--by-model` and `--category` can't be combined with `--write`" in result.talk
