"""Small things on pages that misled users: headings, names, suggestions, costs, doubts."""

import json
import re

import pytest
from msgspec.structs import replace

from errata.cli.buckets.list_ import status_of
from errata.cli.fitting import fold
from errata.cli.render.fields import visible_name
from errata.cli.show_attempt import _by, _facts, put_verdict
from errata.model import Attribution, Bucket, BucketCounts, FailureKey, Reviewer, Usage, UsageByRole, Verdict
from errata.model.standing import AttemptReview, Standing
from errata.render.proof import proof_counts, proof_reason, proof_words
from errata.testing import an_attempt
from terminal import FIXTURES, done, errata, import_fixtures

MAP = 'suite = "odd"\n[run]\nname = { column = "run" }\n[case]\nname = "id"\n[attempt]\npassed = "ok"\n'


@pytest.fixture
def two_runs(tmp_path):
    rows = [{"run": name, "id": " a", "ok": False} for name in ("first", "second")]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "map.toml").write_text(MAP)
    done("import", "rows.jsonl", "--map", "map.toml")


def test_each_of_several_runs_of_a_folder_has_its_heading_also_the_first():
    import_fixtures(FIXTURES / "conversation_bench/comparison/data")
    page = done("failures", FIXTURES / "conversation_bench/comparison/data", "--limit", "1").out

    assert page.startswith("Run ")
    assert page.count("\n\nRun ") == 3


def test_a_wrong_selector_does_not_hide_the_runs_before_it(two_runs):
    page = errata("failures", "first", "nowhere")

    assert (page.code, page.out.startswith("Run first")) == (2, True)
    assert "nowhere" in page.err


def test_a_blank_at_the_end_of_a_name_can_be_seen(two_runs):
    assert "' a'" in done("failures", "first").out
    assert done("show", "first/ a").out.startswith("' a' · attempt 1")
    assert visible_name("a b") == "a b"


@pytest.mark.parametrize(("typed", "meant"), [("--ownr", "`--owner`"), ("--jsn", "`--json`"), ("--limt", "`--limit`")])
def test_a_mistyped_option_is_met_with_the_one_that_was_meant(typed, meant):
    result = errata("failures", "latest", typed)

    assert (result.code, f"hint: did you mean {meant}?\n" in result.err) == (2, True)


def test_the_cost_of_the_subject_is_the_same_on_the_page_and_in_the_packet():
    usage = UsageByRole(subject=Usage(cost=0.5, cost_source="reported"), judge=Usage(cost=0.25))

    assert _facts(an_attempt(usage=usage))[-2:] == ["$0.5000 reported", "$0.7500 with judge"]
    simulated = _facts(an_attempt(usage=UsageByRole(simulator=Usage(cost=0.25))))
    assert simulated[-1] == "$0.2500 for the simulated user alone"
    assert _facts(an_attempt(usage=UsageByRole(subject=usage.subject)))[-1] == "$0.5000 reported"


@pytest.mark.parametrize(
    ("status", "read", "shown"),
    [
        ("reviewed", 1, "1 of 3 reviewed"),
        ("reviewed", 3, "reviewed"),
        ("final", 3, "final"),
        ("provisional", 0, "provisional"),
    ],
)
def test_a_bucket_is_called_reviewed_only_if_all_of_it_is(status, read, shown):
    bucket = Bucket(id="b", slug="b", title="b", status=status)
    counts = {"rows": 3, "followers": 0, "cases": 3, "inherited": 0, "assigned": 0, "elsewhere": 0}

    assert status_of(BucketCounts(bucket=bucket, read=read, runs=("r",), models=("m",), owners={}, **counts)) == shown


def test_a_doubt_is_not_called_the_absence_of_one():
    doubted = Attribution(
        attempt="a",
        owner="model",
        confidence="weak",
        decided_by="check_failed",
        proof_reason="in_doubt",
        failure_key=FailureKey(exact="", coarse=""),
    )

    assert _by(doubted, None) == "default owner"
    named = replace(doubted, also=("budget",), proof="presumed")
    assert proof_words(named) == "presumed: some evidence points to the budget, but not enough to decide"
    assert proof_words(replace(doubted, owner="environment", proof_reason="", also=("provider",))) == (
        "weak; possibly provider"
    )


def test_a_case_with_several_attempts_was_passed_by_none_of_them():
    assert proof_reason("no_other_result", repeated=True) == (
        "all attempts at this case failed, and no other run of it is in the store"
    )
    assert proof_counts(1, {"nobody_passed": 2, "no_other_result": 1}) == (
        "1 supported, 3 presumed: 2 because no other run passed these cases; "
        "1 because no other run of this case is in the store"
    )


