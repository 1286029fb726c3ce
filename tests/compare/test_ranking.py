"""The order of models, and the ranks that the data leave open."""

from matrices import a_matrix

from errata.compare.pairs import pairings, rank
from errata.compare.scores import Score


def ranked(*words):
    matrix = a_matrix(*words)
    scores = {
        column.label: {"clean": Score(policy="clean", passed=word.count("."), total=len(word))}
        for column, word in zip(matrix.columns, words, strict=True)
    }
    return {one.label: (one.best, one.worst) for one in rank(scores, pairings(matrix, matrix))}


def test_models_that_differ_significantly_have_a_rank_each():
    assert ranked("F" * 30, "." * 30) == {"b": (1, 1), "a": (2, 2)}


def test_what_the_data_cannot_tell_apart_shares_its_ranks():
    assert ranked("." * 29 + "F", "F" * 30, "." * 30) == {"c": (1, 2), "a": (1, 2), "b": (3, 3)}


def test_cases_that_pass_sometimes_count_by_their_share():
    assert ranked("~" * 30, "F" * 15 + "~" * 15) == {"a": (1, 1), "b": (2, 2)}
