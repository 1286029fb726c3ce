"""Texts that differ in their digits only are masked once; redaction must not depend on which digits they have."""

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.text import mask as masking
from errata.text.clean import clean
from errata.text.mask import mask, steady
from errata.text.redact import is_never_redacted, redact, with_equal_digits
from errata.text.secret_rules import rules

PIECES = st.sampled_from(
    [
        *("expected 12 rows", "got 404", "0x1f3", "1x7f", "5deadbeef", "12345feet", "sk-12345678901234567890"),
        *("task 7", "host-99", "`item_5`", "2024-01-02 03:04:05", "ya29.", "1//0", ":5432:a:b:c1234", "basic", "%41"),
        *("key-00112233", "é 5", "'a 1'", '"b 22"', "/tmp/x/1", "3.5e-7", "10.0.0.1", "a\nb 3", "A3-", "dp.pt.", "…12"),
        *("token: 1234567", "[31m"),
    ]
)
LETTERS = string.ascii_letters + string.digits + " .:-_"
TEXTS = st.lists(PIECES | st.text(LETTERS, max_size=30), max_size=5).map(" ".join)
OF_VALUE = ["password = 123456789", "db:5432:shop:me:x12345", "a \\u0041 b", "basic dTpw1", "ya29.1"]


def plain_mask(text: str, *, strings: bool) -> str:
    """As it would be without any shortcut."""
    folded = " ".join(redact(clean(steady(text[: masking.LONGEST]))).split())
    return masking._masked(folded, strings)


@given(TEXTS, st.booleans())
def test_a_mask_is_the_same_with_and_without_the_shortcut(text: str, strings: bool) -> None:
    assert mask(text, strings=strings) == plain_mask(text, strings=strings)


@pytest.mark.parametrize("rule", rules()["shape"], ids=lambda rule: rule["kind"])
def test_no_pattern_of_a_secret_names_certain_digits(rule: dict[str, str]) -> None:
    """Marks may; what follows or precedes them accepts all digits or none."""
    for pattern in (rule.get("before", ""), rule["rest"]):
        sets = re.findall(r"\[[^\]]*\]", pattern)
        bare = re.sub(r"\[[^\]]*\]|\{[0-9,]+\}", "", pattern)
        assert not re.search("[0-9]", bare), pattern
        assert all("0-9" in each or not re.search("[0-9]", each) for each in sets), pattern


@pytest.mark.parametrize("text", ["expected 12 rows but got 7", "connection to host-17 reset", "task 12 of `item_3`"])
def test_plain_messages_are_never_redacted(text: str) -> None:
    assert is_never_redacted(with_equal_digits(text))


@pytest.mark.parametrize("text", OF_VALUE)
def test_what_depends_on_its_digits_is_not(text: str) -> None:
    assert not is_never_redacted(with_equal_digits(text))