def test_who_else_has_to_act_by_a_verdict_is_shown(capsys):
    verdict = Verdict(
        id="v",
        taxonomy="t",
        attempt="a",
        label="MODEL_FAULT",
        owner="model",
        also=("grader",),
        cause="x",
        confidence="likely",
        reviewer=Reviewer(kind="person", name="ada"),
    )
    put_verdict(AttemptReview((verdict,), Standing(verdict=verdict, final=True)), stale=False, raw=False)

    assert "MODEL_FAULT · model, likely, also grader (" in capsys.readouterr().out


def test_a_page_gives_the_reason_where_no_figure_is_the_best_estimate():
    import_fixtures(FIXTURES / "conversation_bench/damaged/data")

    page = " ".join(done("analyze", "latest", "--no-report").out.split())

    assert "no best estimate: run not fit for comparison; 3 turns left out" in page


def test_a_run_of_reference_solutions_is_not_shown_as_a_model():
    folder = FIXTURES / "swe_bench/lists_2024/data"
    import_fixtures(next(folder.rglob("SWE-bench_Lite_golden")))

    assert "reference solutions, not a model" in done("runs").out
    assert "reference solutions, not a model" in errata("check", "latest").out


def test_a_failure_without_an_answer_in_the_log_is_not_called_a_wrong_answer(two_runs):
    page = done("analyze", "first", "--no-report").out

    assert "model  Scored as failed (no answer or error text in the log)" in page


def test_logs_that_were_chosen_for_their_failures_give_no_estimate_of_a_score():
    page = " ".join(done("analyze", FIXTURES / "who_and_when/generated/data", "--no-report").out.split())

    assert "no best estimate: the log holds only failures" in page
    assert "Wrong answer (no error text)" in page


def test_a_case_that_was_scored_although_its_request_failed_is_not_measured():
    assert "3 of 4 planned cases measured, 1 scored but not usable (infrastructure or knock-on)" in " ".join(
        done("analyze", FIXTURES / "bfcl/simple/data", "--no-report").err.split()
    )


def test_measured_and_not_measured_attempts_add_up():
    page = done("analyze", FIXTURES / "pytest_json/report/data", "--no-report")

    assert "2 of 6 planned cases measured, 1 skipped" in page.err
    assert "(not counted: 1 skipped, 1 expected to fail)" in " ".join(page.out.split())


def test_causes_of_runs_without_a_date_were_seen_on_no_known_day():
    done("analyze", FIXTURES / "who_and_when/generated/data", "--no-report")

    assert re.search(r"^Wrong answer.* model +–$", done("buckets", "list").out, re.M)


def test_a_log_without_rows_is_not_listed_as_free_of_failures():
    done("import", FIXTURES / "aider/leaderboard/data")

    rows = [line for line in done("runs").out.splitlines() if re.search(r" \d+/\d+ ", line)]
    assert rows and all(row.endswith(" –") for row in rows)


def test_failures_of_a_run_that_was_never_judged_are_not_counted_by_category():
    import_fixtures(FIXTURES / "conversation_bench/unjudged/data")

    page = done("analyze", "latest", "--no-report").out

    assert "provider        1" in page
    assert "Failed by category" not in page


def test_rows_of_one_turn_that_disagree_are_called_contradictory_and_not_attempts():
    import_fixtures(FIXTURES / "conversation_bench/damaged/data")
    first, second = (" ".join(done("show", f"latest/turn-12#{row}").out.split()) for row in (1, 2))

    assert first.startswith("turn-12 · row 1 of 2, contradictory: rows 1 and 2 disagree ")
    assert " 1 other row failed: `errata show '0b1c2d3e/turn-12#2'`" in first
    assert second.startswith(
        "turn-12 · row 2 of 2, contradictory: rows 1 and 2 disagree · failed 1 of 5 dimensions: state_tracking"
    )
    assert "#2 = the second row of the case; where rows disagree" in done("failures", "latest").out


def test_a_batch_failure_shows_the_judges_words_of_the_session_that_ran_it():
    import_fixtures(FIXTURES / "scylla/large/batch-gen1/data/batch-gen1")
    with_words, without = (" ".join(done("show", f"latest/{case}").out.split()) for case in ("test-003", "test-022"))

    assert "judge T0/00/run_01 · session 1 · " in with_words
    assert "run_result.json > The date range parser swaps day and month; F1 is not met. " in with_words
    assert " judge T" not in without
    assert "because checks[T0]" not in with_words
    assert "    The date range parser swaps day and month; F1 is not met.\n" in done("failures", "latest").out


def test_no_line_ends_in_a_separator_before_a_name_that_is_too_long_for_a_line():
    assert fold("read inspect-ai · a-very-long-name.eval · 14", 16, whole_words=True) == [
        "read inspect-ai",
        "a-very-long-name.eval",
        "· 14",
    ]
