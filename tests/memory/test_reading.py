"""What is read from a report's structure, one short report for each way in which real reports lay it out."""

import time

import pytest

from errata.memory.reading.report import read_report
from errata.memory.spelling import date_in, without_date
from errata.memory.words import LabelWords, model_in

LABELS = LabelWords(("MODEL_FAULT", "OVERLY_STRICT", "AMBIGUOUS_TASK", "KNOWN_GAP"))


def read(text, path="r.md"):
    return read_report(text, path=path, below=path, labels=LABELS)


def failures(text):
    return [(one.case, one.label, one.failed_check) for one in read(text).failures]


@pytest.mark.parametrize(
    "text",
    [
        "### 1. 000-base/003-crons — tests (50% pass)\n\n"
        "| Field | Value |\n|-|-|\n| **Classification** | MODEL_FAULT |\n",
        "### 3. 003-crons (000-base) -- tests (0%)\n\n**Classification**: MODEL_FAULT (was KNOWN_GAP)\n",
        "### 1) 000-base/003-crons — MODEL_FAULT (repeat)\n- **Failed step**: tests (test 2 of 2)\n",
        "### 000-base\n\n#### 003-crons — tests\n- **Classification:** MODEL_FAULT\n",
        "| Eval | Category | Failed Step | Runs | Classification |\n|-|-|-|-|-|\n"
        "| 003-crons | 000-base | tests | 3/3 | MODEL_FAULT |\n",
        "| Step | Count | Evals |\n|-|-|-|\n| tests | 1 | 003-crons |\n\n## Model faults\n\n- 000-base/003-crons\n",
        "## 000-base (1 failure)\n\n| Eval | Step | Verdict |\n|-|-|-|\n| `003-crons` | tests | MF |\n",
    ],
)
@pytest.mark.req("C-04", "A-06")
def test_a_failure_has_the_label_and_the_step_that_its_place_gives_it(text):
    assert failures(f"# Run\n\n## Failures\n\n{text}") == [("000-base/003-crons", "MODEL_FAULT", "tests")]


@pytest.mark.parametrize(
    ("statement", "labels"),
    [
        ("All 2 failed evals are MODEL_FAULT.", ["MODEL_FAULT", "MODEL_FAULT"]),
        ("All of them are MODEL_FAULT except `002-y` (KNOWN_GAP).", ["MODEL_FAULT", "KNOWN_GAP"]),
        ("The rest are known gaps.", ["KNOWN_GAP", "KNOWN_GAP"]),
        ("This affects all models. MODEL_FAULT is what `002-y` got last time.", ["", "MODEL_FAULT"]),
    ],
)
def test_one_statement_labels_every_failure_without_a_label_of_its_own(statement, labels):
    text = f"## Failures\n\n- a/001-x: tests\n- a/002-y: tests\n\n## Summary\n\n{statement}\n"

    assert [label for _, label, _ in failures(text)] == labels


def test_the_fields_below_a_heading_about_all_failures_are_those_of_each():
    text = (
        "## Per-failure analysis\n\n### Global failure pattern (applies to all 72 failed evals)\n\n"
        "- Failed step: `none`\n- Classification: `KNOWN_GAP`\n\n### Affected evals\n\n"
        "- `000-base` (10/10)\n\nSample:\n\n- `000-base/000-a`\n- `001-more/000-b`\n"
    )

    assert failures(text) == [("000-base/000-a", "KNOWN_GAP", "none"), ("001-more/000-b", "KNOWN_GAP", "none")]


def test_what_an_earlier_report_called_it_is_no_label():
    text = (
        "### a/001-x (tests)\n\nThe previous report classified this as MODEL_FAULT.\n\n**Classification**: KNOWN_GAP\n"
    )

    assert failures(text) == [("a/001-x", "KNOWN_GAP", "tests")]
    assert failures("- `a/001-x` (tests): MODEL_FAULT? not sure\n") == [("a/001-x", "", "tests")]
    assert failures("| eval | step | verdict |\n|-|-|-|\n| a/001-x | install | not classified |\n")[0][1] == ""


def test_neither_categories_nor_counts_nor_code_are_cases():
    text = (
        "# Run\n\n- **Failed evals**: `19`\n\n## Failures\n\n### a/001-x: KNOWN_GAP (tests)\n\n"
        "- **Model snippet**:\n  - `crons.interval(1)`\n  - `response.json()` gives unknown, MODEL_FAULT\n\n"
        "**Notable:** the tests failed for good. MODEL_FAULT\n"
    )

    assert failures(text) == [("a/001-x", "KNOWN_GAP", "tests")]


def test_several_runs_have_their_rates_in_their_order():
    rows = "| default | 59/66 (89.4%) | 60/66 |\n| no_guidelines | 57/66 | 58/66 |\n"
    text = (
        "**Date:** 2026-02-26  \n**Model:** `acme/nimbus` (Nimbus)  \n**Run IDs (default):** jn7aa11bb, jn7cc22dd  \n"
        f"**Run IDs (no_guidelines):** jn7ee33ff, jn7gg44hh\n\n| Experiment | Run 1 | Run 2 |\n|-|-|-|\n{rows}"
    )

    report = read(text)

    assert [(one.id, one.passed) for one in report.runs] == [
        ("jn7aa11bb", 59), ("jn7cc22dd", 60), ("jn7ee33ff", 57), ("jn7gg44hh", 58)
    ]  # fmt: skip
    assert (report.model, report.date, report.passed, report.total) == ("acme/nimbus", "2026-02-26", 59, 66)


