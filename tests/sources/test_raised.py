"""What was raised, out of the words that harnesses keep of it."""

import pytest

from errata.sources.shared.exceptions import Raised, error_of, raised_as, raised_in

TRACEBACK = 'Traceback (most recent call last):\n  File "/home/u/x.py", line 3, in f\n    g()\nValueError: no\nJSON\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("ConnectionError('503 upstream')", ("ConnectionError", "503 upstream")),
        ("openai.RateLimitError: 429", ("openai.RateLimitError", "429")),
        ("KeyError(7)", ("KeyError", "7")),
        ("TimeoutError()", ("TimeoutError", "")),
        ("it broke", ("", "it broke")),
        ("", ("", "")),
    ],
)
def test_an_exception_in_words(text, told):
    assert raised_as(text)[:2] == told


def test_what_was_raised_stands_behind_the_last_frame_of_a_traceback():
    assert raised_as(TRACEBACK)[:2] == ("ValueError", "no\nJSON")


def test_the_last_line_that_pytest_shows_names_the_exception():
    assert raised_in("E   x\n\nt.py:3: ConnectionError", "ConnectionError: 503") == Raised(
        "ConnectionError", "503", "t.py:3"
    )


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("AssertionError", True),
        ("org.opentest4j.AssertionFailedError", True),
        ("Failed", True),
        ("TimeoutError", False),
        ("ConnectionFailed", False),
        ("", False),
    ],
)
def test_only_what_was_checked_and_refused_is_a_verdict(kind, verdict):
    assert Raised(kind, "").is_verdict is verdict


def test_the_frame_of_an_error_is_the_last_of_a_program_of_ones_own():
    assert error_of(raised_as("ValueError: no"), "subject", traceback=TRACEBACK).frame == "/home/u/x.py:3 in f"
