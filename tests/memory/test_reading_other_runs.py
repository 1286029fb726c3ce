"""Reports with several runs: which heading names which, the run before, and runs after a change."""

import pytest

from errata.memory.reading.labels import LabelWords
from errata.memory.reading.report import read_report

LABELS = LabelWords(("MODEL_FAULT", "OVERLY_STRICT", "AMBIGUOUS_TASK", "KNOWN_GAP"))
TWO_RUNS = (
    "| | Run A | Run B |\n|-|-|-|\n| Run ID | jn7aa11b | jn7bb22c |\n| Experiment | default | web_search |\n"
    "| Run date | 2026-01-02 | 2026-01-09 |\n| Pass rate | 60/66 | 57/66 |\n\n"
)
HEAD = "# Report\n\n- Run: jn7aa11b\n- Model: acme/nimbus\n- Pass rate: 60/66\n\n"
FAILURE = "## Failures\n\n- `001-a/001-x` (tests): MODEL_FAULT\n\n"
COMPARISON = "| | Previous | This run |\n|-|-|-|\n| Passed | 55/66 | 60/66 |\n"
ACTIONS = "## Actions taken\n\n- 2026-01-03, `eslint.config.mjs`: switched off the rule.\n\n"


def read(text):
    return read_report(text, path="r.md", labels=LABELS)


def failures(text):
    return [(one.case, one.run, one.label) for one in read(text).failures]


def rates(text):
    return {one.id: (one.passed, one.total) for one in read(text).runs}


@pytest.mark.parametrize(
    ("heading", "run"),
    [
        ("Failures of run B", "jn7bb22c"),
        ("Failures (web_search)", "jn7bb22c"),
        ("Failures with web_search", "jn7bb22c"),
        ("Failures of the default run", "jn7aa11b"),
        ("Failures of the new run", "jn7bb22c"),
        ("Failures of the previous run", "jn7aa11b"),
        ("Failures of run A and B", ""),
        ("Failures of run A and run B", ""),
        ("Failures in the default runtime", ""),
        ("Failures compared with the previous run", ""),
    ],
)
def test_a_heading_names_a_run_by_its_short_name_experiment_or_age(heading, run):
    assert failures(f"# Two runs\n\n{TWO_RUNS}## {heading}\n\n- `001-a/001-x` (tests): MODEL_FAULT\n") == [
        ("001-a/001-x", run, "MODEL_FAULT")
    ]


def test_the_run_before_counts_where_a_table_sets_both_side_by_side():
    text = f"{HEAD}## Compared with before\n\nThe previous run is jn7bb22c.\n\n{COMPARISON}\n{FAILURE}"

    assert rates(text) == {"jn7aa11b": (60, 66), "jn7bb22c": (55, 66)}
    assert {one.model for one in read(text).runs} == {"acme/nimbus"}
    assert failures(text) == [("001-a/001-x", "jn7aa11b", "MODEL_FAULT")]


@pytest.mark.parametrize(
    "text",
    [
        "The previous run jn7bb22c had 55/66.\n\n",
        f"The previous run had 55/66.\n\n{COMPARISON}\n",
        f"The previous run is jn7bb22c, and jn7cc33d is an earlier run, too, before run jn7dd44e.\n\n{COMPARISON}\n",
        "The previous run is jn7bb22c.\n\n| | Previous | This run |\n|-|-|-|\n| Failures in tests | 8 | 4 |\n\n",
    ],
)
def test_a_run_that_is_only_mentioned_is_none_of_the_report(text):
    assert rates(f"{HEAD}## Compared with before\n\n{text}{FAILURE}") == {"jn7aa11b": (60, 66)}


def test_a_new_run_in_the_section_for_actions_has_its_own_failures():
    left = "| Eval | Step | Classification |\n|-|-|-|\n| `001-a/001-x` | tests | KNOWN_GAP |\n"
    text = f"{HEAD}{FAILURE}{ACTIONS}Effect: run jn7bb22c, 62/66. Left in this run:\n\n{left}"

    assert rates(text) == {"jn7aa11b": (60, 66), "jn7bb22c": (62, 66)}
    assert failures(text) == [
        ("001-a/001-x", "jn7aa11b", "MODEL_FAULT"),
        ("001-a/001-x", "jn7bb22c", "KNOWN_GAP"),
    ]
    assert [one.what for one in read(text).actions] == ["switched off the rule"]


def test_the_next_update_is_about_actions_again():
    result = "Effect: run jn7bb22c, 62/66.\n\n- KNOWN_GAP: `001-a/001-x` (tests), `001-a/002-y` (deploy)\n\n"
    more = "### Update 2026-01-09\n\nChanged since then:\n\n- `runner/backend.py`: raised the limit.\n"
    report = read(f"{HEAD}{FAILURE}{ACTIONS}{result}{more}")

    assert [(one.what, one.date) for one in report.actions] == [
        ("switched off the rule", "2026-01-03"),
        ("raised the limit", "2026-01-09"),
    ]
    assert [(one.case, one.failed_check) for one in report.failures if one.run == "jn7bb22c"] == [
        ("001-a/001-x", "tests"),
        ("001-a/002-y", "deploy"),
    ]


def test_a_table_of_what_is_left_holds_no_actions():
    left = "| Eval | Classification |\n|-|-|\n| 001-a/001-x | MODEL_FAULT |\n\nRaised the limit of the runner.\n"
    report = read(f"{HEAD}{FAILURE}{ACTIONS}{left}")

    assert [one.what for one in report.actions] == ["switched off the rule", "Raised the limit of the runner"]
    assert len(report.failures) == 1


@pytest.mark.parametrize(
    "text",
    [
        "We raised the limit of the runner, and run jn7bb22c got 62/66.\n",
        "| Eval | Classification | Change |\n|-|-|-|\n| 001-a/001-x | MODEL_FAULT | Raised the limit of the runner |\n",
    ],
)
def test_a_change_with_its_effect_is_an_action(text):
    actions = [one.what for one in read(f"{HEAD}{FAILURE}{ACTIONS}{text}").actions]

    assert len(actions) == 2
    assert "aised the limit of the runner" in actions[1]
