"""What was cut from a text holds no part of its secrets."""

import random

from hypothesis import given
from hypothesis import strategies as st
from soak.secret_strings import CARRIERS, leaks, made_secrets, make

from errata.text.cut_secrets import PIECE, CutSecrets

SECRETS = list(made_secrets())


@given(st.sampled_from(SECRETS), st.sampled_from(["plain", "JSON", "JSON in JSON", "colours", "address"]), st.data())
def test_any_part_of_a_text_is_without_its_secrets(secret, carrier, data):
    text = CARRIERS[carrier](secret.text)
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]

    assert not leaks(secret, CutSecrets([text]).taken_out(part))


def test_a_part_in_other_letters_is_a_part_too():
    secret = make("", "DEPLOY_KEY={32}", random.Random(4))

    shown = CutSecrets([secret.text]).taken_out(f"answers {secret.pieces[0][5:20].lower()}, which")

    assert shown == "answers [redacted:named], which"


def test_fewer_characters_tell_nothing_and_stay():
    secret = make("", "DEPLOY_KEY={32}", random.Random(4))
    part = f"it ends in {secret.pieces[0][-PIECE + 1 :]}"

    assert CutSecrets([secret.text]).taken_out(part) == part


def test_words_that_are_shown_anyway_stay():
    texts = ["DB_PASSWORD=productiondb7", "deployed to production"]

    assert CutSecrets(texts).taken_out("It names production.") == "It names production."
    assert CutSecrets(texts[:1]).taken_out("It names production.") == "It names [redacted:named]."


def test_texts_without_secrets_change_nothing():
    assert CutSecrets(["the ferry left", "at noon"]).taken_out("the ferry left at noon") == "the ferry left at noon"
