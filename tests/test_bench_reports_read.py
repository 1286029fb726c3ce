"""Hand-written reports of many forms are read as their authors meant them, and the benchmark notices what is not."""

import json
from pathlib import Path

import pytest
from bench.reports_read import measure, read

FORMS = Path(__file__).parent / "fixtures" / "memory" / "forms"
TRUTH = json.loads((FORMS / "truth.json").read_text(encoding="utf-8"))


@pytest.mark.req("C-04", "A-05", "A-06", "A-08")
def test_every_report_is_read_as_it_was_meant():
    figures, mistakes = measure(FORMS, FORMS / "truth.json")

    assert mistakes == []
    assert (figures.labels.of, figures.actions_found.of, figures.runs.of) == (295, 70, 90)


def test_every_form_has_a_truth():
    assert {path.relative_to(FORMS).as_posix() for path in FORMS.rglob("*.md")} == set(TRUTH)


@pytest.mark.parametrize(
    ("wrong", "figure"),
    [
        ({"runs": [{"id": "jn7zzzzz", "model": "x", "passed": 1, "total": 2}]}, "runs"),
        ({"failures": [{"eval": "004-cron", "label": "KNOWN_GAP", "step": "deploy"}]}, "labels"),
        ({"failures": [{"eval": "004-cron", "label": "MODEL_FAULT", "step": "tsc"}]}, "steps"),
        ({"failures": [{"eval": "000-none", "label": "MODEL_FAULT", "step": "tsc"}]}, "labels"),
        ({"actions": [{"what": "painted the shed", "evals": [], "date": "2026-01-01"}]}, "actions_found"),
    ],
)
def test_what_is_read_otherwise_is_a_mistake(wrong, figure, tmp_path):
    truth = tmp_path / "truth.json"
    truth.write_text(json.dumps({"heron/heron-7b/jn7bb02y_2026-03-03.md": wrong}), encoding="utf-8")

    figures, mistakes = measure(FORMS, truth)

    assert getattr(figures, figure).right == 0
    assert mistakes


def of(name):
    return read(FORMS / name, name)


@pytest.mark.req("C-29")
def test_a_heading_that_no_action_was_taken_holds_no_actions():
    (action,) = of("no-action-headings.md").actions

    assert (action.path, action.what) == ("eslint.config.mjs", "unused arguments are allowed")


def test_a_paragraph_on_an_action_belongs_to_the_failure_above_it():
    found = {one.addresses: one.date for one in of("action-paragraphs.md").actions}

    assert found == {
        ("003-mutations/004-batch_upsert",): "2026-03-16",
        ("005-idioms/002-internal_helpers",): "2026-03-17",
    }


def test_one_label_for_all_failed_evals_counts_for_each():
    assert {one.label for one in of("broken-run.md").failures} == {"KNOWN_GAP"}
    assert len(of("broken-run.md").failures) == 6


@pytest.mark.req("B-55")
def test_a_table_of_runs_gives_every_run_with_its_pass_rate():
    runs = [(one.id, one.model, one.passed, one.total) for one in of("three-runs.md").runs]

    assert runs == [
        ("jn7ee05a1", "acme/nimbus-2-coder", 55, 59),
        ("jn7ee05b2", "heron/heron-7b", 51, 59),
        ("jn7ee05c3", "tern/tern-large", 58, 59),
    ]


def test_a_label_in_a_cell_of_its_own_counts_more_than_one_in_a_sentence():
    labels = {one.case: one.label for one in of("column-order.md").failures}

    assert labels["003-mutations/004-batch_upsert"] == "OVERLY_STRICT"
    assert labels["000-fundamentals/004-cron"] == "KNOWN_GAP"


def test_categories_and_lint_rules_are_no_cases():
    names = {one.case for name in TRUTH for one in of(name).failures}

    assert not {name for name in names if "/" not in name or name.startswith("@")}
