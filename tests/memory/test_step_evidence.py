"""The step of a failure that no line names."""

import pytest

from errata.memory.reading.labels import LabelWords
from errata.memory.reading.report import read_report

LABELS = LabelWords(("MODEL_FAULT", "OVERLY_STRICT"))


def steps_in(text):
    report = read_report(text, path="r.md", labels=LABELS)
    return {one.case: one.failed_check for one in report.failures}


@pytest.mark.parametrize(
    ("message", "step"),
    [
        ("convex/a.ts(3,1): error TS2345: Argument of type", "tsc"),
        ("  3:10  error  'Doc' is defined but never used  no-unused-vars", "eslint"),
        ("AssertionError: expected 3 to be 2", "tests"),
        ("Unable to start push to http://127.0.0.1:3210", "deploy"),
        ('error: No version matching "^9.0.0" found for specifier "jose"', "install"),
    ],
)
def test_a_quoted_message_shows_the_step(message, step):
    text = f"### 001-a/002-b: MODEL_FAULT\n\nIt went wrong:\n\n```\n{message}\n```\n"

    assert steps_in(text) == {"001-a/002-b": step}


LISTED = "## Failures\n\n- 001-a/001-x (tests): MODEL_FAULT\n- 001-a/002-y: MODEL_FAULT\n- 001-a/003-z: MODEL_FAULT\n"


@pytest.mark.parametrize("counts", ["Steps: 1 tests, 2 eslint.", "One stopped at tests, two at eslint."])
def test_counts_that_add_up_show_the_steps_that_are_left(counts):
    assert steps_in(f"{counts}\n\n{LISTED}") == {
        "001-a/001-x": "tests",
        "001-a/002-y": "eslint",
        "001-a/003-z": "eslint",
    }


def test_counts_that_do_not_add_up_show_nothing():
    assert steps_in(f"Steps: 1 tests, 7 eslint.\n\n{LISTED}")["001-a/002-y"] == ""


def test_a_step_that_passed_or_is_denied_is_no_evidence():
    text = "### 001-a/002-b: OVERLY_STRICT\n\nAll tests pass. It isn't a deploy failure.\n"

    assert steps_in(text) == {"001-a/002-b": ""}
