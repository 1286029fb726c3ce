"""What somebody may have meant who typed a name that is not there."""

import pytest

from errata.text.nearest import did_you_mean, nearest

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
