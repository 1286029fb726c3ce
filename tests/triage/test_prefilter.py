"""The prefilter saves time and changes nothing."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.length import every

from errata.triage.rulebook import built_in, needed

RULES = list(built_in().rules.values())


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        (r"\b429\b|too many requests", ("429", "too many requests")),
        (r"rate.?limit(?:ed)?", ("limit",)),
        (r"no space left|\bENOSPC\b", ("no space left", "enospc")),
        (r"colou?r", ("colo",)),
        (r"exit\.code", ("exit.code",)),
        (r"\bE(?:CONNRESET|PIPE)\b", ("connreset", "pipe")),
        (r"^(?:max_tokens|length)$|token limit", ("max_tokens", "length", "token limit")),
        (r"\b502\b(?! tokens)|gone+", ("502", "gone")),
        (r"(?:ab|cd) capacity", (" capacity",)),
    ],
)
def test_each_alternative_gives_its_longest_plain_stretch(pattern, texts):
    assert needed(pattern) == texts


@pytest.mark.parametrize("pattern", [r"[\s\S]", r"\bab\b|later", r"(?:one|a)", r"(?:one|two)?", r"(?!words)"])
def test_a_pattern_that_may_match_without_any_plain_text_is_always_tried(pattern):
    assert needed(pattern) == ()


@pytest.mark.parametrize("rule", every(4, RULES), ids=lambda rule: rule.name)
@given(st.data())
def test_a_text_that_a_rule_matches_holds_what_the_rule_needs(rule, data):
    compiled = re.compile(rule.pattern, re.IGNORECASE | re.MULTILINE)
    text = data.draw(st.from_regex(compiled, alphabet=st.characters(codec="ascii")))

    assert not needed(rule.pattern) or any(one in text.lower() for one in needed(rule.pattern))
