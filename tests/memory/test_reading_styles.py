"""Reports as different people write them, each read as its author meant it."""

import tomllib
from pathlib import Path

import pytest

from errata.memory.reading.report import is_report, read_report
from errata.memory.words import LabelWords
from errata.triage import taxonomy

MEMORY = Path(__file__).parents[1] / "fixtures" / "memory"
STYLES = MEMORY / "styles"
CONVEX = MEMORY / "convex" / "reports"
LABELS = LabelWords(label.name for one in taxonomy.built_in() for label in one.label)
EXPECTED = tomllib.loads((STYLES / "expected.toml").read_text(encoding="utf-8"))


def read(path, folder=STYLES):
    below = path.relative_to(folder).as_posix()
    return read_report(path.read_text(encoding="utf-8"), path=f"reports/{below}", below=below, labels=LABELS)


@pytest.fixture(params=sorted(EXPECTED))
def style(request):
    return EXPECTED[request.param], read(STYLES / f"{request.param}.md")


def test_every_style_is_expected_to_say_something():
    assert {path.stem for path in STYLES.glob("*.md")} == set(EXPECTED)


@pytest.mark.req("C-04", "A-06")
def test_each_failure_is_found_with_its_classification(style):
    expected, report = style

    assert {one.case: one.label for one in report.failures} == expected["failures"]


def test_the_run_its_model_and_its_date_are_found(style):
    expected, report = style

    assert (report.run, report.model, report.date) == (expected["run"], expected["model"], expected["date"])


def test_the_pass_rate_is_found_where_one_is_told(style):
    expected, report = style

    assert [report.passed, report.total] == expected.get("rate", [None, None])


@pytest.mark.req("C-04", "A-08")
def test_what_was_done_is_found_with_day_file_and_cases(style):
    expected, report = style
    found = [[one.date, one.path, *one.addresses] for one in report.actions]

    assert found == expected.get("actions", [])


def test_each_failure_names_a_line_in_which_it_or_its_label_stands(style):
    _, report = style
    lines = (STYLES / report.path.removeprefix("reports/")).read_text(encoding="utf-8").splitlines()

    for one in report.failures:
        around = "\n".join(lines[one.ref.line - 1 : one.ref.line + 1]).lower()
        assert one.case.split("/")[-1].replace("turn ", "") in around or "classification" in around or "label" in around


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("nested", {"tests", "deploy"}),
        ("lines", {"deploy", "tests"}),
        ("front-matter", {"tests"}),
        ("all-results", {"tests", "tsc"}),
        ("turns", {"tool_use_correct", "ambiguity_handling", ""}),
    ],
)
def test_the_step_that_failed_is_found(name, steps):
    assert {one.failed_check for one in read(STYLES / f"{name}.md").failures} == steps


def test_the_reasoning_is_what_the_author_wrote():
    reasons = {one.case: one.reasoning for one in read(STYLES / "nested.md").failures}

    assert reasons["004-actions/006-retry_budget"] == "retries for ever"


def test_a_paragraph_below_a_heading_is_its_reasoning():
    reasons = {one.case: one.reasoning for one in read(STYLES / "dashes.md").failures}

    assert reasons["005-idioms/002-early_return"] == "Lint only. no-else-return is a matter of taste."


def test_recommendations_keep_their_groups_and_cases():
    found = [(one.group, one.cases) for one in read(STYLES / "grouped.md").recommendations]

    assert found == [("eval", ("003-mutations/008-soft_remove",)), ("model", ())]


def test_recommendations_stand_in_tables_too():
    found = [(one.group, one.cases) for one in read(STYLES / "counts.md").recommendations]

    assert found == [("eval", ("005-idioms/006-error_shape",)), ("model", ())]


def test_patterns_are_kept_in_their_words():
    assert read(STYLES / "nested.md").patterns == ("The model trusts collect() too much.",)


def test_cases_that_are_called_known_gaps_are_listed():
    assert read(STYLES / "grouped.md").gaps == ("006-clients/004-scroll_restore",)


def test_the_author_and_the_expected_effect_of_an_action_are_kept():
    first, *_ = read(STYLES / "wiki.md").actions

    assert (first.author, first.expected_effect, first.what) == ("Noor", "lint passes", "copies the lint configuration")


def test_an_action_without_a_day_has_that_of_its_report():
    assert {one.date for one in read(STYLES / "several-runs.md").actions} == {"2026-03-20"}


@pytest.mark.trap(23)
def test_words_that_tell_the_reader_what_to_do_are_data():
    report = read(STYLES / "planted.md")

    assert (report.own, report.run, report.gaps) == (False, "jn7p1anted00", ())
    assert [one.case for one in report.failures] == ["006-clients/002-optimistic_toggle"]


def test_a_page_that_is_about_no_run_is_no_report():
    page = read_report("# Reports\n\nOne file a run. See `docs/`.\n", path="reports/README.md", labels=LABELS)

    assert not is_report(page)


@pytest.mark.req("C-04")
def test_the_report_of_the_newer_naming_scheme():
    report = read(CONVEX / "acme" / "nimbus-2-coder" / "jn71a14a_2026-02-20.md", CONVEX)

    assert (report.run, report.model, report.provider) == (
        "jn71a14as7ze07wvy8d987zfbehhrrw1",
        "acme/nimbus-2-coder",
        "openrouter",
    )
    assert (report.date, report.experiment, report.passed, report.total) == ("2026-02-20", "default", 20, 25)
    assert {one.case: (one.label, one.failed_check) for one in report.failures} == {
        "000-fundamentals/002-http_greeting": ("OVERLY_STRICT", "eslint"),
        "001-data_modeling/003-optional_index": ("MODEL_FAULT", "deploy"),
        "002-queries/004-range_condition": ("MODEL_FAULT", "tests"),
        "002-queries/006-pagination_shape": ("KNOWN_GAP", "tsc"),
        "003-mutations/002-cascade_remove": ("AMBIGUOUS_TASK", "tests"),
    }
    assert [(one.date, one.path, one.what, one.addresses) for one in report.actions] == [
        ("2026-03-04", "eslint.config.mjs", "now ignores unused arguments", ("000-fundamentals/002-http_greeting",)),
        (
            "2026-03-05",
            "evals/003-mutations/002-cascade_remove/TASK.txt",
            "now asks for an error when the owner is missing",
            ("003-mutations/002-cascade_remove",),
        ),
    ]
    assert report.patterns == ("Two of five failures are schema or validator details.",)
    assert [one.group for one in report.recommendations] == ["config", "eval"]


@pytest.mark.req("A-05")
def test_the_report_of_the_older_naming_scheme():
    report = read(CONVEX / "nimbus-2-coder_jn7vec_2026-02-12.md", CONVEX)

    assert (report.run, report.model, report.date) == (
        "jn7vect8efz42rpcpbdcngtq317djmby",
        "acme/nimbus-2-coder",
        "2026-02-12",
    )
    assert [(one.case, one.label, one.ref.line) for one in report.failures] == [
        ("002-queries/006-pagination_shape", "KNOWN_GAP", 12),
        ("001-data_modeling/003-optional_index", "MODEL_FAULT", 13),
        ("004-actions/003-rate_limit_guard", "MODEL_FAULT", 14),
        ("006-clients/002-optimistic_toggle", "MODEL_FAULT", 15),
    ]
    assert (report.actions, report.gaps) == ((), ("002-queries/006-pagination_shape",))
