"""No text of a log may keep the machine busy: every pattern takes time in proportion to the text."""

import pytest
from tests.time_limit import within

from errata.text.clean import clean, one_line
from errata.text.redact import redact

SIZE = 200_000
SECONDS = 60

HOSTILE = {
    "letters": "a",
    "words with hyphens": "a-",
    "dotted numbers": "1.",
    "underscores": "_",
    "names of secrets": "token_",
    "names of secrets with hyphens": "token-",
    "assignments": "password=",
    "spaces after a name": "token ",
    "quotes": "\"'",
    "starts of tokens": "eyJaaaaaaaa-",
    "starts of two-part tokens": "eyJaaaaaaaa.eyJaaaaaaaa-",
    "starts of keys": "sk-",
    "addresses": "://a:",
    "long addresses": "://a:b:",
    "key headers": "-----BEGIN A",
    "key headers of keys": "-----BEGIN PRIVATE KEY-----",
    "deployments": "dev:a-",
    "escapes": "\x1b[",
    "escapes with numbers": "\x1b[0;",
    "operating system commands": "\x1b]",
    "line ends": "\r",
    "spaces": " ",
    "slashes": "\\",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_long_hostile_text_is_done_in_reasonable_time(piece):
    with within(SECONDS):
        for head in ("", "password", "\x1b[", "://"):
            text = head + piece * (SIZE // len(piece))
            clean(text), one_line(text, 100), redact(text)
