"""Reports in sentences: what a paragraph is about, groups of failures, names that are no cases."""

import pytest

from errata.memory.reading.labels import LabelWords
from errata.memory.reading.report import read_report

LABELS = LabelWords(("MODEL_FAULT", "OVERLY_STRICT", "AMBIGUOUS_TASK", "KNOWN_GAP"))


def read(text):
    return read_report(text, path="r.md", labels=LABELS)


def failures(text):
    return [(one.case, one.label, one.failed_check) for one in read(text).failures]


def actions(text):
    return [one.what for one in read(text).actions]


@pytest.mark.parametrize("front", ["In", "Finally,", "And then"])
def test_a_marked_case_behind_a_word_of_introduction_begins_a_failure(front):
    text = f"## Failures\n\n{front} **001-a/001-x** the tests report an empty result. It is a MODEL_FAULT.\n"

    assert failures(text) == [("001-a/001-x", "MODEL_FAULT", "tests")]


@pytest.mark.parametrize("front", ["Unlike", "See", "The template of"])
def test_a_case_that_is_only_referred_to_is_none(front):
    text = f"## Failures\n\n- 001-a/002-y: tests, MODEL_FAULT\n\n{front} **001-a/001-x** it has an index.\n"

    assert failures(text) == [("001-a/002-y", "MODEL_FAULT", "tests")]


def test_one_label_for_both_failures_of_a_section():
    text = (
        "## Queries\n\nThere are two failures here and I count both as KNOWN_GAP. In **001-a/001-x** the tests see "
        "nothing, which is why tsc didn't catch it.\n\nIn **001-a/002-y** the tests see too much.\n\n"
        "## Mutations\n\n**001-a/003-z** failed in its tests.\n"
    )

    assert failures(text) == [
        ("001-a/001-x", "KNOWN_GAP", "tests"),
        ("001-a/002-y", "KNOWN_GAP", "tests"),
        ("001-a/003-z", "", "tests"),
    ]


def test_here_may_also_mean_the_whole_report():
    sentence = "Nothing here is our fault: all 2 failed evals are MODEL_FAULT."
    text = f"{sentence}\n\n## A\n\n001-a/001-x: tsc\n\n001-a/002-y: tsc\n"

    assert [label for _, label, _ in failures(text)] == ["MODEL_FAULT", "MODEL_FAULT"]


def test_a_count_of_labels_gives_the_others_none():
    text = "## Failures\n\n- `001-a/001-x` (tests)\n\n## Net impact\n\n6 model faults, 6 others.\n"

    assert failures(text) == [("001-a/001-x", "", "tests")]
    assert failures(text.replace("6 model faults, 6 others", "Model fault for all others")) == [
        ("001-a/001-x", "MODEL_FAULT", "tests")
    ]


@pytest.mark.parametrize(
    ("sentence", "step"),
    [
        ("All of them are OVERLY_STRICT. Each stops at `eslint`.", "eslint"),
        ("They all fail in tsc.", "tsc"),
        ("All models fail at tsc in the end.", ""),
        ("Each of the tests passes.", ""),
    ],
)
def test_a_sentence_gives_the_step_of_all_failures_of_its_section(sentence, step):
    cases = "- `001-a/001-x`\n- `001-a/002-y`\n\n"
    text = f"## One rule\n\n{cases}{sentence}\n\n## Others\n\n- `001-a/003-z`: MODEL_FAULT\n"

    assert [one[2] for one in failures(text)] == [step, step, ""]


def test_a_heading_names_the_step_of_a_group():
    assert failures("## The lint group (1 failure)\n\n- `001-a/001-x`: MODEL_FAULT\n")[0][2] == "eslint"
    assert failures("## The parser group (1 failure)\n\n- `001-a/001-x`: MODEL_FAULT\n")[0][2] == ""


@pytest.mark.parametrize(
    "text",
    [
        "`saveResult` is defined in the wrong file.",
        "**MODEL_FAULT.** The error: it uses literals as keys of `v.record` again.",
        "- Evals: say in `001-a/001-x` what becomes of `createdAt`.",
    ],
)
def test_a_name_in_the_code_is_no_case(text):
    report = f"## MODEL_FAULT (1)\n\n### 001-a/001-x (tests)\n\n{text}\n"

    assert failures(report) == [("001-a/001-x", "MODEL_FAULT", "tests")]


def test_a_list_of_names_behind_a_label_is_one_of_cases():
    assert failures("- MODEL_FAULT (2): rate_limit, lease_lock\n") == [
        ("rate_limit", "MODEL_FAULT", ""),
        ("lease_lock", "MODEL_FAULT", ""),
    ]


@pytest.mark.parametrize("behind", ["pass.", "now pass again.", "pass now, by luck."])
def test_cases_that_pass_are_no_failures(behind):
    assert failures(f"## Failures\n\n001-a/001-x and 001-a/002-y {behind}\n") == []


def test_cases_that_fail_together_are_failures():
    assert len(failures("## Failures\n\n001-a/001-x and 001-a/002-y fail. 001-a/003-z passes.\n")) == 2


@pytest.mark.parametrize(
    ("heading", "cases"), [("What I would change", 0), ("What we'd do", 0), ("What we see", 1), ("What broke", 1)]
)
def test_a_heading_about_what_one_would_do_holds_advice(heading, cases):
    assert len(failures(f"## {heading}\n\n- `001-a/001-x`: sort the rows. AMBIGUOUS_TASK\n")) == cases


def test_a_category_called_actions_may_stand_beside_another_one():
    text = "### Actions and clients\n\n**004-actions/001-x** failed in eslint: OVERLY_STRICT.\n"

    assert failures(text) == [("004-actions/001-x", "OVERLY_STRICT", "eslint")]
    assert actions("### Actions and follow-ups\n\n- Raised the limit for 004-actions/001-x.\n") == [
        "Raised the limit for 004-actions/001-x"
    ]


@pytest.mark.parametrize("title", ["**63 of 76 evals passed (82.9%).** 12 failed.", "## 63 of 76 evals passed"])
def test_a_pass_rate_in_bold_or_in_a_heading_is_about_the_run(title):
    report = read(f"# jn75q5fp: nimbus-2\n\n{title}\n\n- `001-a/001-x` (tests): MODEL_FAULT\n")

    assert (report.passed, report.total) == (63, 76)
    assert len(report.failures) == 1


def test_a_bold_title_over_passed_evals_holds_no_failures():
    assert failures("## Failures\n\n001-a/001-x: MODEL_FAULT\n\n**Passed now**\n\n- `001-a/002-y`\n")[1:] == []


def test_a_sentence_over_a_list_of_actions_is_none():
    text = "## Actions taken\n\nCarried over from the report on jn7a9x5r:\n\n- `a.json`: ignore unused names.\n"

    assert actions(text) == ["ignore unused names"]


@pytest.mark.parametrize(
    ("entry", "count"),
    [
        ("The package was discussed and put off; the template is unchanged.", 0),
        ("The template stays as it is.", 0),
        ("The task was reworded; the grader is unchanged.", 1),
        ("Put the limit into the config.", 1),
    ],
)
def test_what_was_put_off_or_stays_as_it_is_is_no_action(entry, count):
    assert len(actions(f"## Actions taken\n\n- {entry}\n")) == count
