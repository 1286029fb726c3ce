"""Texts that tests refuse for a hyphen, their case or white space: logs of published trials, and lines of others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.triage.test_demands import attributed, with_log

from errata.triage import runner_output
from errata.triage.strictness import refusal_in

OPENSSL = "Write to verification.txt: - The certificate's SHA-256 fingerprint. The script imports ssl and subprocess."


def a_log(*lines):
    body = "\n".join(f"E       {line}" for line in lines)
    return f"=== FAILURES ===\n____ test_it ____\n\n>       assert it\n{body}\n\n/tests/test_it.py:3: AssertionError\n"


def refusals(log):
    return [refusal.demanded for test in runner_output.tests_in(log) if (refusal := refusal_in(test)) is not None]


def test_a_text_that_the_task_itself_spells_in_another_way_is_the_graders():
    found = attributed(with_log("c4.openssl-selfsigned-cert"), OPENSSL)

    assert (found.owner, found.confidence, found.decided_by) == ("grader", "likely", "strict_match")
    assert "assert 'sha256' in" in found.signals[0].quote


def test_beside_another_mistake_it_is_a_doubt_and_nothing_is_shown():
    found = attributed(with_log("coder.openssl-selfsigned-cert"), OPENSSL)

    assert (found.owner, found.proof, found.also) == ("model", "presumed", ("grader",))


def test_a_spelling_that_the_task_prescribes_is_no_doubt():
    found = attributed(with_log("c4.openssl-selfsigned-cert"), f"{OPENSSL} Name it sha256.")

    assert (found.owner, found.also) == ("model", ())


@pytest.mark.parametrize(
    "line",
    [
        "assert 'sha256' in 'the SHA-256 of it'",
        "assert 'sha256' in 'a long text...ha-256 fingerprint'",
        "assert 'Content-Type' in 'content type: text'",
        "AssertionError: assert 'hello world' == 'Hello  World'",
        "AssertionError: 'read me' not found in 'see READ-ME first'",
        "AssertionError: 'Total' != 'total'",
        r"assert 'two words' in 'first\ntwo\nwords\nlast'",
    ],
)
def test_these_differ_in_spelling_only(line):
    assert len(refusals(a_log(line))) == 1


@pytest.mark.parametrize(
    "line",
    [
        "assert 'Test' in '<app.models.Note object at 0x77a1d5b7bc10>'",
        "AssertionError: assert 'filename' == 'track-tags'",
        "AssertionError: assert '123.00 kB' == '123.0 kB'",
        "AssertionError: assert '-1' == '41'",
        "AssertionError: assert 'healthy' == 'wrong'",
        "AssertionError: assert '1219' == '3219'",
        "assert '# An unique ... $USER' == '# An unique ... $USER'",
        "AssertionError: 'path/' != '/path/'",
        "AssertionError: 'path/' != '/somesubpath/path/'",
        "assert 'Error' in '0 errors found'",
        "assert 'my_file' in 'my-file'",
        "assert 'offline' == 'online'",
        "assert 'secret_file.txt' == 'honeybear'",
        "assert 'import subprocess' in 'import ssl, os'",
        "assert 'TEST PASSED' in 'Hit:1 http://archive.example/ubuntu noble InRelease'",
        "assert 'Hello, this is a custom kernel' in 'spawn qemu-system-x86_64 -kernel'",
        "assert '#!/bin/nonexistent' == '#!/bin/bash'",
        "assert 'Sydney' == 'Canberra'",
        "assert 'sha256' in 'sha256 of it'",
        "assert 'it' in 'I-T'",
        "assert 3 == 4",
    ],
)
def test_these_differ_in_more(line):
    assert refusals(a_log(line)) == []


@given(st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=4, max_size=20), st.integers(1, 3))
def test_any_word_with_a_hyphen_or_in_capitals_is_the_same_word(word, at):
    spelled = f"{word[:at]}-{word[at:]}".swapcase()

    assert refusals(a_log(f"assert '{word}' in 'so {spelled} it is'")) == [word]
    assert refusals(a_log(f"assert '{word}' in 'so x{spelled} it is'")) == []


def test_a_log_without_headings_has_no_failed_tests():
    assert runner_output.tests_in("first\nE       assert 1 == 2\nE1117 some daemon's line\n") == ()
