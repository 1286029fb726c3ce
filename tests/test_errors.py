"""Every error that errata raises on purpose says what is wrong and what would be right."""

import inspect

import pytest

from errata import errors
from errata.errors import AmbiguousFormatError, ErrataError, SourceError, UnknownFormatError

ALL = [one for one in vars(errors).values() if inspect.isclass(one)]


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
