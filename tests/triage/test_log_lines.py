"""What the logs of an attempt say went wrong."""

from errata.model import Artefact
from errata.testing import an_attempt
from errata.triage.reasons import MOST, error_lines

LOG = """\
=== Eval: greeting ===
[cmd] bunx eslint -c eslint.config.mjs .
[eslint]   9:23  error  'ctx' is defined but never used  @typescript-eslint/no-unused-vars
[vitest] AssertionError: expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]
E   FileNotFoundError: [Errno 2] No such file
[error] tests: tests failed (67%)
"""


def lines(text, role="log"):
    return list(error_lines(an_attempt(artefacts=(Artefact(role=role, path="run.log", text=text),))))


def test_exceptions_and_findings_are_found_with_their_lines():
    assert [(line.where, line.text) for line in lines(LOG)] == [
        ("run.log:3", "9:23 error 'ctx' is defined but never used @typescript-eslint/no-unused-vars"),
        ("run.log:4", "AssertionError: expected [ 10, 15 ] to deeply equal [ 10, 15, 20 ]"),
        ("run.log:5", "FileNotFoundError: [Errno 2] No such file"),
    ]


def test_a_finding_is_shared_by_its_rule():
    assert lines(LOG)[0].shared == "@typescript-eslint/no-unused-vars"


def test_a_message_is_shared_without_its_numbers():
    one, other = lines("AssertionError: expected 1 to be 2"), lines("AssertionError: expected 3 to be 4")

    assert one[0].shared == other[0].shared


def test_the_words_of_the_model_are_no_log():
    assert lines(LOG, role="output") == []


def test_a_log_full_of_errors_is_read_to_a_point():
    assert len(lines("ValueError: no\n" * 1_000)) == MOST
