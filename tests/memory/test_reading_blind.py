"""Reports by authors who did not know the reader are read as they meant them; see fixtures/memory/blind/ORIGIN.md."""

import msgspec
import pytest
from bench.reports_read import measure

from errata.memory.reading.labels import LabelWords
from errata.memory.reading.report import read_report

LABELS = LabelWords(("MODEL_FAULT", "KNOWN_GAP"))


MISSED = {
    # it stands behind "What changed in between:", which also introduces how results changed
    "g": ["cohere/command-b/jn7s3d5f_2026-02-06.md: action not found: The prompt of 006-lookups lists the tables"],
    # "until we install the types" names a third step in a sentence about two cases
    "p": [
        "mirelle/cantata-xl/k174ev8s_2025-11-05.md: failure 004-actions/010-webhook_signature: step 'tsc', not 'tests'"
    ],
    "q": [
        # "I looked for a reason to call the test overly strict and found none."
        "halcyon/finch-large/k97chk1g_2026-03-19.md: failure 002-queries/007-text_search: "
        "label 'OVERLY_STRICT', not 'MODEL_FAULT'",
        # fields of two runs, as items below the heading of one case
        "lumen/quartz-code-1/js7bfv9g_2026-04-02.md: failure 004-actions/003-store_file "
        "js7eudaab3t683bqsg0xp8ij5bj1upo4: label 'MODEL_FAULT', not 'OVERLY_STRICT'",
    ],
}
"""What is still misread, and why."""


@pytest.mark.req("C-04")
@pytest.mark.parametrize(
    "author", ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r"]
)
def test_reports_by_other_authors_are_read_as_they_meant_them(fixtures, author):
    folder = fixtures / "memory/blind" / author

    figures, mistakes = measure(folder, folder / "truth.json")

    assert mistakes == [f"reports/{mistake}" for mistake in MISSED.get(author, [])]
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