def test_runs_in_items_and_rows_are_those_of_the_head():
    items = "- **Run IDs**:\n  - jn7aa11bb\n  - jn7cc22dd\n- **Model**: nimbus (acme)\n"
    items += "- **Recorded pass rates**: 6/7, 5/7\n"
    text = (
        f"{items}\n## Failures\n\n## Reruns\n\n"
        f"| Run ID | Score | Remaining failures |\n|-|-|-|\n| jn7ee33ff | 7/7 | a/001-x, a/002-y |\n"
    )

    report = read(text, "acme/nimbus/jn7aa11b_2026-06-10.md")

    assert [(one.id, one.passed) for one in report.runs] == [("jn7aa11bb", 6), ("jn7cc22dd", 5)]
    assert (report.model, report.provider) == ("nimbus", "acme")
    assert [one.case for one in report.failures] == ["a/001-x", "a/002-y"]


@pytest.mark.parametrize(
    ("written", "model"),
    [
        ("openai/gpt-5.3-codex (GPT-5.3 Codex)", "openai/gpt-5.3-codex"),
        ("acme/nimbus (high)", "acme/nimbus (high)"),
        ("acme/nimbus (openrouter)", "acme/nimbus"),
        ("claude-4-sonnet (Claude 4 Sonnet)", "claude-4-sonnet"),
    ],
)
def test_a_remark_behind_a_model_stays_only_if_it_tells_two_models_apart(written, model):
    assert model_in(written)[0] == model


@pytest.mark.req("C-04", "A-08")
def test_an_action_below_a_failure_is_about_it():
    text = (
        "# Run 2026-02-06\n\n## Failures\n\n### 1. 001-x (000-base) -- eslint\n\n**Classification**: OVERLY_STRICT\n\n"
        "**Action taken**: Downgraded `prefer-const` in `eslint.config.mjs`.\n\n---\n\n"
        "### 2. 002-y (000-base) -- tests\n\n"
        "**Classification**: MODEL_FAULT\n\n"
        "**Action taken (2026-02-08)**:\n1. Raised the timeout.\n2. Planned: a retry.\n\n"
        "### 3. 003-z (000-base) -- tests\n\n**Action taken**: None\n\n## Actions Taken in This Session\n\n"
        "1. **Retry**: Added `fetchWithRetry()` to `000-base/004-q/grader.test.ts`.\n\n"
        "## Faults (no action taken)\n\n- 003-z\n"
    )

    assert sorted((one.date, one.path, *one.addresses) for one in read(text).actions) == [
        ("2026-02-06", "000-base/004-q/grader.test.ts", "000-base/004-q"),
        ("2026-02-06", "eslint.config.mjs", "000-base/001-x"),
        ("2026-02-08", "", "000-base/002-y"),
    ]


def test_advice_and_actions_may_leave_out_the_number_of_a_case_that_failed():
    text = (
        "# Run 2026-02-06\n\n## Failures\n\n- `000-base/001-send_mail` (tests): AMBIGUOUS_TASK\n\n"
        "## Recommendations\n\n- Reword send_mail\n\n## Actions taken\n\n- Reworded the task of send_mail\n"
    )

    report = read(text)

    assert [one.cases for one in report.recommendations] == [("send_mail",)]
    assert [one.addresses for one in report.actions] == [("send_mail",)]


def test_many_statements_about_many_failures_are_read_to_the_end():
    times = 500
    rows = "".join(f"| a/{number:04d}-x | tests |\n" for number in range(times))
    names = ", ".join(f"a/{number:04d}-x" for number in range(0, times, 4))
    start = time.process_time()

    read(f"| Eval | Step |\n|-|-|\n{rows}\n" + f"All failed evals are MODEL_FAULT except {names}.\n\n" * 100)

    assert time.process_time() - start < 5


def test_patterns_are_headings_with_their_text_or_items():
    headings = (
        "## Cross-Cutting Patterns\n\n### 1. Types (3 failures)\n\nThey circle.\n\n- a\n\n"
        "### 2. Comparison with opus\n\nSame.\n"
    )
    items = "## Patterns\n\n1. **Types**: they circle.\n2. Imports.\n"

    assert read(headings).patterns == ("Types (3 failures): They circle. a", "Comparison with opus: Same.")
    assert read(items).patterns == ("Types: they circle.", "Imports.")


def test_advice_that_nothing_is_needed_is_a_group_of_its_own():
    text = (
        "## Recommendations\n\n### Lint/config changes\n- **a.mjs**: allow it\n\n"
        "### No action needed (model faults)\n- 001-x: fair\n"
    )

    assert [(one.group, one.text) for one in read(text).recommendations] == [
        ("config", "a.mjs: allow it"),
        ("none", "001-x: fair"),
    ]


@pytest.mark.parametrize(
    "unit", ["\n", ".", "- ", '"', "`", "*", "| ", "(", "a-", "all the ", "001-a ", "1/2 ", "run ", "# ", "<summary>"]
)
def test_a_long_report_of_one_sign_takes_no_longer_than_its_length(unit):
    text = unit * (100_000 // len(unit))
    start = time.process_time()

    read(f"## Failures\n\n{text}\n\n## Actions taken\n\n{text}")

    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "text", ["2026-02-12", "20260212", "12 February 2026", "Feb. 12, 2026", "12.02.2026", "2026/2/12"]
)
def test_a_day_is_found_however_it_is_written(text):
    assert date_in(f"done on {text} by us") == "2026-02-12"
    assert without_date(f"{text}: lint was changed") == "lint was changed"
