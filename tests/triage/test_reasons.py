"""Why an attempt failed, in one line."""

import msgspec
import pytest

from errata.model import Artefact, Attribution, Check, ErrorInfo, FailureKey, Judgement, Output, Signal
from errata.testing import a_run, an_attempt
from errata.text.tool_output import key_line
from errata.transcript.error_text import ReasonQuote, says_more
from errata.triage import RunWide, attribute, built_in, observe
from errata.triage.reasons import explained, reason_of

PYTEST = """\
def test_move_correct():
        move = read("/app/move.txt")
>       assert move == "e2e4"
E       AssertionError: wrong move
E       assert 'a1a2' == 'e2e4'
test_outputs.py:12: AssertionError
"""


def failed(explanation="", **changes):
    checks = (Check(name="match", status="fail", explanation=explanation),)
    return an_attempt(execution="completed", measurement="scored", outcome="fail", checks=checks, **changes)


def said(attempt, name, where, quote):
    return Attribution(
        attempt=attempt.id,
        owner="model",
        confidence="likely",
        decided_by=name,
        signals=(Signal(name=name, where=where, quote=quote),),
        failure_key=FailureKey(exact="", coarse=""),
    )


def test_an_error_says_it_best():
    attempt = failed("wrong", errors=(ErrorInfo(type="crash", message="out of\n  cheese", phase="subject"),))

    assert reason_of(attempt, None) == ReasonQuote("errors[0].message", "out of cheese")


def test_the_line_that_decided_comes_before_the_whole_message():
    error = ErrorInfo(type="crash", message="Command failed: bun install\nECONNRESET", phase="environment")
    attempt = failed(errors=(error,))

    assert reason_of(attempt, said(attempt, "connection_reset", "errors[0].message", "ECONNRESET")).text == "ECONNRESET"


def test_a_check_says_what_it_did_not_like():
    assert reason_of(failed("off by two hours"), None) == ReasonQuote("checks[match]", "off by two hours")


def test_a_judge_is_asked_where_no_check_explains():
    attempt = failed(judgements=(Judgement(judge="mild", reasoning="It forgot the class."),))

    assert reason_of(attempt, None) == ReasonQuote("judgements[mild]", "It forgot the class.")


def test_a_judge_who_passed_it_does_not_explain_why_it_failed():
    mild = Judgement(judge="mild", reasoning="Well structured.", raw={"passed": True})
    harsh = Judgement(judge="harsh", reasoning="Nothing was written.", raw={"passed": False})

    assert reason_of(failed(judgements=(mild, harsh)), None) == ReasonQuote("judgements[harsh]", "Nothing was written.")
    assert reason_of(failed(judgements=(mild,)), None).text == ""


def test_a_judge_whose_check_does_not_count_explains_only_what_nothing_else_does():
    judge = Check(name="graded", status="fail", judge="graded", counts=False)
    reasoned = Judgement(judge="graded", reasoning="It does not match.", raw={"passed": False})
    attempt = failed(judgements=(reasoned,), output=Output(text="Sydney", answer="sydney"))
    attempt = msgspec.structs.replace(attempt, checks=(*attempt.checks, judge))

    stated = reason_of(attempt, None, "Canberra")
    assert (stated.text, stated.quote) == ('answered "Sydney", expected "Canberra"', "")
    assert reason_of(attempt, None).quote == "It does not match."


def test_an_error_that_was_recovered_explains_nothing():
    error = ErrorInfo(type="ValueError", message="judge parse error", phase="scoring", recovered=True)

    assert reason_of(failed(errors=(error,), output=Output(text="Sydney")), None, "Canberra").where == "output"


def test_the_error_of_a_scorer_that_does_not_count_explains_nothing_that_another_measured():
    error = ErrorInfo(type="ValueError", message="judge parse error", phase="scoring")
    checks = (Check(name="exact", status="fail"), Check(name="bad", status="error", counts=False, error=error))
    attempt = an_attempt(measurement="scored", outcome="fail", checks=checks, errors=(error,))

    assert reason_of(attempt, None, "Canberra").text == 'answered nothing, expected "Canberra"'


@pytest.mark.parametrize("explanation", ["", "Sydney"], ids=["nothing", "the answer itself"])
def test_a_scorer_that_only_repeats_the_answer_leaves_the_word_to_what_was_expected(explanation):
    attempt = failed(explanation, output=Output(text="It is Sydney", answer="Sydney"))

    assert reason_of(attempt, None, "Canberra").text == 'answered "Sydney", expected "Canberra"'


def test_an_answer_that_is_not_there_is_told_as_nothing():
    assert reason_of(failed(), None, "Canberra").text == 'answered nothing, expected "Canberra"'


def test_a_passed_answer_is_not_held_against_what_was_expected():
    assert reason_of(an_attempt(outcome="pass"), None, "Canberra").text == ""


