"""Whatever lies in a folder of reports: reading it ends, and ends well."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.length import LONG

from errata.memory.reading.report import MOST, read_report
from errata.memory.words import LabelWords

LABELS = LabelWords(("MODEL_FAULT", "KNOWN_GAP", "model"))
MARKS = (
    "# ",
    "- ",
    "1. ",
    "> ",
    "**",
    "`",
    "```\n",
    "~~",
    "---\n",
    "| a | b |\n|-|-|\n",
    "| Eval | Label |\n|-|-|\n",
    "| | |\n",
)
WORDS = (
    "a/001-b",
    "KNOWN_GAP",
    "model fault",
    "not ",
    "2026-02-30",
    "Eval: ",
    "Classification: ",
    "run: ",
    "turn 11–99999",
)
OTHERS = ("\n", "\n\n", "  ", "\t", "[x](y)", "\x1b[31m", "\u202e", "\0", "\ud800", "(", ")", "&amp;", "<br>", "-->")
BLOCKS = ("## Actions taken\n", "## Recommendations\n", "<details><summary>", "</summary>", "<!-- errata:memory {")
PARTS = st.sampled_from([*MARKS, *WORDS, *OTHERS, *BLOCKS])


def read(text):
    return read_report(text, path="reports/a.md", labels=LABELS)


@given(st.text(max_size=400))
def test_any_text_is_read(text):
    read(text)


@given(st.lists(PARTS, max_size=40).map("".join))
@example("| Eval | Label |\n|-|-|\n\x1b[31m| a | b |\n|-|-|\n")
def test_any_markdown_is_read(text):
    report = read(text)

    assert all(one.case and one.ref.line >= 1 for one in report.failures)


@given(st.lists(PARTS, max_size=40).map("".join))
def test_no_control_character_of_a_report_gets_into_what_is_read(text):
    report = read(text)
    result = [part for one in report.failures for part in (one.case, one.label, one.failed_check, one.reasoning)]
    result += [part for one in report.actions for part in (one.what, one.path, *one.addresses)]

    assert not any(letter in part for part in result for letter in "\x1b\0\u202e\n")


MANY = 1_000 if LONG else 200


@pytest.mark.parametrize(
    "text",
    [
        "> " * 50 * MANY + "a",
        "- " * 20 * MANY + "a",
        "[" * 100 * MANY,
        "*a " * 30 * MANY,
        "`" * 100 * MANY,
        "<summary>" * 10 * MANY,
        "model fault " * 10 * MANY,
        "turns " + "1 and " * 20 * MANY,
        "(" * 100 * MANY,
        "Eval: a-1/x\n" * 5 * MANY,
        "|" + "a|" * 5 * MANY + "\n|" + "-|" * 5 * MANY + "\n" + "|b\n" * 50,
        "# " + "1. " * 30 * MANY,
    ],
    ids=range(12),
)
def test_repetition_without_end_is_read_to_the_end(text):
    read(text)


def test_of_very_many_failures_a_part_is_kept():
    rows = "".join(f"| a/{number:05d}-x | MODEL_FAULT |\n" for number in range(MOST + 500))

    assert len(read(f"| Eval | Label |\n|---|---|\n{rows}").failures) == MOST
