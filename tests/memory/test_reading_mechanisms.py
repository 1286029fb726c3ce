"""One short report for each way in which structure or wording decides what is read."""

import pytest

from errata.memory.reading.labels import LabelWords
from errata.memory.reading.report import read_report

LABELS = LabelWords(("MODEL_FAULT", "OVERLY_STRICT", "AMBIGUOUS_TASK", "KNOWN_GAP"))
TWO_RUNS = "| | claude-opus-4 | gpt-9 |\n|-|-|-|\n| run | jn7aa11b | jn7bb22c |\n| passed | 60/66 | 57/66 |\n\n"


def read(text):
    return read_report(text, path="r.md", labels=LABELS)


def failures(text):
    return [(one.case, one.run, one.label) for one in read(text).failures]


def actions(text):
    return [(one.what, one.addresses, one.date) for one in read(text).actions]


def test_a_column_is_named_by_a_word_that_only_one_model_has():
    table = "| eval | step | Opus | GPT |\n|-|-|-|-|\n| 001-a/001-x | tests | MODEL_FAULT | KNOWN_GAP |\n"

    assert failures(f"# Opus against GPT\n\n{TWO_RUNS}## Both failed\n\n{table}") == [
        ("001-a/001-x", "jn7aa11b", "MODEL_FAULT"),
        ("001-a/001-x", "jn7bb22c", "KNOWN_GAP"),
    ]


def test_a_sentence_lists_the_runs_in_which_a_case_failed():
    text = (
        f"# Two runs\n\n{TWO_RUNS}## 001-a/001-x\n\nFailed in both runs, at tests.\n\n**Classification: KNOWN_GAP.**\n"
    )

    assert failures(text) == [("001-a/001-x", "jn7aa11b", "KNOWN_GAP"), ("001-a/001-x", "jn7bb22c", "KNOWN_GAP")]


def test_a_second_mail_corrects_a_label():
    text = "On reflection 010-x is not a model fault: OVERLY_STRICT.\n\n> 010-x, tests: MODEL_FAULT. One too late.\n"

    assert failures(text) == [("010-x", "", "OVERLY_STRICT")]


def test_a_label_in_doubt_is_none():
    assert failures("- `010-x` (tests): MODEL_FAULT? not sure\n") == [("010-x", "", "")]


def test_of_several_labels_the_decision_holds():
    text = "**010-x**: Kim thought MODEL_FAULT, Sam KNOWN_GAP. Decision: OVERLY_STRICT.\n"

    assert failures(text) == [("010-x", "", "OVERLY_STRICT")]


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        ("The model got it wrong (2)", "MODEL_FAULT"),
        ("Our test is too strict", "OVERLY_STRICT"),
        ("Tasks that can be read in two ways", "AMBIGUOUS_TASK"),
        ("Known limitations", "KNOWN_GAP"),
    ],
)
def test_a_heading_gives_its_label_in_words(heading, label):
    assert failures(f"# Report\n\n## {heading}\n\n- 010-x: tests\n") == [("010-x", "", label)]


def test_not_classified_is_no_label():
    table = "| eval | step | verdict |\n|-|-|-|\n| 010-x | install | not classified |\n"

    assert failures(table) == [("010-x", "", "")]


def test_the_title_of_a_report_is_no_section():
    text = "# What to do about its failures\n\n## Context\n\n- 010-x: tests, MODEL_FAULT\n"

    assert failures(text) == [("010-x", "", "MODEL_FAULT")]


def test_the_key_of_a_ticket_is_no_case():
    table = "| Key | Summary | Resolution |\n|-|-|-|\n| EVAL-319 | presence fails in tests | Known gap |\n"

    assert failures(table) == [("presence", "", "KNOWN_GAP")]


def test_code_is_no_case():
    text = "**node_fetch** (tsc)\n\n`response.json()` gives unknown. Model fault.\n"

    assert failures(text) == [("node_fetch", "", "MODEL_FAULT")]


def test_every_case_below_the_heading_of_a_step_failed_there():
    text = "# Failures\n\n## tests\n\n`009-a` filters too late. In `014-b` the lookup is missing.\n"

    assert [(one.case, one.failed_check) for one in read(text).failures] == [("009-a", "tests"), ("014-b", "tests")]


def test_each_of_two_cases_has_its_own_step():
    text = "001-a/013-x and 001-a/001-y are MODEL_FAULT: the first fails its tests, the second trips eslint.\n"

    assert [(one.case, one.failed_check) for one in read(text).failures] == [
        ("001-a/013-x", "tests"),
        ("001-a/001-y", "eslint"),
    ]


def test_a_sentence_in_front_of_a_list_says_what_it_holds():
    text = (
        "## 2026-02-04\n\nGot the go. Done today:\n\n- sorted both sides in grader.test.ts of 007-x\n\n"
        "Ideas, for whoever reads this:\n\n- evals: say which window in 004-y\n"
    )

    assert actions(text) == [("sorted both sides in grader.test.ts of 007-x", ("007-x",), "2026-02-04")]
    assert failures(text) == []


def test_a_message_has_the_day_of_its_head():
    text = "**ines, 12/May/26 16:44**\nFixed: removed `no-shadow` from the lint preset (010-x).\n"

    assert actions(text) == [("removed no-shadow from the lint preset (010-x)", ("010-x",), "2026-05-12")]


def test_a_log_of_changes_is_known_by_what_its_cells_hold():
    table = "| cuándo | dónde | qué |\n|-|-|-|\n| 2026-03-19 | eslint.config.mjs | allow unused `ctx` (010-x) |\n"

    assert [(one.path, one.addresses, one.date) for one in read(table).actions] == [
        ("eslint.config.mjs", ("010-x",), "2026-03-19")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "Five failures come from lint rules that we tightened on 1 December.",
        "I double-checked the four where the tests failed against the same grader.",
        "We switched on the recommended lint rules in January.",
        "| what | status |\n|-|-|\n| Switch off the rule | deferred, Jordan wants to keep it |",
        "## Actions taken\n\n6.3. Recommendation 4.3 was discussed and not adopted.",
        "## Durchgeführte Maßnahmen\n\nKeine.",
    ],
)
def test_what_nobody_did_in_answer_to_the_run_is_no_action(text):
    assert actions(f"# Report 2026-12-09\n\n{text}\n") == []
