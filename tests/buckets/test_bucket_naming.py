"""Names that a person can read, from texts that nobody can trust."""

import pytest
from failures_to_group import a_failing, an_error, read_as
from hypothesis import given
from hypothesis import strategies as st

from errata.buckets.naming import LONGEST, readable
from errata.buckets.opinions import slug_of
from errata.buckets.suggest import suggest
from errata.model.check import WrongAnswer
from errata.text.clean import one_line


def title(*failures) -> str:
    (bucket,) = suggest(failures).buckets
    return bucket.title


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("AssertionError: returned value does not match the validator", "returned value does not match the validator"),
        ("/tests/test.sh: line 16: uvx: command not found", "uvx: command not found"),
        ("RuntimeError('container <hex> is not running')", "container an id is not running"),
        ("[infrastructure] empty provider response", "empty provider response"),
        ("Expecting value: line <n> column <n> (char <n>)", "Expecting value: line N column N (char N)"),
        (
            "Error: Command failed: bunx convex dev --once\n✖ The index is reserved. Use another.",
            "The index is reserved",
        ),
        (
            "Error code: 401 - {'error': {'message': 'Incorrect API key provided', 'code': 1}}",
            "Incorrect API key provided",
        ),
        ("9:23 error 'ctx' is defined but never used", "'ctx' is defined but never used"),
        ('ConvexError: {"code":"SLOW_DOWN"}', 'ConvexError: {"code":"SLOW_DOWN"}'),
    ],
)
def test_the_wrapping_of_a_message_is_taken_off(text, told):
    assert readable(text) == told


def test_a_title_is_what_a_reader_said_where_somebody_has_read():
    failing = read_as(a_failing("1", "tests failed"), "off-by-one", "The window is off by one. Also the text is wrong.")

    (bucket,) = suggest([failing]).buckets
    assert (bucket.slug, bucket.title) == ("off-by-one", "The window is off by one")


def test_a_title_is_the_meaning_of_a_rule_with_the_status_that_all_share():
    rule = {"owner": "provider", "signal": "provider_rate_limit", "means": "the provider refused the call"}

    assert title(an_error("1", "HTTP 429 Too Many Requests", **rule)) == "the provider refused the call (429)"


def test_a_title_of_a_limit_names_the_limit():
    rule = {"owner": "budget", "signal": "limit_reached", "means": "a limit ended the attempt"}
    failing = a_failing("1", "stopped", parameters={"limit": "max_turns"}, **rule)

    assert title(failing) == "the attempt ran into its limit of turns"


def test_a_title_of_a_missing_thing_names_the_thing_and_what_it_led_to():
    rule = {"owner": "environment", "signal": "verifier_never_ran", "means": "the tests never ran"}

    result = title(a_failing("1", "/tests/test.sh: line 16: uvx: command not found", **rule))

    assert result == "uvx: command not found (the tests never ran)"


def test_a_title_of_a_cluster_is_its_name_in_words():
    assert title(a_failing("1", "x", cluster="premature_end_session")) == "premature end session"


def test_a_title_masks_what_differs_between_members_and_keeps_what_does_not():
    same = "Failed to load checkpoint 17"

    assert title(an_error("1", same), an_error("2", same)) == "Failed to load checkpoint 17"
    assert title(an_error("1", same), an_error("2", "Failed to load checkpoint 18")) == "Failed to load checkpoint N"


def test_a_title_shows_only_the_words_that_all_members_have():
    variable = "UnboundLocalError: local variable '{}' referenced before assignment"
    flights, both = "not met: update_flights", "not met: update_flights, update_baggages"

    assert title(a_failing("1", variable.format("Perm")), a_failing("2", variable.format("docstrings"))) == (
        "local variable … referenced before assignment"
    )
    assert title(a_failing("1", both, case="a"), a_failing("2", both, case="a"), a_failing("3", flights, case="a")) == (
        "not met: update_flights, …"
    )


def test_a_title_of_several_wrong_answers_shows_one_as_an_example():
    answers = [WrongAnswer("7", "8", "number"), WrongAnswer("1", "2", "number")]

    assert title(*(a_failing(str(at), answer=one) for at, one in enumerate(answers))) == (
        'Wrong answer: wrong number, e.g. "1" instead of "2"'
    )


def test_where_nothing_is_said_the_title_says_so():
    assert title(a_failing("1"), a_failing("2")) == "tests failed (no error text)"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (WrongAnswer("7", "8", "number"), 'Wrong answer: "7" instead of "8"'),
        (
            WrongAnswer("50", "0.5", "factor", "100"),
            'Wrong answer: number off by a factor of 100: "50" instead of "0.5"',
        ),
        (WrongAnswer("", "8", "refusal"), "Refusal instead of an answer"),
        (WrongAnswer("", "8", "empty"), "Empty answer"),
    ],
)
def test_a_title_of_a_wrong_answer_names_the_kind_of_difference(answer, told):
    assert title(a_failing("1", answer=answer)) == told


def test_a_title_of_a_common_wrong_answer_is_the_pair():
    answer = WrongAnswer("No", "Yes", "text")

    assert title(a_failing("1", answer=answer), a_failing("2", answer=answer)) == 'Wrong answer: "No" instead of "Yes"'


def test_a_title_names_no_case_that_later_members_need_not_have():
    assert title(a_failing("1")) == "tests failed (no error text)"


def test_a_title_names_the_case_that_a_bucket_is_bound_to():
    """What they say are no words that could be compared, so that only the case tells what it is."""
    failures = (a_failing("1", "a 1", case="s/knots"), a_failing("2", "b 2", case="s/knots"))

    assert title(*failures) == "tests failed in s/knots (no error text)"


def test_two_buckets_that_would_have_the_same_slug_get_two():
    failures = [an_error("1", "socket closed", owner="provider"), an_error("2", "socket closed", owner="harness")]

    assert {bucket.slug for bucket in suggest(failures).buckets} == {"socket-closed", "socket-closed-2"}


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[31mred alert\x1b[0m in the harbour",
        "left \u202e right-to-left harbour",
        "line one of the harbour\nline two\r\nline three",
        "harbour " * 60,
    ],
)
def test_a_title_is_one_clean_short_line(text):
    result = title(an_error("1", text))

    assert result.isprintable()
    assert 0 < len(result) <= LONGEST


def test_a_secret_in_a_message_is_in_no_part_of_a_bucket_that_is_shown():
    secret = "ghp_" + "A1b2C3d4E5" * 4
    text = f"push refused for token {secret} by the harbour"
    read = read_as(an_error("2", "another"), cause=f"The token {secret} was refused.", owner="harness")

    for bucket in suggest([an_error("1", text, parameters={"tool": secret}), read]).buckets:
        shown = (bucket.title, bucket.slug, bucket.description, *bucket.parameters.values())
        assert not any(secret in part or secret.lower() in part for part in shown)


@given(st.text())
def test_any_text_makes_a_clean_title(text):
    for bucket in suggest([an_error("1", text), a_failing("2", text, answer=WrongAnswer(text, text, "text"))]).buckets:
        assert bucket.title == one_line(bucket.title)
        assert 0 < len(bucket.title) <= LONGEST
        assert bucket.slug == slug_of(bucket.slug)
