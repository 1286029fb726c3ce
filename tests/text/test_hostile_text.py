"""No text of a log may keep the machine busy: every pattern takes time in proportion to the text."""

import pytest
from tests.length import LONG
from tests.time_limit import within

from errata.text.clean import clean, one_line
from errata.text.redact import redact
from errata.text.secret_rules import Shape

SIZE, SECONDS = (200_000, 60) if LONG else (20_000, 15)
"""What takes time by the square of the text takes far longer, in both."""
MEGABYTE = 1 << 20

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

ENCODED = {
    "escapes of JSON": "\\u0061",
    "percent signs": "%61",
    "entities": "&#97;",
    "colours in JSON": "\\u001b[31m",
    "invisible characters": "\u200b",
    "placeholders": "token=$",
    "keys in a row": "AIza-",
    "keys with digits in a row": "sk-1",
    "cut keys": "ghp_1\u2026",
    "commands": "curl -u a:",
    "headers": "authorization: a ",
}


@pytest.mark.parametrize("piece", [*HOSTILE.values(), *ENCODED.values()], ids=[*HOSTILE, *ENCODED])
def test_twice_the_text_takes_twice_the_attempts(piece, monkeypatch):
    """Counted, not timed: places where a shape is tried, and characters that the tried shapes cover."""
    counts = {}
    tried = Shape.at

    def counted(shape, text, mark):
        match = tried(shape, text, mark)
        counts[len(text)] = counts.get(len(text), 0) + 1 + (match.end() - match.start() if match else 0)
        return match

    monkeypatch.setattr(Shape, "at", counted)
    for size in (MEGABYTE // 64, MEGABYTE // 32):
        redact(piece * (size // len(piece)))
    small, large = (counts.get(size // len(piece) * len(piece), 0) for size in (MEGABYTE // 64, MEGABYTE // 32))

    assert large <= 2.2 * small + 100


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_long_hostile_text_is_done_in_reasonable_time(piece):
    with within(SECONDS):
        for head in ("", "password", "\x1b[", "://"):
            text = head + piece * (SIZE // len(piece))
            clean(text), one_line(text, 100), redact(text)
