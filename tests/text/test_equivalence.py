"""Sameness of values: what is only written differently is the same, what means something else never is."""

import json
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from errata.text.equivalence import canonical, same, same_set, same_value

SPELLINGS = (
    str,
    lambda number: f"{number:,}",
    lambda number: f"{number}.0",
    lambda number: f"{number:_}",
    lambda number: f" {number}. ",
    lambda number: f"**{number}**",
    lambda number: rf"\boxed{{{number}}}",
    lambda number: f"${number}$",
    lambda number: f"```\n{number}\n```",
    lambda number: f'"{number:,}"',
)
numbers = st.integers(-(10**12), 10**12)
spelling = st.sampled_from(SPELLINGS)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000", "1000"),
        ("1000.0", "1000"),
        ("50%", "50 percent"),
        (r"50\%", "50.0 per cent"),
        ("1e3", "1000"),
        (r"3 \times 10^{4}", "30000"),
        (r"$\frac{1}{2}$", "0.5"),
        (r"-\dfrac{1}{12}", "-1/12"),
        (r"\text{Paris}", "paris"),
        (r"x \in [-3, 8]", r"$x \in [-3,8]$"),
        ("“Hello,  world”", "hello, world."),
        ("well–known", "Well-known"),
        ("**Canberra**", "`canberra`"),
        ("NO", "no"),
        ('```json\n{"a": 1, "b": [2.0]}\n```', '{"b":[2],"a":1}'),
        ("March 5, 2024", "2024-03-05"),
        ("5th of March 2024", "2024/3/5"),
        ("25/12/2024", "2024-12-25"),
        ("$5", "$5.00"),
    ],
)
def test_what_is_only_written_differently_is_the_same(one, other):
    assert same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Co", "CO"),
        ("5 mW", "5 MW"),
        ("007", "7"),
        ("5!", "5"),
        ("50%", "0.5"),
        ("50%", "50"),
        ("1, 234", "1,234"),
        ("3 -4", "3-4"),
        ("picoCTF{Abc}", "picoCTF{abc}"),
        ("getUser", "getuser"),
        ("/data/A", "/data/a"),
        ("03/05/2024", "2024-05-03"),
        ("$5", "€5"),
        ("x²", "x2"),
        ("a b", "ab"),
        ("__init__", "init"),
        ("[1, 2]", "[2, 1]"),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": "1"}', '{"a": 1}'),
        (".", ","),
        ("", ""),
    ],
)
def test_what_may_mean_something_else_is_not_the_same(one, other):
    assert not same(one, other)


@given(numbers, spelling, spelling)
def test_a_number_is_the_same_in_every_spelling(number, one, other):
    assert same(one(number), other(number))


@given(numbers, numbers, spelling, spelling)
def test_two_numbers_are_never_the_same_whatever_their_spelling(number, another, one, other):
    assume(number != another)

    assert not same(one(number), other(another))


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4), st.decimals(allow_nan=False, places=4))
def test_two_decimals_are_the_same_only_where_their_values_are(one, other):
    assume(other.is_finite() and max(len(str(one)), len(str(other))) < 40)

    assert same(f"{one:f}", f"{other:f}") == (Fraction(one) == Fraction(other))


texts = st.text(max_size=60)


@given(texts)
def test_every_text_with_something_in_it_is_the_same_as_itself(text):
    assert same(text, text) == (canonical(text).value != "")


odd = st.text(alphabet="aA1 .*-,", max_size=5)


@given(odd, odd)
def test_words_that_are_the_same_have_the_same_letters_and_digits(one, other):
    def telling(text):
        return [letter.lower() for letter in text if letter.isalnum()]

    assert not same(one, other) or canonical(one).kind != "text" or telling(one) == telling(other)


dates = st.dates().map(lambda day: day.strftime("%d %B %Y")) | st.dates().map(str)
objects = st.permutations(['"a": 1', '"bc": "d"', '"e": null']).map(lambda members: f"{{{', '.join(members)}}}")
values = odd | objects | dates | st.builds(lambda number, spelled: spelled(number), numbers, spelling)


@given(values, values)
def test_a_look_at_the_letters_never_says_another_thing_than_the_whole_comparison(one, other):
    first = canonical(one)

    assert same(one, other) == (first.value != "" and first == canonical(other))


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=5), plain, max_size=4))
def test_json_is_the_same_whatever_the_order_of_its_keys_and_its_spaces(value):
    turned = dict(reversed(value.items()))

    assert same(json.dumps(value, indent=2), json.dumps(turned, ensure_ascii=False))


@pytest.mark.parametrize(("one", "other"), [(5, "5"), (5.0, "5"), (True, "true"), ("10:00", "10:00"), ([1], ["1"])])
def test_arguments_are_the_same_whatever_their_type(one, other):
    assert same_value(one, other)


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, None), ("", None), ([1], 1), ({"a": 1}, {"b": 1}), (5, "6")])
def test_arguments_with_other_values_are_not_the_same(one, other):
    assert not same_value(one, other)


def test_the_order_of_a_set_means_nothing():
    assert same_set("red, green and blue", "Blue, red, green")


def test_a_set_with_another_member_is_another_set():
    assert not same_set("red, green", "red, blue")
