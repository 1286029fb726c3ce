"""The words that tell one failure from another."""

from hypothesis import given
from hypothesis import strategies as st

from errata.buckets.similarity import Mean, Space, Weights, masked, with_equal_digits, words_of


def test_numbers_paths_and_ids_are_no_words():
    assert words_of("worker 17 died at 2026-03-01T10:00:00Z in /srv/app/run.py (req_011CUx9922aa33)") == (
        "died",
        "worker",
    )


def test_what_stands_in_quotes_is_kept_and_masked_inside():
    assert words_of("No such directory: '/app/out/x.csv'") == words_of('No such directory: "/app/in/y.csv"')
    assert "uv" in words_of("missing: 'uv'")


def test_a_status_tells_more_than_other_numbers():
    assert "http429" in words_of("Error code: 429 - slow down")
    assert words_of("Error code: 429 - slow") != words_of("Error code: 500 - slow")


def test_names_that_need_no_telling_are_left_out():
    assert words_of("eslint failed", without=["eslint"]) == ()


def test_an_assertion_without_a_subject_has_no_words():
    assert words_of("AssertionError: expected 3 to deeply equal 4") == ()
    assert words_of("AssertionError: expected 401 to be 200 // Object.is equality") == ()
    assert words_of("AssertionError: expected the queue to be empty // Object.is equality") == ("empty", "queue")


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1), st.lists(st.sampled_from("abcdefgh"), unique=True)
)
def test_likeness_lies_between_nothing_and_all(one, other):
    weights, mean = Weights([one, other]), Mean()
    mean.add(weights.vector(one))

    assert 0.999 < mean.likeness(weights.vector(one)) < 1.001
    assert -0.001 < mean.likeness(weights.vector(other)) < 1.001
    assert (mean.likeness(weights.vector(other)) > 0) == bool(set(one) & set(other))


def test_a_chain_of_neighbours_is_no_group():
    weights, mean = Weights(["ab", "bc", "cd"]), Mean()
    for words in ("ab", "ab", "ab", "bc"):
        mean.add(weights.vector(words))

    assert mean.likeness(weights.vector("cd")) < 0.2


def test_only_groups_of_the_same_block_are_near():
    weights, space = Weights([["pier"]]), Space()
    space.add(("suite", "model"), 0, weights.vector(["pier"]))

    assert list(space.near(("suite", "model"), weights.vector(["pier"]))) == [(0, 1.0)]
    assert list(space.near(("suite", "grader"), weights.vector(["pier"]))) == []


TOKENS = st.sampled_from(
    ["HTTP 503", "status: 404", "error (429)", "got 12", "host-7", "'a 1'", "0x1f", "12345feet", "token: 1234567", "v2"]
)


@given(st.lists(TOKENS | st.text("abAB019 .:'\"_-", max_size=20), max_size=40).map(" ".join))
def test_equal_digits_change_neither_words_nor_mask(text):
    same = with_equal_digits(text)

    assert words_of(same) == words_of(text)
    assert masked(same) == masked(text)


def test_messages_that_differ_in_a_number_are_one_text():
    assert with_equal_digits("expected 12 rows") == with_equal_digits("expected 77 rows")
    assert with_equal_digits("HTTP 503") != with_equal_digits("HTTP 429")
