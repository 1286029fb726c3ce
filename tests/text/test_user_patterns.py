"""Patterns of users: an engine whose time is linear, and a sentence for what it can't run."""

import random
import sys
import time

import pytest

from errata.errors import SettingsError
from errata.text.user_patterns import LARGEST, LONGEST, compile_user_pattern

RULE = '[[rule]]\nname = "mine"\nmeans = "m"\nowner = "task"\nstrength = "likely"\nmatch = \'{}\'\n'


def compiled(pattern):
    return compile_user_pattern(pattern, "Rule `mine`")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(.*)*x", r"(\w+\s?)*!", r"(?:a?){25}a{25}b", r"(x+x+)+y"])
def test_a_pattern_that_would_run_for_years_elsewhere_ends_at_once(pattern):
    text = "a" * 30_000 + "!b"
    started = time.monotonic()
    compiled(pattern).search(text)
    assert time.monotonic() - started < 1


def test_time_grows_with_the_text_and_not_faster():
    drawn = random.Random(7)
    pattern = compiled(r"(a|b)*a(a|b){30}c")
    times = []
    for size in (20_000, 80_000):
        text = "".join(drawn.choice("ab") for _ in range(size))
        started = time.monotonic()
        pattern.search(text)
        times.append(time.monotonic() - started)

    assert times[1] < 12 * times[0] + 0.05


def test_case_is_ignored_and_lines_have_ends():
    assert compiled("^no space$").search("first\nNo SPACE\nlast").start() == 6


def test_positions_are_those_of_the_text_whatever_its_script():
    text = "Füße 🙂 \ud800 日本 disk full"

    match = compiled("disk full").search(text)

    assert text[match.start() : match.end()] == match[0] == "disk full"


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing )"),
        (r"(a)\1", "invalid escape sequence"),
        ("(?=x)", "invalid perl operator"),
        ("a" * (LONGEST + 1), "characters"),
        ("(a{0,100}){0,100}", "repetition"),
        (f"a{{900}}{'[ab]{900}' * (LARGEST // 900)}", "too large"),
        ("\ud800", "surrogates"),
    ],
)
def test_what_the_engine_can_not_run_is_refused_with_the_reason(pattern, reason):
    with pytest.raises(SettingsError) as result:
        compiled(pattern)

    assert result.value.message.startswith("Rule `mine` has a pattern")
    assert reason in result.value.message
    assert result.value.hint


def test_without_the_engine_patterns_of_users_are_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "re2", None)
    compile_user_pattern.cache_clear()

    with pytest.raises(SettingsError) as result:
        compiled("x")

    assert "errata[rules]" in result.value.hint
