"""A log of failures alone: the passes that the harness states are in every figure, and no page shows 0 %."""

import re
import shutil

import pytest

from report_pages import RUN_B, working_in
from terminal import FIXTURES, done, errata, import_fixtures

CONVEX = FIXTURES / "convex_evals" / "failed_only" / "data" / "failed.json"
CONVEX_WHOLE = FIXTURES / "convex_evals" / "run_a" / "data"
BFCL = FIXTURES / "bfcl" / "categories" / "data" / "bfcl"
SIMPLE = "gpt-4o-2024-11-20-FC/non_live/BFCL_v4_simple_python"


@pytest.fixture
def scores_alone(tmp_path):
    """The score file of one category, without its results."""
    path = tmp_path / "bfcl" / "score" / f"{SIMPLE}_score.json"
    path.parent.mkdir(parents=True)
    shutil.copy(BFCL / "score" / f"{SIMPLE}_score.json", path)
    return tmp_path / "bfcl"


def counts(path, store="errata.db"):
    scores = done("score", path, "--json", "--store", store).row["scores"]
    return {name: (scores[name]["passed"], scores[name]["total"]) for name in ("strict", "as_reported", "clean")}


def test_the_answer_that_lists_failures_alone_has_the_scores_of_the_whole_run():
    """Of the whole run it is also known that a 25th eval was planned."""
    whole, failures = counts(CONVEX_WHOLE, "whole.db"), counts(CONVEX, "failures.db")

    assert (failures["strict"], whole["strict"]) == ((13, 24), (13, 25))
    assert failures["as_reported"] == whole["as_reported"]


def test_the_score_file_of_bfcl_alone_has_the_accuracy_of_its_first_line(scores_alone):
    assert counts(scores_alone)["strict"] == counts(scores_alone)["as_reported"] == (3, 6)


@pytest.mark.parametrize("log", ["convex", "bfcl"])
def test_no_page_shows_0_percent_or_claims_that_the_number_is_reproduced(log, scores_alone):
    path = CONVEX if log == "convex" else scores_alone
    pages = [done("analyze", path, "--no-report").out, done("score", path).out, errata("check", path).out]

    for page in pages:
        assert not re.search(r"\b0\.0 %", page)
        assert "reproduced" not in page
        assert re.search(r"strict +(13/24|3/6) ", page)


@pytest.mark.req("B-43")
def test_a_log_of_failures_alone_is_in_no_comparison_by_case(tmp_path):
    """On the cases that both logs hold it would fail every one."""
    with working_in(tmp_path):
        import_fixtures(CONVEX, RUN_B)
        for words in ((), ("--common",)):
            refused = errata("compare", "jn709tmj", "jn7mqywb", *words)
            assert refused.code != 0
            assert "its log holds only failures" in refused.talk
