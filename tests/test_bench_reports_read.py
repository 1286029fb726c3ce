"""Reports by hand are read as their structure means them, and the benchmark notices what is read otherwise."""

import json
import re
from pathlib import Path

import pytest
from bench.reports_read import measure, read

FORMS = Path(__file__).parent / "fixtures" / "memory" / "forms"
TRUTH = json.loads((FORMS / "truth.json").read_text(encoding="utf-8"))


STRUCTURED = (
    "acme/nimbus-2-coder/jn7aa01x_2026-03-02 action-paragraphs action-table bold-lines by-category category-column "
    "column-order commits dated-actions definition-list emoji failures-and-steps full-of-names group-label "
    "grouped-tables heron-7b_jn7pp16_2026-03-21 heron/heron-7b/jn7bb02y_2026-03-03 linked loose-labels minimal "
    "name-cat-step numbered-sections openai/gpt-6-codex/jd7a1b2c_2026-05-01 openai/gpt-8/q57aa1b2_2026-08-02 "
    "quoted-head repeat-notes run-column status-words yaml-all"
)
"""Reports whose structure has all that their authors mean."""


@pytest.mark.req("C-04", "A-05", "A-06", "A-08")
def test_every_report_with_a_structure_is_read_as_it_was_meant(tmp_path):
    names = [f"{name}.md" for name in STRUCTURED.split()]
    (tmp_path / "truth.json").write_text(json.dumps({name: TRUTH[name] for name in names}), encoding="utf-8")

    figures, mistakes = measure(FORMS, tmp_path / "truth.json")

    assert mistakes == []
    assert figures.labels.of > 100


@pytest.mark.req("C-04", "A-06")
def test_of_reports_in_any_other_form_little_is_read_wrongly():
    """Essays, mails, columns for each run: less is read of them, but what is read is right."""
    folders = [FORMS, *sorted((FORMS.parent / "blind").glob("?"))]
    pairs = [measure(folder, folder / "truth.json") for folder in folders]
    wrong = [text for _, mistakes in pairs for text in mistakes if re.search(r"(label|step) '.+', not", text)]

    assert sum(figures.labels.of for figures, _ in pairs) == 1233
    assert sum(figures.labels.right for figures, _ in pairs) >= 790
    assert sum(figures.steps.right for figures, _ in pairs) >= 725
    assert sum(figures.failures_given.of - figures.failures_given.right for figures, _ in pairs) <= 35
    assert len(wrong) <= 26


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


def test_a_paragraph_on_an_action_belongs_to_the_failure_above_it():
    found = {one.addresses: one.date for one in read(FORMS / "action-paragraphs.md", "action-paragraphs.md").actions}

    assert found == {
        ("003-mutations/004-batch_upsert",): "2026-03-16",
        ("005-idioms/002-internal_helpers",): "2026-03-17",
    }


@pytest.mark.req("C-29")
def test_a_heading_that_no_action_was_taken_holds_no_actions():
    (action,) = read(FORMS / "no-action-headings.md", "no-action-headings.md").actions

    assert (action.path, action.what) == ("eslint.config.mjs", "unused arguments are allowed")


@pytest.mark.req("B-55")
def test_a_table_of_runs_gives_every_run_with_its_pass_rate():
    runs = read(FORMS / "three-runs.md", "three-runs.md").runs

    assert [(run.id, run.model, run.passed, run.total) for run in runs] == [
        ("jn7ee05a1", "acme/nimbus-2-coder", 55, 59),
        ("jn7ee05b2", "heron/heron-7b", 51, 59),
        ("jn7ee05c3", "tern/tern-large", 58, 59),
    ]


def test_categories_and_lint_rules_are_no_cases():
    names = {
        failure.case for name in STRUCTURED.split() for failure in read(FORMS / f"{name}.md", f"{name}.md").failures
    }

    assert not {name for name in names if "/" not in name or name.startswith("@")}
