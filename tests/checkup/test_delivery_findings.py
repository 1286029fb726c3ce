"""Was the subject asked, did it answer, was that measured: what makes a run unfit, and what does not."""

import pytest
from checkup_fixtures import NOW, RUN, check, failed, named, row, rows, the

from errata.checkup import findings_in, is_fit, look_up_identical
from errata.checkup.survey import RunSurvey
from errata.model import Case, Check, Output, Undelivered, Usage, UsageByRole

LOST = Undelivered(fault="reference", sent="greeting_v1")
NOT_RUN = {"execution": "error", "measurement": "not_run", "outcome": "none"}


def test_prompts_that_were_not_delivered_are_counted_first():
    found = check(rows(30, undelivered=LOST))

    assert the("prompt_not_delivered", found).text == (
        "the prompt was not delivered in 30 of 30 attempts: the text sent is `greeting_v1`"
    )
    assert not is_fit(found)


def test_a_single_prompt_that_was_not_delivered_is_a_warning():
    found = check([*rows(20), row(20, undelivered=Undelivered(fault="empty"))])

    assert the("prompt_not_delivered", found).severity == "warning"
    assert the("prompt_not_delivered", found).text.endswith("in 1 of 21 attempts: the text sent is empty")


def test_answers_that_are_error_bodies_make_a_run_unfit_even_if_they_passed():
    found = check(rows(78, http_status=422))

    assert (
        "in 78 of 78 attempts the answer is the error message of a failed request, some of them counted as passed"
        in the("error_bodies", found).text
    )
    assert not is_fit(found)


def test_a_failed_request_without_any_answer_is_no_answer_that_is_an_error_message():
    found = check([*rows(4), *(row(10 + n, http_status=503, output=Output(), **NOT_RUN) for n in range(2))])

    assert named("error_bodies", found) == []


def test_a_run_whose_requests_were_answered_is_fit():
    assert is_fit(check(rows(5, http_status=200)))


@pytest.mark.parametrize(("lost", "fit"), [(10, True), (17, False)])
def test_a_run_with_a_third_of_its_attempts_unmeasured_is_not_fit(lost, fit):
    found = check([*rows(50 - lost), *(row(100 + number, **NOT_RUN) for number in range(lost))])

    assert is_fit(found) == fit
    if not fit:
        assert the("not_measured", found).text.startswith("17 of 50 attempts were not measured")


def test_skipped_tests_are_no_lost_measurements():
    skipped = {"execution": "skipped", "measurement": "not_run", "outcome": "none"}

    assert named("not_measured", check([*rows(2), *(row(10 + n, **skipped) for n in range(5))])) == []


def findings_with(attempts, expected, choices=()):
    survey = RunSurvey(run=RUN, unreadables=(), now=NOW)
    for attempt in attempts:
        survey.add(attempt)
    cases = iter(range(1000))

    def case_of(key, _version):
        return Case(run=RUN.id, suite="suite", native_id=key, expected=expected(next(cases)), choices=choices)

    look_up_identical(survey, attempts, case_of)
    return findings_in(survey)


def same(number, text, outcome="fail"):
    return row(number, output=Output(text=text), outcome=outcome)


@pytest.mark.req("B-29")
def test_a_run_of_which_most_answers_are_one_text_is_not_fit_where_others_were_due():
    text = "I do not have access to the document you mention. Id: 7f3a9c1b2d4e5f6071829{}"
    found = findings_with([*rows(3), *(same(10 + n, text.format(n)) for n in range(20))], lambda n: f"answer {n}")

    assert the("identical_outputs", found).severity == "error"
    assert the("identical_outputs", found).text.startswith("20 of 23 (87 %) stored answers are one and the same text")


def test_letters_of_several_choices_are_not_told():
    letters = [same(n, "ABCD"[n % 4], "pass") for n in range(40)]

    assert named("identical_outputs", findings_with(letters, lambda n: "ABCD"[n % 4], ("a", "b", "c", "d"))) == []


def test_a_sentence_out_of_few_choices_is_not_told():
    asked = [same(n, "The claim is supported by the text", "pass") for n in range(30)]

    assert named("identical_outputs", findings_with([*asked, *rows(30)], lambda n: str(n % 2), ("yes", "no"))) == []


def test_one_right_answer_to_many_equal_questions_is_not_told():
    text = "I can't help with that request"

    assert named("identical_outputs", findings_with([same(n, text, "pass") for n in range(9)], lambda _: text)) == []


@pytest.mark.req("B-24")
@pytest.mark.parametrize(
    ("text", "tokens", "told"), [("B", 1, False), ("Yes", None, False), ("B", 512, True), ("The answer", 2, True)]
)
def test_an_answer_of_one_token_was_not_cut(text, tokens, told):
    usage = UsageByRole(subject=Usage(output=tokens))
    found = check(rows(5, output=Output(text=text), usage=usage, stop_reason="length"))

    assert bool(named("truncated_outputs", found)) == told


def test_passes_that_only_leave_all_as_it_was_are_one_note():
    unchanged = Check(name="DB", status="pass", kind="reward", weakness="nothing_changed")
    found = check([*rows(3), *(row(10 + n, checks=(unchanged,)) for n in range(4))])

    assert the("nothing_changed", found).severity == "info"
    assert the("nothing_changed", found).text.startswith("4 of 7 passes needed no change to the environment")


def test_a_pass_with_another_real_check_had_more_to_do():
    checks = (
        Check(name="DB", status="pass", kind="reward", weakness="nothing_changed"),
        Check(name="COMMUNICATE", status="pass", kind="reward"),
    )

    assert named("nothing_changed", check(rows(3, checks=checks))) == []
    assert named("nothing_changed", check([*rows(3), failed(9)])) == []


def test_a_test_that_failed_as_its_mark_says_is_not_missing_a_verdict():
    expected = {"measurement": "not_run", "outcome": "none", "native_status": "xfailed"}
    found = check([*rows(3), *(row(10 + number, **expected) for number in range(4))])

    assert named("not_measured", found) == []
    assert is_fit(found)
