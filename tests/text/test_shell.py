"""Words of a command that is shown: quoted for a shell, and redacted before the quotes hide a secret."""

import random
import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st
from soak.secret_strings import leaks, make

from errata.text.shell import command_line, shell_word

SECRETS = [
    make("", pattern, random.Random(2)) for pattern in ("cmd --client-secret '{20}'", 'API_KEY="{24}"', "ghp_{36}")
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret.text[:10])
def test_quotes_hide_no_secret(secret):
    assert not leaks(secret, command_line(["errata", "rerun", "latest", "--case", f"case {secret.text}"]))


@given(st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1, max_size=12))
def test_a_shell_gets_the_word_back(name):
    word = shell_word(name)

    assert word.startswith("~/") or shlex.split(word) == [name]
