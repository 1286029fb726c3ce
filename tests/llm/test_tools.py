"""Tools that a model uses: mistakes in its arguments end nothing, and nothing it asks for is endless."""

import math

import pytest

from errata.llm.spec import FULL, MOST_BYTES, Tool, used

READ = Tool("read", "", {}, lambda given: "line " * int(given["lines"]))


@pytest.mark.parametrize(
    "arguments",
    ["{", "", "[1]", '{"lines": null}', '{"lines": {}}', '{"lines": 1e999}', {"lines": math.inf}, {"lines": math.nan},
     None, "\ud800", '{"lines": "x"}', {"lines": 10**400}],
)  # fmt: skip
def test_arguments_that_can_not_be_used_are_told_to_the_model(arguments):
    assert "These arguments can't be used" in READ.use(arguments)


def test_what_is_told_about_them_is_short():
    assert len(READ.use({"lines": "x" * 1_000_000})) < 300


def test_uses_are_answered_in_their_order():
    assert used([("read", {"lines": 1}), ("write", {}), ("read", {"lines": 2})], (READ,)) == [
        "line ",
        "There is no tool `write`",
        "line line ",
    ]


@pytest.mark.parametrize("letter", ["x", "ü", "错", "\U0001f6a2"])
@pytest.mark.parametrize("uses", [1, 2, 300])
def test_together_they_give_no_more_than_caps_reckon_with(letter, uses):
    flood = Tool("flood", "", {}, lambda _: letter * 100_000)
    given = used([("flood", {})] * uses, (flood,))

    assert len(given) == uses
    assert sum(len(one.encode()) for one in given if one != FULL) <= MOST_BYTES
    assert all(set(one) == {letter} for one in given if one != FULL)
