"""The index of failures says what the view says, and follows verdicts and buckets."""

import pytest
from tests.conftest import FIXTURES

from errata.model import Quote, Reviewer, Verdict
from errata.model.filters import FailureFilters
from errata.runs.digest import digest_of
from errata.runs.listing import ensure_indexed, failure_block, list_page
from errata.runs.view import RunView
from errata.store.failure_list import all_rows
from errata.store.reviews import keep_verdicts
from errata.store.runs import all_runs
from errata.verbs.analyze import import_logs


@pytest.fixture
def terminal(store):
    import_logs([FIXTURES / "sources/harbor/old-job/data/kimi_k2.5"], store)
    [stored] = all_runs(store)
    return stored


def a_verdict(attempt, name="ada", owner="grader", *, kind="person"):
    return Verdict(
        id=f"{name}-{attempt}"[:32],
        attempt=attempt,
        taxonomy="owners",
        label=owner,
        owner=owner,
        cause="x",
        confidence="certain",
        evidence=(Quote(place="log/x", quote="y"),),
        reviewer=Reviewer(kind=kind, name=name),
        at="2026-01-01T00:00:00Z",
    )


def rows_of(stored, store):
    ensure_indexed(stored, store)
    return {row.case_key: row for row in all_rows(store, stored.run.id)}


def test_rows_agree_with_the_failures_of_the_view(terminal, store):
    rows = rows_of(terminal, store)
    view = RunView(terminal, store)
    failures = list(view.failures())

    assert len(rows) == len(failures) == terminal.counts.failures
    for failure in failures:
        row = rows[failure.attempt.case]
        assert row.attempt == failure.attempt.id
        assert row.owner == failure.attribution.owner
        assert row.check_name == next(iter(failure.attempt.failed_checks), "")
        assert row.bucket == failure.bucket.id
        assert set(row.signals.split()) == {signal.name for signal in failure.attribution.signals}


def test_lines_are_the_reasons_of_the_view_and_the_second_look_is_the_same(terminal, store):
    first = list_page(terminal, store, FailureFilters(), grouping="none", order="log")
    again = list_page(terminal, store, FailureFilters(), grouping="none", order="log")
    reasons = [" ".join(one.reason.split()) for one in RunView(terminal, store).failures()]

    assert sorted(one.line.quote for one in first.listed) == sorted(reasons)
    assert again == first


def test_a_verdict_changes_owner_and_state_of_its_row_alone(terminal, store):
    before = rows_of(terminal, store)
    chosen = before["terminal-bench/pypi-server"]
    keep_verdicts(store, [a_verdict(chosen.attempt)])
    after = rows_of(terminal, store)

    assert (after[chosen.case_key].owner, after[chosen.case_key].review) == ("grader", "final")
    assert {key: row.owner for key, row in after.items() if key != chosen.case_key} == {
        key: row.owner for key, row in before.items() if key != chosen.case_key
    }
    found = failure_block(terminal, store, FailureFilters(owners=("grader",)), order="log", after=None, limit=5)
    assert [one.attempt.id for one in found.failures] == [chosen.attempt]
    assert found.failures[0].standing is not None


def test_two_reviewers_who_disagree_are_a_state_of_their_own(terminal, store):
    chosen = rows_of(terminal, store)["terminal-bench/pypi-server"]
    keep_verdicts(
        store,
        [
            a_verdict(chosen.attempt, "a", "grader", kind="agent"),
            a_verdict(chosen.attempt, "b", "task", kind="agent"),
        ],
    )

    assert rows_of(terminal, store)[chosen.case_key].review == "disputed"


def test_the_digest_is_kept_until_something_changes(terminal, store):
    made, was_known = digest_of(terminal, store)
    again, is_known = digest_of(terminal, store)
    chosen = rows_of(terminal, store)["terminal-bench/pypi-server"]
    keep_verdicts(store, [a_verdict(chosen.attempt)])
    later, _ = digest_of(terminal, store)

    assert (was_known, is_known) == (False, True)
    assert again == made
    assert made.owners["environment"] == later.owners["environment"] + 1
    assert (made.reviewed, later.reviewed) == (0, 1)


def test_a_file_of_the_index_that_is_damaged_is_replaced_by_one_that_works(terminal, store, tmp_path):
    from errata.store.index_file import index_path

    index_path(store).write_bytes(b"not a database at all" * 100)

    assert len(rows_of(terminal, store)) == terminal.counts.failures
