"""Reports by authors who did not know the reader are read as they meant them; see fixtures/memory/blind/ORIGIN.md."""

import msgspec
import pytest
from bench.reports_read import measure

from errata.memory.reading.labels import LabelWords
from errata.memory.reading.report import read_report

LABELS = LabelWords(("MODEL_FAULT", "KNOWN_GAP"))


MISSED = "reports/cohere/command-b/jn7s3d5f_2026-02-06.md: action not found: The prompt of 006-lookups lists the tables"
"""It stands behind "What changed in between:", which also introduces how results changed."""


@pytest.mark.req("C-04")
@pytest.mark.parametrize("author", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o"])
def test_reports_by_other_authors_are_read_as_they_meant_them(fixtures, author):
    folder = fixtures / "memory/blind" / author

    figures, mistakes = measure(folder, folder / "truth.json")

    assert mistakes == ([MISSED] if author == "g" else [])
    assert all(figure["of"] for figure in msgspec.to_builtins(figures).values())


def test_short_names_of_runs_are_understood_in_columns_and_cells():
    text = (
        "A is jn7aaa11 and B is jn7bbb22.\n\n| eval | A | B | verdict |\n|-|-|-|-|\n"
        "| 001-a/001-x | x | x | A: model fault, B: known gap |\n| 001-a/002-y | . | x | model fault |\n"
    )
    header = "Run: jn7aaa11 (50/60), jn7bbb22 (51/60)\n\n"

    report = read_report(header + text, path="r.md", labels=LABELS)

    assert [(one.case, one.run, one.label) for one in report.failures] == [
        ("001-a/001-x", "jn7aaa11", "MODEL_FAULT"),
        ("001-a/001-x", "jn7bbb22", "KNOWN_GAP"),
        ("001-a/002-y", "jn7bbb22", "MODEL_FAULT"),
    ]


def test_a_category_called_actions_is_no_list_of_actions():
    report = read_report("ACTIONS\n\n- node_fetch: deploy. Model fault.\n", path="r.md", labels=LABELS)

    assert [(one.case, one.failed_check) for one in report.failures] == [("node_fetch", "deploy")]
    assert report.actions == ()
