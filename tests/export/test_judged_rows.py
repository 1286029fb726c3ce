"""Rows of a judged conversation, counted for a comparison folder (E-23)."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from errata.export.comparison_folder_tables import judged_rows
from errata.model import Check, Judgement
from errata.testing import an_attempt

STATUSES = ("pass", "fail", "not_applicable", "unscored")


def a_row(*statuses, judge="openai", **changes):
    checks = tuple(Check(name=f"d{at}", status=status, judge=judge) for at, status in enumerate(statuses))
    return an_attempt(**{"checks": checks, "judgements": (Judgement(judge=judge),)} | changes)


@given(st.lists(st.lists(st.sampled_from(STATUSES), max_size=6), max_size=20))
def test_a_row_fails_by_any_false_passes_by_any_true_and_is_incomplete_without_either(rows):
    found = judged_rows([a_row(*statuses) for statuses in rows], "openai")
    fails = sum("fail" in one for one in rows)
    neither = sum("fail" not in one and "pass" not in one for one in rows)

    assert found.statuses == Counter(fail=fails, incomplete=neither, **{"pass": len(rows) - fails - neither})
    assert found.rows == len(rows)


def test_what_does_not_apply_is_in_no_denominator():
    found = judged_rows([a_row("pass", "not_applicable"), a_row("fail", "pass")], "openai")

    assert (found.passes, found.applicable) == (Counter(d0=1, d1=1), Counter(d0=2, d1=1))


def test_what_another_judge_or_nobody_judged_is_no_row():
    rows = [a_row("pass", judge="claude"), a_row(judgements=(), execution="missing", outcome="none")]

    assert judged_rows(rows, "openai").rows == 0


def test_turns_after_an_ended_session_are_counted_apart_from_its_end():
    words = ("MODEL_ENDED_SESSION", "MODEL_ENDED_SESSION_EARLY", "MODEL_ENDED_SESSION_EARLY", "EMPTY_RESPONSE", "")
    found = judged_rows([a_row("fail", native_status=word) for word in words], "openai")

    assert found.markers == Counter(MODEL_ENDED_SESSION=1, MODEL_ENDED_SESSION_EARLY=2, EMPTY_RESPONSE=1)


def test_times_are_milliseconds_of_the_rows_that_tell_them():
    found = judged_rows([a_row("pass", durations={"latency": 3.1, "ttfb": -0.12}), a_row("pass")], "openai")

    assert (found.latencies, found.ttfbs) == ((3100.0,), (-120.0,))
