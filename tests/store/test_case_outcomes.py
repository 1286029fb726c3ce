"""How the same cases went in several runs."""

from store_fixtures import put

from errata.model import Case
from errata.store.case_outcomes import (
    FEW,
    CaseOutcome,
    PassedIn,
    case_outcomes,
    failed_tasks,
    failures_on,
    passes_of_tasks,
)
from errata.store.case_versions import tasks_apart
from errata.testing import a_run, an_attempt


def a_case(run, name, task="What is it?"):
    return Case(run=run.id, suite="suite", native_id=name, input=task)


def test_each_case_is_told_for_each_run_those_of_one_case_together(store):
    first, second = a_run(native_id="1"), a_run(native_id="2")
    case = a_case(first, "a")
    (one,) = put(store, first, case, *(an_attempt(run=first.id, case=f"suite/{name}") for name in "ab"))
    (two,) = put(store, second, an_attempt(run=second.id, case="suite/a", outcome="pass"))

    assert list(case_outcomes(store, [one.pk, two.pk])) == [
        CaseOutcome("suite/a", one.pk, False, True, "", True),
        CaseOutcome("suite/a", two.pk, True, False, "", False),
        CaseOutcome("suite/b", one.pk, False, True, "", False),
    ]


def test_a_case_has_passed_where_one_of_its_attempts_has(store):
    run = a_run()
    (done,) = put(
        store, run, *(an_attempt(run=run.id, index=at, outcome=how) for at, how in ((1, "fail"), (2, "pass")))
    )
    (found,) = case_outcomes(store, [done.pk])

    assert (found.passed, found.failed) == (True, True)


def test_what_did_not_run_to_its_end_or_was_not_measured_has_neither_passed_nor_failed(store):
    run = a_run()
    broken = [
        an_attempt(run=run.id, index=1, execution="limit"),
        an_attempt(run=run.id, index=2, measurement="error", outcome="none"),
    ]
    (done,) = put(store, run, *broken)
    (found,) = case_outcomes(store, [done.pk])

    assert (found.passed, found.failed) == (False, False)


def test_failures_on_few_and_on_many_cases_are_found_alike(store):
    run = a_run()
    names = [f"suite/{number:03}" for number in range(2 * FEW)]
    (done,) = put(store, run, *(an_attempt(run=run.id, case=name) for name in names))

    for keys in (frozenset(names[:3]), frozenset(names[: FEW + 1])):
        assert {attempt.case for attempt in failures_on(store, done.pk, keys)} == keys


def test_who_passed_a_task_is_known_for_all_runs_by_one_query(store):
    first, second = a_run(native_id="1"), a_run(native_id="2")
    (one,) = put(
        store,
        first,
        a_case(first, "edited"),
        *(an_attempt(run=first.id, case=f"suite/{name}") for name in ("both", "edited", "alone")),
    )
    (two,) = put(
        store,
        second,
        a_case(second, "edited", task="What else?"),
        *(an_attempt(run=second.id, case=f"suite/{name}", outcome="pass") for name in ("both", "edited")),
    )
    tasks = tasks_apart(store, (one.pk, two.pk))
    passes = passes_of_tasks(store, (one.pk, two.pk), tasks)
    failed = {task[0]: passes[hash(task)] for task in failed_tasks(store, one.pk, tasks)}

    assert failed == {
        "suite/both": PassedIn(first=two.pk, only=None),
        "suite/edited": PassedIn(first=None, only=one.pk),
        "suite/alone": PassedIn(first=None, only=one.pk),
    }
