"""Known gaps on record: in the store and in reports, and what triage makes of them."""

import shutil

import pytest

from errata.model import KnownGap
from errata.model.filters import Filters
from errata.runs.importing import import_paths
from errata.runs.triaging import gaps_for, triage_if_needed
from errata.runs.view import RunView
from errata.store.attributions import rules_version_of
from errata.store.memory import forget_gap, keep_gap
from errata.store.runs import find_run

PAGE, VALIDATOR = "convex-evals/002-queries/006-pagination_shape", "convex-evals/005-idioms/003-shared_validator"
GAP = KnownGap(id="1", suite="convex-evals", case_key=VALIDATOR, text="the module is never checked", since="2026-01-01")
CALLED_A_GAP = """\
# Run {run}

Model: {model}
Date: {date}

### 005-idioms/003-shared_validator

- Step: {step}
- Label: KNOWN_GAP
- Why: {why}
"""


@pytest.fixture
def stored(fixtures, store, tmp_path):
    # a copy: around the fixtures lies a repository, in which somebody may keep reports
    source = fixtures / "sources" / "convex_evals" / "run_b" / "data" / "run-b"
    import_paths([shutil.copytree(source, tmp_path / "runs" / "run-b")], store)
    return find_run(store, "jn7mqywb")


@pytest.fixture
def reports(fixtures, tmp_path):
    shutil.copytree(fixtures / "memory" / "convex" / "reports", tmp_path / "reports")
    return tmp_path / "reports"


def written(reports, **told):
    given = {
        "run": "jn7zzzzz9",
        "model": "acme/nimbus-2-coder",
        "date": "2026-02-01",
        "step": "tests",
        "why": "as ever",
    } | told
    (reports / "other.md").write_text(CALLED_A_GAP.format(**given))


def owner_of(stored, store, case):
    (found,) = RunView(stored, store).failures(Filters(case=case.removeprefix("convex-evals/")))
    return found.attribution.owner, found.attribution.confidence, found.attribution.decided_by


def test_without_a_record_no_gap_is_suggested(stored, store):
    assert gaps_for(stored, store).version == ""
    assert owner_of(stored, store, PAGE)[0] == "model"


@pytest.mark.req("C-13")
def test_a_gap_that_reports_name_is_the_tasks(stored, store, reports):
    assert owner_of(stored, store, PAGE) == ("task", "likely", "known_gap")


@pytest.mark.req("C-13")
def test_the_label_known_gap_is_suggested_then(stored, store, reports):
    (found,) = RunView(stored, store).failures(Filters(case="006-pagination_shape"))

    assert found.attribution.suggested_labels["convex-evals"] == "KNOWN_GAP"


def test_each_record_is_a_signal_with_its_place_and_words(stored, store, reports):
    (found,) = RunView(stored, store).failures(Filters(case="006-pagination_shape"))
    records = [(one.where, one.quote) for one in found.attribution.signals if one.name == "known_gap"]

    assert [where for where, _ in records] == [
        "reports/acme/nimbus-2-coder/jn71a14a_2026-02-20.md:41",
        "reports/nimbus-2-coder_jn7vec_2026-02-12.md:12",
    ]
    assert records[1][1] == "Page result validator incomplete, guidelines silent"


def test_a_gap_of_the_store_counts_as_well(stored, store):
    keep_gap(store, GAP)

    assert owner_of(stored, store, VALIDATOR) == ("task", "likely", "known_gap")


def test_a_pattern_covers_all_cases_that_it_fits(stored, store):
    keep_gap(store, KnownGap(id="1", suite="convex-evals", pattern="convex-evals/005-idioms/*", text="all of them"))

    assert {key for key in gaps_for(stored, store).cases if "005-idioms" in key} >= {VALIDATOR}
    assert owner_of(stored, store, VALIDATOR)[2] == "known_gap"


def test_triage_is_made_anew_when_a_gap_comes_and_when_it_goes(stored, store):
    triage_if_needed(stored, store)
    versions = [rules_version_of(store, stored.pk)]
    keep_gap(store, GAP)
    triage_if_needed(stored, store)
    versions.append(rules_version_of(store, stored.pk))
    forget_gap(store, "1")
    triage_if_needed(stored, store)

    assert rules_version_of(store, stored.pk) == versions[0] != versions[1]
    assert owner_of(stored, store, VALIDATOR)[0] == "model"


def test_triage_is_not_made_anew_for_a_report_that_names_no_gap(stored, store, reports):
    before = gaps_for(stored, store).version
    (reports / "new.md").write_text(
        "# Run jn7new000\n\nDate: 2026-02-01\n\n- 005-idioms/003-shared_validator: MODEL_FAULT\n"
    )

    assert gaps_for(stored, store).version == before


def as_another_model(tmp_path, store, source):
    """The same run, with the same failures, of another model."""
    copy = shutil.copytree(source, tmp_path / "runs" / "other")
    for path in copy.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            content = content.replace(b"jn7mqywb", b"jn7zzzzz").replace(b"acme/nimbus-2-coder", b"zeta/drift")
            path.write_bytes(content.replace(b"nimbus-2-coder", b"drift"))
    import_paths([copy], store)
    triage_if_needed(find_run(store, "jn7zzzzz"), store)


def test_a_gap_in_a_report_about_another_model_is_none_while_its_run_is_unknown(stored, store, reports):
    written(reports, model="zeta/drift")

    assert owner_of(stored, store, VALIDATOR)[2] != "known_gap"
    written(reports)
    assert owner_of(stored, store, VALIDATOR)[2] == "known_gap"


def test_a_gap_of_another_model_counts_where_its_run_has_the_same_failure(stored, store, reports, tmp_path):
    as_another_model(tmp_path, store, tmp_path / "runs" / "run-b")
    written(reports, run="jn7zzzzz", model="zeta/drift")

    (failure,) = RunView(stored, store).failures(Filters(case="003-shared_validator"))

    assert failure.attribution.decided_by == "known_gap"
    assert [one.where for one in failure.attribution.signals if one.name == "known_gap"] == [
        "reports/other.md:9 (zeta/drift)"
    ]


def test_a_gap_of_another_model_is_none_for_the_failure_of_another_check(stored, store, reports, tmp_path):
    as_another_model(tmp_path, store, tmp_path / "runs" / "run-b")
    written(reports, run="jn7zzzzz", model="zeta/drift", step="install")

    assert owner_of(stored, store, VALIDATOR)[2] != "known_gap"


@pytest.mark.parametrize(
    "told",
    [
        {"date": "2026-03-20"},
        {"date": "2026-03-09"},
        {"run": "jn7mqywb", "date": "2026-03-01"},
        {"step": "none"},
        {"why": "the provider timed out"},
    ],
    ids=["later", "the same day", "this very run", "nothing was run", "machinery"],
)
def test_what_is_no_earlier_record_of_a_gap_of_the_case_changes_nothing(stored, store, reports, told):
    written(reports, **told)

    assert owner_of(stored, store, VALIDATOR)[0] == "model"


def test_a_gap_says_nothing_about_what_was_not_measured(stored, store):
    key = "convex-evals/003-mutations/005-batch_insert"
    keep_gap(store, KnownGap(id="1", suite="convex-evals", case_key=key, text="never passes"))

    assert owner_of(stored, store, key)[0] == "environment"
