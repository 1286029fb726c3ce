"""The sieve keeps what could match, and nothing that could not."""

from hypothesis import given
from hypothesis import strategies as st

from errata.triage.prefilter import LONG, Sieve

WORDS = st.text(alphabet="abc", min_size=3, max_size=6)
RULES = st.lists(st.lists(WORDS, max_size=4).map(tuple), max_size=8)


@given(RULES, st.text(alphabet="abc", max_size=40))
def test_a_rule_stays_where_the_text_holds_one_of_its_stretches(rules, text):
    kept = Sieve(enumerate(rules)).that_may_match(text)

    assert kept == [at for at, stretches in enumerate(rules) if not stretches or any(one in text for one in stretches)]


def test_a_long_text_is_sifted_alike():
    sieve = Sieve([("first", ("needle",)), ("second", ("thread",)), ("always", ())])

    assert sieve.that_may_match("hay " * LONG + "needle") == ["first", "always"]


def test_a_text_shorter_than_any_stretch_leaves_only_what_is_always_tried():
    assert Sieve([("first", ("needle",)), ("always", ())]).that_may_match("ne") == ["always"]
