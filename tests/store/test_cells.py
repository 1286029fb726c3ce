"""How every case went in each of several runs."""

import pytest
from store_fixtures import put, put_owners

from errata.model import Attribution, FailureKey
from errata.store.case_outcomes import cells_of
from errata.testing import a_run, an_attempt

NOT_RUN = {"measurement": "not_run", "outcome": "none"}


def the_cell(store, *tries):
    """Of a run with these attempts at one case."""
    run = a_run()
    (done,) = put(store, run, *(an_attempt(run=run.id, **{"index": at} | one) for at, one in enumerate(tries, 1)))
    (cell,) = cells_of(store, [done.pk])
    return cell


@pytest.mark.parametrize(
    ("attempt", "state", "passed", "failed"),
    [
        ({"outcome": "pass"}, "passed", True, False),
        ({"outcome": "pass", "execution": "limit"}, "passed", True, False),
        ({"outcome": "fail"}, "failed", False, True),
        ({"outcome": "partial", "reported": 0.4, "threshold": 0.5}, "partial", False, True),
        ({"outcome": "partial", "reported": 0.4}, "partial", False, False),
        ({"outcome": "partial", "reported": 0.6, "threshold": 0.5}, "partial", False, False),
        ({"execution": "limit", **NOT_RUN}, "limit", False, True),
        ({"execution": "error", **NOT_RUN}, "error", False, True),
        ({"execution": "error", "measurement": "scored", "outcome": "none"}, "error", False, True),
        ({"execution": "cancelled", "measurement": "scored", "outcome": "none"}, "cancelled", False, True),
        ({"execution": "completed", **NOT_RUN}, "unscored", False, False),
        ({"measurement": "unscored", "outcome": "none"}, "unscored", False, False),
        ({"execution": "cancelled", "measurement": "unscored", "outcome": "none"}, "unscored", False, False),
        ({"measurement": "error", "outcome": "none"}, "unscored", False, False),
        ({"execution": "missing", **NOT_RUN}, "missing", False, False),
        ({"execution": "unfinished", **NOT_RUN}, "missing", False, False),
        ({"execution": "skipped", **NOT_RUN}, "missing", False, False),
    ],
)
def test_a_case_that_was_tried_once_went_as_its_attempt(store, attempt, state, passed, failed):
    cell = the_cell(store, attempt)

    assert (cell.state, cell.passed, cell.failed) == (state, passed, failed)


def test_attempts_that_agree_are_counted(store):
    cell = the_cell(store, *[{"outcome": "pass"}] * 3)

    assert (cell.state, cell.attempts, cell.passes, cell.fails) == ("passed", 3, 3, 0)


def test_attempts_of_which_some_pass_are_mixed_and_neither_passed_nor_failed(store):
    cell = the_cell(store, {"outcome": "fail"}, {"outcome": "pass"})

    assert (cell.state, cell.attempts, cell.passes, cell.fails) == ("mixed", 2, 1, 1)
    assert not cell.passed
    assert not cell.failed


def test_an_attempt_without_a_verdict_takes_nothing_from_one_that_has_it(store):
    cell = the_cell(store, {"measurement": "unscored", "outcome": "none"}, {"outcome": "fail"})

    assert (cell.state, cell.failed) == ("failed", True)


def test_of_several_failures_the_one_that_was_measured_names_the_cell(store):
    assert the_cell(store, {"execution": "error", **NOT_RUN}, {"outcome": "fail"}).state == "failed"


def test_rows_of_one_attempt_that_disagree_contradict_each_other(store):
    run = a_run()
    first = an_attempt(run=run.id, outcome="pass")
    again = an_attempt(run=run.id, index=2, duplicate_of=first.id)
    (done,) = put(store, run, first, again)
    (cell,) = cells_of(store, [done.pk])

    assert (cell.state, cell.decided) == ("contradictory", False)


def test_what_a_later_session_replaced_and_what_is_part_of_an_attempt_are_not_looked_at(store):
    run = a_run()
    last = an_attempt(run=run.id, session=2, outcome="pass")
    replaced = an_attempt(run=run.id, session=1, superseded_by=last.id)
    part = an_attempt(run=run.id, session=2, parent=last.id, path="T0")
    (done,) = put(store, run, replaced, last, part)
    (cell,) = cells_of(store, [done.pk])

    assert (cell.state, cell.attempts) == ("passed", 1)


def collateral(attempt):
    key = FailureKey(exact="x", coarse="x")
    return Attribution(attempt=attempt.id, owner="collateral", confidence="certain", failure_key=key)


def test_a_failure_that_triage_calls_collateral_only_follows(store):
    run = a_run()
    root, follower = (an_attempt(run=run.id, case=f"suite/{name}", execution="error", **NOT_RUN) for name in "ab")
    (done,) = put(store, run, root, follower)
    put_owners(store, done.pk, [(1, collateral(follower), False)])

    assert {cell.case: cell.state for cell in cells_of(store, [done.pk])} == {"suite/a": "error", "suite/b": "follows"}


def test_each_run_has_its_own_cells(store):
    one, two = a_run(native_id="1"), a_run(native_id="2")
    (first,) = put(store, one, *(an_attempt(run=one.id, case=f"suite/{name}") for name in "ab"))
    (second,) = put(store, two, an_attempt(run=two.id, case="suite/a", outcome="pass", position=7))
    cells = {(cell.run, cell.case): cell for cell in cells_of(store, [first.pk, second.pk])}

    assert {key: cell.state for key, cell in cells.items()} == {
        (first.pk, "suite/a"): "failed",
        (first.pk, "suite/b"): "failed",
        (second.pk, "suite/a"): "passed",
    }
    assert cells[second.pk, "suite/a"].position == 7
