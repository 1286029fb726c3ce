"""No invisible character carries a secret or a person out: every one that Unicode has, in every kind of text."""

import random
import unicodedata

import pytest
from soak.secret_strings import leaks, make

from errata.text.encoded import undo_invisible, visible
from errata.text.outgoing import for_others, for_user, tree_for_others, tree_for_user

FORMAT = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) == "Cf"]
DRAWN_AS_NOTHING = ["\u034f", "\u115f", "\u1160", "\u17b4", "\u17b5", "\u180b", "\u3164", "\ufe0f", "\uffa0", "\ufff0"]
"""Of other categories: fillers, joiners and variation selectors."""
SECRETS = [make("", pattern, random.Random(3)) for pattern in ("ghp_{36}", "DEPLOY_KEY={32}", "sk-ant-api03-{93}AA")]
VALUE = "aB3dE5fG7hJ9kL1m"


def hidden(text, letter):
    return letter.join(text[at : at + 4] for at in range(0, len(text), 4))


@pytest.mark.parametrize("letter", [*FORMAT, *DRAWN_AS_NOTHING], ids=lambda letter: f"U+{ord(letter):04X}")
def test_no_invisible_character_hides_a_secret(letter):
    for secret in SECRETS:
        text = f"so {hidden(secret.text, letter)} it is"
        shown = [for_user(text), for_others(text)]
        for tree in (tree_for_user({"note": [text]}), tree_for_others({"note": [text]})):
            shown += tree["note"]

        assert not any(leaks(secret, one.replace(letter, "")) for one in shown)
        assert all(one.startswith("so ") and one.endswith(" it is") for one in shown)


@pytest.mark.parametrize("letter", ["\xad", "\u200b", "\u2060", "\U0001d173"], ids=ascii)
@pytest.mark.parametrize(
    "tree",
    [{"DEPLOY~_KEY": VALUE}, {"name": "DEPLOY~_KEY", "value": VALUE}, ["tool", "--to~ken", VALUE]],
    ids=["field", "name and value", "arguments"],
)
def test_a_name_with_an_invisible_character_still_marks_its_value(letter, tree):
    with_letter = (
        {key.replace("~", letter): value.replace("~", letter) for key, value in tree.items()}
        if isinstance(tree, dict)
        else [one.replace("~", letter) for one in tree]
    )

    assert VALUE not in str(tree_for_user(with_letter))
    assert VALUE not in str(tree_for_others(with_letter))


@pytest.mark.parametrize("letter", ["\xad", "\u200b", "\u2060"], ids=ascii)
@pytest.mark.parametrize(
    "text", ["mail anna.lind@post.dk now", "in /home/annalind/code", "in -Users-annalind-code now"]
)
def test_no_invisible_character_hides_a_person(letter, text):
    shown = for_others(hidden(text, letter))

    assert "annalind" not in visible(shown)
    assert "anna.lind" not in visible(shown)
    assert "[redacted:" in shown


def test_a_text_with_invisible_characters_and_no_secret_stays_as_it_is():
    text = "Weih\xadnachts\xadmann and a family: \U0001f468\u200d\U0001f469\u200d\U0001f467"

    assert for_others(text) == for_user(text) == text


@pytest.mark.parametrize(("text", "part"), [("a\xad\xadbc\xadd", "bc"), ("\xadbc", "bc"), ("abc\xad", "bc")])
def test_a_place_among_visible_characters_leads_back(text, part):
    undone = undo_invisible(text)
    at = undone.text.index(part)
    start, end = undone.span(at, at + len(part))

    assert visible(text[start:end]) == part
