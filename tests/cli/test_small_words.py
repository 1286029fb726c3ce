"""Small things on pages that misled users: headings, names, suggestions, costs, doubts."""

from errata.cli.show_attempt import put_verdict
from errata.model import Reviewer, Verdict
from errata.model.standing import AttemptReview, Standing
from terminal import FIXTURES, done, import_fixtures


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
