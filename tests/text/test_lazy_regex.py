"""Patterns that are compiled when they are first used."""

import re

import pytest

from errata.text.lazy_regex import lazy_regex


def test_it_finds_what_a_compiled_pattern_finds():
    pattern = lazy_regex(r"(?P<word>[a-z]+)-(\d+)", re.IGNORECASE)

    assert pattern.search("see AB-12")["word"] == "AB"
    assert pattern.fullmatch("x-1").groups() == ("x", "1")
    assert pattern.sub("-", "a-1 b-2") == "- -"
    assert [match[2] for match in pattern.finditer("a-1 b-2")] == ["1", "2"]
    assert pattern.flags & re.IGNORECASE
    assert pattern.groups == 2
    assert pattern.pattern == r"(?P<word>[a-z]+)-(\d+)"


def test_it_is_compiled_when_it_is_used_and_only_then(monkeypatch):
    compiled = []
    monkeypatch.setattr(re, "compile", lambda *given: compiled.append(given) or re._compile(*given))
    pattern = lazy_regex(b"a+")
    assert compiled == []

    assert pattern.match(b"aa")
    assert pattern.match(b"aa")

    assert compiled == [(b"a+", 0)]


def test_a_pattern_that_is_wrong_fails_where_it_is_used():
    pattern = lazy_regex("(")

    with pytest.raises(re.error, match="unterminated subpattern"):
        pattern.search("x")
