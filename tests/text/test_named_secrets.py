"""Letters alone after the name of a secret are a password, unless they are common words. All values are made up."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from errata.text.named_secrets import common_words, named_secrets
from errata.text.redact import redact, redact_tree
from errata.text.secret_rules import names

NAMES = ["smtp_pass", "DB_PASS", "db_password", "PGPASSWORD", "userPassword", "password", "Pwd", "passphrase"]
OTHER_NAMES = ["client_secret", "WEBHOOK_SECRET", "GIT_CREDENTIALS"]
ENDINGS = ["", ",", " and goes on", "\nuser: me", " # rotate it"]


def letters(alphabet):
    return st.text(alphabet, min_size=8, max_size=15)


values = (
    letters(string.ascii_lowercase)
    | letters(string.ascii_uppercase)
    | letters(string.ascii_letters)
    | letters(string.ascii_lowercase).map(str.title)
)


@given(st.sampled_from(NAMES + OTHER_NAMES), st.sampled_from([": ", " = ", "=", ":"]), values, st.sampled_from(ENDINGS))
def test_letters_alone_are_a_secret_unless_they_are_common_words(name, sign, value, ending):
    assume(len(set(value.lower())) > 1)  # `xxxxxxxx` is a placeholder
    assume(not any(word in value.lower() for word in common_words() if len(word) > 3))

    assert value not in redact(f"{name}{sign}{value}{ending}")


@given(st.sampled_from(NAMES), values)
def test_letters_alone_are_a_secret_in_a_list_of_arguments(name, value):
    assume(len(set(value.lower())) > 1)
    assume(not any(word in value.lower() for word in common_words() if len(word) > 3))

    assert value not in str(redact_tree(["tool", f"--{name}", value, "run"]))


@pytest.mark.parametrize("name", ["smtp_pass", "db_password", "PGPASSWORD"])
@pytest.mark.parametrize("value", ["Sunshine", "SUNSHINE", "sunshine", "blue_skies", "Access", "internet"])
def test_a_word_is_a_secret_where_nothing_but_a_password_has_that_name(name, value):
    assert redact(f"{name}: {value}\nhost: db") == f"{name}: [redacted:named]\nhost: db"


@pytest.mark.parametrize(
    "text",
    [
        "password: required",
        "Password: Incorrect",
        "pass: true",
        "db_pass: string",
        "db_pass: SecretStr",
        "pub user_password: String,",
        "password: Optional[HiddenText] = None",
        "password: ReadableBuffer, *, salt: ReadableBuffer",
        "password=password",
        "smtp_pass: smtp_password,",
        "password: credentials.password",
        "password: decodeURIComponent(url3.password)",
        "DB_PASS: database password of the above user",
        ":param hide_password: Defaults to True.   The password",
        "password: expected bytes, got int",
        "pass: none",
        "token: Bearer",
        "Unexpected token: SEMICOLON at line 1",
        "secret: numeric argument required",
        "access_token: missing or expired",
        "API Token: Follow the instructions",
        "Search for all PASSWORD= patterns",
        "if not user or not password:\n    datadir = os.getenv('DATADIR')",
        "if password:\n    continue",
    ],
)
def test_a_type_a_name_or_prose_after_the_name_of_a_secret_stays(text):
    assert redact(text) == text


@given(st.sampled_from(NAMES), st.sampled_from(sorted(word for word in common_words() if len(word) > 5)))
def test_prose_about_a_password_stays(name, word):
    assert redact(f"{name}: {word} as documented") == f"{name}: {word} as documented"


@given(st.sampled_from(sorted(names().types)))
def test_a_type_stays_under_every_name(kind):
    assert not list(named_secrets(f"db_password: Hidden{kind.title()}\n"))


@pytest.mark.parametrize("block", ["", "|", ">-"])
def test_a_password_on_the_next_line_of_a_document_is_a_secret(block):
    assert redact(f"db_password: {block}\n  qwhdkfjshgkd\nhost: db").endswith("\n  [redacted:named]\nhost: db")


def test_a_word_in_another_alphabet_is_left_where_prose_follows():
    assert redact("password: пароль задан в файле") == "password: пароль задан в файле"
