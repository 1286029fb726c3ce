"""Every error that errata raises on purpose says what is wrong and what would be right."""

import inspect

import pytest

from errata import errors
from errata.errors import AmbiguousFormatError, ErrataError, SourceError, UnknownFormatError, did_you_mean, nearest

ALL = [kind for kind in vars(errors).values() if inspect.isclass(kind) and kind.__module__ == errors.__name__]


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_an_error_has_a_message_and_a_hint(kind):
    error = kind("No such file: `a`", hint="check the path")

    assert (str(error), error.message, error.hint) == ("No such file: `a`", "No such file: `a`", "check the path")


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_every_error_is_one_that_the_user_can_fix(kind):
    assert issubclass(kind, ErrataError)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_the_tree_drawn_on_top_shows_every_error(kind):
    assert kind.__name__ in errors.__doc__


def test_a_format_that_is_unknown_or_ambiguous_is_a_problem_of_the_source():
    assert {UnknownFormatError.__base__, AmbiguousFormatError.__base__} == {SourceError}


def test_a_hint_may_be_absent():
    assert ErrataError("what is wrong").hint == ""


CASES = ["003-mutations/005-batch_insert", "003-mutations/002-cascade_remove", "004-actions/003-rate_limit_guard"]


@pytest.mark.parametrize("typed", ["005-batch_insert", "batchinsert", "003-mutation/005-batch_inser", "BATCH_INSERT"])
def test_a_name_is_found_by_a_part_of_it_or_in_spite_of_a_slip(typed):
    assert nearest(typed, CASES)[0] == "003-mutations/005-batch_insert"


def test_what_is_like_nothing_has_no_neighbour():
    assert nearest("xyz", CASES) == []


def test_nothing_is_like_an_empty_name():
    assert nearest("", CASES) == []


def test_a_word_in_the_middle_of_several_names_offers_them_shortest_first():
    assert nearest("003", CASES) == [
        "003-mutations/005-batch_insert",
        "003-mutations/002-cascade_remove",
        "004-actions/003-rate_limit_guard",
    ]


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ([], ""),
        (["eslint"], "did you mean `eslint`?"),
        (["eslint", "lint"], "did you mean `lint` or `eslint`?"),
    ],
)
def test_the_question_names_what_may_be_meant(known, told):
    assert did_you_mean("lin", known) == told
