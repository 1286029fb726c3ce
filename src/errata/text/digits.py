"""Texts that differ in their digits only: whether redaction leaves them all as they are, so that one is enough."""

from functools import lru_cache

from errata.text.named_secrets import lower
from errata.text.redact import redact
from errata.text.secret_rules import names, rules

_ONES = str.maketrans("023456789", "111111111")
_ENCODES = frozenset("\\%&[")
"""Encoded characters: their digits have a meaning."""


def with_equal_digits(text: str) -> str:
    """The text with every digit made a 1; its length and all positions stay the same."""
    return text.translate(_ONES)


def is_never_redacted(equal: str) -> bool:
    """Whether redaction leaves a text with equal digits as it is, and so every text that has others in their places.

    The pattern of a secret accepts any digit wherever it accepts one. Only marks, with which a secret begins, name
    certain digits; and names, logins and encoded texts are judged by what their value is.
    """
    if not (equal.isascii() and equal.isprintable()) or not _ENCODES.isdisjoint(equal):
        return False
    lowered = lower(equal)
    return not any(word in lowered for word in _judged_by_value()) and redact(equal) == equal


@lru_cache(1)
def _judged_by_value() -> tuple[str, ...]:
    """In lower case: names of secrets, what announces a login, and marks with digits, which are equal here."""
    login = [mark for rule in rules()["shape"] if rule.get("login") for mark in rule["marks"]]
    every = (with_equal_digits(mark) for rule in rules()["shape"] for mark in rule["marks"])
    stems = (stem for stems in names().stems.values() for stem in stems)
    return (*stems, *(mark.lower() for mark in (*login, *(mark for mark in every if "1" in mark))))
