"""Search by text: it compares as the grouping does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.buckets.grouping import TextSearch
from errata.buckets.similarity import words_of
from errata.model import Bucket

RESET = "upstream connect error or disconnect/reset before headers"
SCHEMA = "the index <str> uses a reserved name"


def a_bucket(slug, *texts, owner="provider"):
    return Bucket(id=slug, slug=slug, title=slug, words=texts, parameters={"owner": owner})


def search_for(text, *others):
    return TextSearch(words_of(text), [text, *others])


def test_other_numbers_and_names_do_not_matter():
    search = search_for("connection to 10.0.0.1 reset by upstream after 30s", SCHEMA)

    assert search.is_similar("upstream reset the connection to 10.0.0.7")
    assert not search.is_similar(SCHEMA)


def test_one_shared_word_is_chance():
    search = search_for("empty provider response", RESET, SCHEMA)

    assert not search.is_similar("The provider returned a server error")
    assert search.is_similar("the response of the provider was empty")


def test_a_search_for_one_word_needs_only_that_word():
    assert search_for("ECONNRESET", RESET).is_similar("error: ECONNRESET downloading manifest")


def test_the_case_is_no_word_of_the_search():
    search = TextSearch((*words_of(RESET), "@suite/case"), [RESET])

    assert search.is_similar(RESET)


@pytest.mark.parametrize(("owner", "slugs"), [("provider", ["reset"]), ("", ["reset", "own-server"])])
def test_failures_of_another_owner_are_not_the_same(owner, slugs):
    buckets = [a_bucket("reset", RESET), a_bucket("own-server", RESET, owner="model"), a_bucket("schema", SCHEMA)]

    assert [one.slug for one in search_for(RESET, SCHEMA).similar_buckets(buckets, owner)] == slugs


@given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=5))
def test_every_text_with_words_is_like_itself_and_none_is_like_no_words(text, others):
    search = search_for(text, *others)

    assert search.is_similar(text) is bool(words_of(text))
    assert not search.is_similar("123 456")
    assert not TextSearch((), others).is_similar(text)