@pytest.mark.parametrize("status", ["unset", "failed", "None", "FAIL"])
def test_a_word_that_only_says_that_it_failed_is_no_reason(status):
    assert reason_of(failed(native_status=status), None).text == ""


def test_of_a_traceback_the_line_is_told_that_says_what_is_wrong():
    assert key_line(PYTEST) == "AssertionError: wrong move"


def test_a_short_text_is_told_whole():
    assert key_line("TypeError: no\nbecause of this") == "TypeError: no because of this"


def test_a_check_that_only_informs_is_better_than_silence():
    check = Check(name="test_move", status="fail", counts=False, explanation=PYTEST)
    attempt = an_attempt(outcome="fail", measurement="scored", checks=(Check(name="reward", status="fail"), check))

    assert reason_of(attempt, None) == ReasonQuote("checks[test_move]", "AssertionError: wrong move")


def test_the_log_is_asked_where_a_check_says_only_that_it_failed():
    log = "[ok] tsc\n[vitest] AssertionError: expected 1 to equal 2\n[error] match failed (60%)\n"
    attempt = failed("match failed (60%)", artefacts=(Artefact(role="log", path="run.log", text=log),))

    assert reason_of(attempt, None) == ReasonQuote("run.log:2", "AssertionError: expected 1 to equal 2")


def test_a_check_that_says_only_that_it_failed_is_still_better_than_nothing():
    assert reason_of(failed("match failed (60%)"), None).text == "match failed (60%)"


@pytest.mark.parametrize(("text", "more"), [("match failed (60%)", False), ("I", False), ("off by one", True)])
def test_what_says_more_than_that_it_failed(text, more):
    assert says_more(text, failed(native_status="I")) is more


def test_a_follower_is_not_explained_by_the_id_of_what_it_follows():
    attempt = failed("the session was over", follows="run:suite/other#1")

    assert reason_of(attempt, said(attempt, "follower", "follows", "run:suite/other#1")).text == "the session was over"


def test_what_nobody_explained_is_not_explained():
    assert not explained(failed(), None)
    assert explained(failed("off by two hours"), None)


def test_the_message_of_an_error_explains_more_than_the_frame_that_decided():
    attempt = failed(errors=(ErrorInfo(type="Crash", message="no such tier", phase="setup", frame="run.py:412"),))

    assert reason_of(attempt, said(attempt, "harness_frame", "errors[0].frame", "run.py:412")).text == "no such tier"


FALSE_JUDGE = Check(
    name="NL_ASSERTION: Agent cancels reservation NQNU5R.",
    status="fail",
    counts=False,
    judge="nl",
    explanation="The agent cancelled it. Not met, as the expectation was that the agent would not cancel it.",
)


def test_what_a_judge_says_beside_the_check_that_decided_is_no_reason():
    decided = an_attempt(outcome="fail", measurement="scored", checks=(Check(name="DB", status="fail"), FALSE_JUDGE))
    alone = an_attempt(outcome="fail", measurement="scored", checks=(FALSE_JUDGE,))

    assert reason_of(decided, None).text == ""
    assert reason_of(alone, None).text == FALSE_JUDGE.explanation


@pytest.mark.parametrize(
    ("name", "words"),
    [("wrote_too_much", "not expected"), ("wrote_otherwise", "wrong change"), ("never_wrote", "never made")],
)
def test_an_unexpected_change_explains_a_check_without_a_reason_of_its_own(name, words):
    attempt = an_attempt(
        outcome="fail",
        measurement="scored",
        native_status="user_stop",
        checks=(Check(name="DB", status="fail"), FALSE_JUDGE),
    )
    attribution = said(attempt, name, "tool calls", "cancel_reservation(reservation_id=IFOYYZ)")
    attribution = msgspec.structs.replace(attribution, decided_by="check_failed")

    assert reason_of(attempt, attribution).text == f"{words}: cancel_reservation(reservation_id=IFOYYZ)"


def test_a_change_with_the_argument_that_differs_explains_more_than_the_name_of_the_expected_call():
    listed = Check(name="DB", status="fail", explanation="expected call missing or different: send_certificate")
    attempt = an_attempt(outcome="fail", measurement="scored", checks=(listed,))
    attribution = said(attempt, "wrote_otherwise", "tool calls", "send_certificate with amount 100 (expected 50)")
    attribution = msgspec.structs.replace(attribution, decided_by="check_failed")

    assert reason_of(attempt, attribution).text == "wrong change: send_certificate with amount 100 (expected 50)"
    assert reason_of(attempt, None).text == listed.explanation


def test_how_a_conversation_ended_is_no_reason_for_a_check_to_fail():
    attempt = failed(native_status="user_stop")
    observed = observe(a_run(), attempt, None, RunWide(), built_in())
    attribution = attribute(attempt, observed)

    assert "user_stop" not in [one.quote for one in attribution.signals]
    assert reason_of(attempt, attribution).text == ""
