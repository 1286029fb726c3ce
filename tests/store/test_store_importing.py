"""An import is seen whole or not at all; what has grown is a new revision, what has not is nothing new."""

import os
import subprocess
import sys
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import event
from store_fixtures import batches, put, put_run, rows, sql, tables_with_rows

from errata.model import (
    Artefact,
    Case,
    Check,
    SourceRef,
    Step,
    Unreadable,
    Usage,
    UsageByRole,
    attempt_id,
)
from errata.model.attempt import as_number
from errata.model.obstacles import conduct_in
from errata.model.step import Actor
from errata.store.attempts import attempts_of, with_texts
from errata.store.database import open_store, this_process
from errata.store.importing import Importing
from errata.store.removal import collect_garbage
from errata.store.runs import all_runs, exclude, run_by_id, unreadables_of
from errata.testing import a_run, an_attempt
from record_strategies import attempts as any_attempts

RUN = a_run()


def attempts(count, run=RUN, **changes):
    return [an_attempt(run=run.id, case=f"suite/case-{number}", **changes) for number in range(count)]


# --- seen whole or not at all ---


def test_nothing_is_seen_before_the_import_is_finished(store):
    with Importing(store) as importing:
        for batch in batches(RUN, *attempts(3)):
            importing.add(batch)
            assert all_runs(store) == []
        importing.finish()

    assert [one.run for one in all_runs(store)] == [RUN]


def test_an_error_in_the_middle_leaves_nothing(store):
    with pytest.raises(KeyError), Importing(store) as importing:
        for batch in batches(RUN, *attempts(3)):
            importing.add(batch)
        raise KeyError

    assert tables_with_rows(store.path) == set()


def test_an_error_in_the_middle_leaves_the_earlier_revision(store):
    put(store, RUN, *attempts(2))

    with pytest.raises(KeyError), Importing(store) as importing:
        importing.add(batches(RUN, *attempts(5))[0])
        raise KeyError

    assert [one.counts.attempts for one in all_runs(store)] == [2]


KILLED = """
import os, sys
from errata.store.database import open_store
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.testing import a_run, an_attempt
with Importing(open_store(sys.argv[1])) as importing:
    run = a_run(native_id="killed")
    importing.add(next(seal(pack_items([run, an_attempt(run=run.id)]))))
    os.kill(os.getpid(), 9)
"""


def test_what_a_killed_import_left_is_not_seen_and_is_collected_by_the_next(store):
    killed = subprocess.run([sys.executable, "-c", KILLED, str(store.path)], check=False)
    assert killed.returncode == -9
    assert rows(store.path, "runs") == 1

    assert all_runs(store) == []
    put_run(store, "next")

    assert [one.run.native_id for one in all_runs(store)] == ["next"]
    assert rows(store.path, "runs") == 1


def left_behind(store, by, since=None):
    """An import that another process has begun."""
    with Importing(store) as importing:
        importing.add(batches(RUN, *attempts(1))[0])
    at = (since or datetime.now(UTC)).isoformat(timespec="seconds")
    sql(store.path, f"UPDATE runs SET importer = '{by}', imported_at = '{at}'")


def test_an_import_of_a_living_process_is_left_alone(store):
    left_behind(store, f"{this_process().rpartition(':')[0]}:{os.getppid()}")

    assert collect_garbage(store) == 0
    assert rows(store.path, "runs") == 1


def test_an_import_of_another_machine_is_given_up_after_days(store):
    left_behind(store, "elsewhere:1", datetime.now(UTC) - timedelta(days=3))

    assert collect_garbage(store) == 1
    assert tables_with_rows(store.path) == set()


def test_a_run_that_another_process_begins_under_a_freed_number_is_not_collected(store):
    """One process lists what is dead; before it deletes, another has done so and a third has begun an import."""
    put_run(store, "removed")
    sql(store.path, "UPDATE runs SET state = 'stale'")
    slow, fresh, begun = open_store(store.path), Importing(store), []

    with ExitStack() as open_import:

        def meanwhile(_):
            if not begun:
                begun.append(open_import.enter_context(fresh))
                fresh.add(batches(RUN, *attempts(3))[0])

        event.listen(slow.engine, "commit", meanwhile)
        collect_garbage(slow)
        fresh.add(batches(RUN)[-1])
        (done,) = fresh.finish()

    assert run_by_id(store, done.id).counts.attempts == 3


# --- unchanged, grown, revisions ---


def test_importing_the_same_again_changes_nothing(store):
    items = [RUN, *attempts(3), Unreadable(source="s", where="w", why="y")]
    (first,) = put(store, *items)

    (second,) = put(store, *items)

    assert (second.change, second.revision, second.pk) == ("unchanged", 1, first.pk)
    assert rows(store.path, "runs") == 1
    assert rows(store.path, "attempts") == 3


def test_a_run_that_has_grown_is_a_new_revision(store):
    done = [put(store, RUN, *attempts(count))[0] for count in (1, 2, 2, 5)]

    assert [one.change for one in done] == ["new", "grown", "unchanged", "grown"]
    assert [one.revision for one in done] == [1, 2, 2, 3]
    assert all_runs(store)[0].run.revision == 3
    assert rows(store.path, "attempts") == 5


CHANGES = {
    "another outcome": [RUN, *attempts(2, outcome="pass")],
    "another order": [RUN, *reversed(attempts(2))],
    "a step more": [RUN, *attempts(2, steps=(Step(index=0, actor=Actor(role="user"), text="hi"),))],
    "a file more": [RUN, *attempts(2, artefacts=(Artefact(role="log", path="a", text="b"),))],
    "a case described": [RUN, Case(run=RUN.id, suite="suite", native_id="case-0", input="x"), *attempts(2)],
    "an unreadable line": [RUN, *attempts(2), Unreadable(source="s", where="w", why="y")],
    "a context file": [
        msgspec.structs.replace(RUN, context=(Artefact(role="context", path="p", text="t"),)),
        *attempts(2),
    ],
}


@pytest.mark.parametrize("items", CHANGES.values(), ids=CHANGES.keys())
def test_whatever_changes_in_a_log_is_a_new_revision(store, items):
    put(store, RUN, *attempts(2))

    assert put(store, *items)[0].change == "grown"
    assert put(store, *items)[0].change == "unchanged"


def test_a_run_that_is_yielded_again_at_the_end_replaces_the_first(store):
    late = msgspec.structs.replace(RUN, name="known at the end", expected_cases=2)

    put(store, RUN, *attempts(2), late)

    assert [one.run for one in all_runs(store)] == [late]


def test_an_exclusion_survives_a_new_revision(store):
    put(store, RUN, *attempts(1))
    exclude(store, RUN.id, reason="wrong prompt", author="me")

    put(store, RUN, *attempts(2))

    excluded = all_runs(store)[0].run.excluded
    assert (excluded.reason, excluded.by) == ("wrong prompt", "me")


# --- several runs ---


def test_runs_whose_rows_are_mixed_are_kept_apart(store):
    one, other = a_run(native_id="one"), a_run(native_id="other")
    mixed = [item for pair in zip(attempts(5, one), attempts(5, other), strict=True) for item in pair]

    put(store, one, other, *mixed)

    for run in (one, other):
        assert list(attempts_of(store, run_by_id(store, run.id).pk)) == attempts(5, run)


def test_an_unreadable_line_belongs_to_the_run_it_names(store):
    one, other = a_run(native_id="one"), a_run(native_id="other")
    bad = Unreadable(source="s", where="line 1", why="y", run=one.id)

    put(store, one, *attempts(1, one), other, *attempts(1, other), bad)

    assert unreadables_of(store, run_by_id(store, one.id).pk) == [bad]
    assert unreadables_of(store, run_by_id(store, other.id).pk) == []


def test_an_unreadable_line_that_may_belong_to_any_run_is_noted_in_each(store):
    one, other = a_run(native_id="one"), a_run(native_id="other")

    put(store, Unreadable(source="s", where="line 1", why="y"), one, *attempts(1, one), other, *attempts(1, other))

    for run in (one, other):
        (result,) = unreadables_of(store, run_by_id(store, run.id).pk)
        assert result.why == "y; it may belong to any of 2 runs"


def test_an_attempt_of_a_run_that_nobody_describes_is_unreadable(store):
    orphan = an_attempt(run="f" * 16, ref=SourceRef(file="a.jsonl", line=7))

    put(store, RUN, *attempts(1), orphan)

    (result,) = unreadables_of(store, run_by_id(store, RUN.id).pk)
    assert result.where == "a.jsonl:7"


# --- what comes out is what went in ---


def test_attempts_and_transcripts_of_many_batches_come_back_as_they_were(store):
    steps = tuple(Step(index=number, actor=Actor(role="user"), text=f"{number}" * 500) for number in range(5))
    many = attempts(11_000, steps=steps[:1]) + attempts(300, index=2, steps=steps)

    put(store, RUN, *many)

    assert list(attempts_of(store, run_by_id(store, RUN.id).pk, steps=True)) == many


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(any_attempts, max_size=4))
def test_any_attempts_come_back_as_they_were(store, any_):
    run = a_run(native_id=f"any-{len(all_runs(store))}")
    given_ = [msgspec.structs.replace(one, run=run.id, id=f"{number}") for number, one in enumerate(any_)]

    put(store, run, *given_)

    stored = run_by_id(store, run.id)
    came_back = [with_texts(store, one) for one in attempts_of(store, stored.pk, steps=True)]
    # beside a number on a scale, 1 and 0 are numbers, too
    if any(one.outcome == "number" and one.counted for one in given_):
        judged = ("pass", "fail", "partial")
        given_ = [as_number(one) if one.outcome in judged and one.measurement == "scored" else one for one in given_]
    # what the steps show is counted on the way in
    assert came_back == [msgspec.structs.replace(one, conduct=conduct_in(one)) for one in given_]
    assert stored.counts.failures == sum(one.is_failure for one in given_)
    assert stored.counts.counted == sum(one.counted for one in given_)


def test_a_folder_name_in_another_encoding_is_no_crash(store):
    run = a_run(origin="/logs/run-\udcff")

    put(store, run, *attempts(1, run))

    assert len(all_runs(store)) == 1


def test_a_case_name_that_no_encoding_can_hold_is_no_crash(store):
    put(store, RUN, an_attempt(run=RUN.id, case="suite/\ud800"))

    assert all_runs(store)[0].counts.attempts == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"usage": UsageByRole(subject=Usage(total=2**63))},
        {"usage": UsageByRole(subject=Usage(input=2**62, output=2**62))},
        {"index": 2**63},
        {"position": 2**64},
    ],
    ids=["tokens", "sum of tokens", "index", "position"],
)
def test_a_huge_number_is_no_crash(store, changes):
    put(store, RUN, an_attempt(run=RUN.id, **changes))

    assert all_runs(store)[0].counts.attempts == 1


# --- counts kept at import ---


def test_counts_are_of_the_counted_attempts(store):
    child = an_attempt(run=RUN.id, case="suite/case-0", path="T0", parent=attempt_id(RUN.id, "suite/case-0"))
    old = an_attempt(run=RUN.id, case="suite/case-1", session=1, superseded_by=attempt_id(RUN.id, "suite/case-1"))
    passed = an_attempt(run=RUN.id, case="suite/passed", outcome="pass")
    crashed = an_attempt(
        run=RUN.id, case="suite/passed", index=2, execution="error", measurement="not_run", outcome="none"
    )

    put(store, RUN, *attempts(2), child, old, passed, crashed)

    counts = all_runs(store)[0].counts
    assert (counts.attempts, counts.counted, counts.cases, counts.failures) == (6, 4, 3, 3)
    assert counts.executions == {"completed": 3, "error": 1}
    assert counts.measurements == {"scored": 3, "not_run": 1}
    assert counts.outcomes == {"fail": 2, "pass": 1, "none": 1}


def test_unknown_costs_are_not_counted_as_nothing(store):
    spent = UsageByRole(subject=Usage(cost=0.5, input=10, output=5))

    put(store, RUN, *attempts(2, usage=spent), *attempts(1, index=2))

    counts = all_runs(store)[0].counts
    assert (counts.cost, counts.cost_known, counts.tokens) == (1.0, 2, 30)


def test_checks_are_counted_by_name_and_status(store):
    checks = (Check(name="tsc", status="pass"), Check(name="tests", status="fail"))

    put(
        store,
        RUN,
        *attempts(600, checks=checks),
        *(an_attempt(run=RUN.id, index=i, checks=(Check(name="tsc", status="fail"),)) for i in range(1, 601)),
    )

    counts = all_runs(store)[0].counts
    assert counts.checks == {"tsc": {"pass": 600, "fail": 600}, "tests": {"fail": 600}}
    assert counts.failed_checks == {"tsc": 600, "tests": 600}


def test_a_check_that_two_judges_fail_is_failed_in_one_attempt(store):
    checks = (Check(name="tone", judge="a", status="fail"), Check(name="tone", judge="b", status="fail"))

    put(store, RUN, *attempts(1, checks=checks))

    assert all_runs(store)[0].counts.failed_checks == {"tone": 1}


# --- several processes ---

IMPORTER = """
import sys
from errata.store.database import open_store
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.testing import a_run, an_attempt
store = open_store(sys.argv[1])
for number in range(5):
    run = a_run(native_id=f"{sys.argv[2]}-{number}")
    items = [run, *(an_attempt(run=run.id, index=index) for index in range(1, 3001))]
    with Importing(store) as importing:
        for batch in seal(pack_items(items)):
            importing.add(batch)
        importing.finish()
"""

READER = """
import sys
from errata.store.attempts import attempts_of
from errata.store.database import open_store
from errata.store.runs import all_runs
store = open_store(sys.argv[1])
seen = 0
while seen < int(sys.argv[2]):
    runs = all_runs(store)
    assert len(runs) >= seen, "a run has gone"
    seen = len(runs)
    for one in runs[:1]:
        assert one.counts.attempts == 3000
        assert sum(1 for _ in attempts_of(store, one.pk)) == 3000
"""


def test_two_processes_import_into_one_store_while_a_third_reads(store):
    started = [
        subprocess.Popen([sys.executable, "-c", IMPORTER, str(store.path), "left"]),
        subprocess.Popen([sys.executable, "-c", IMPORTER, str(store.path), "right"]),
        subprocess.Popen([sys.executable, "-c", READER, str(store.path), "10"]),
    ]

    assert [one.wait(timeout=60) for one in started] == [0, 0, 0]
    assert len(all_runs(store)) == 10
    assert {one.counts.attempts for one in all_runs(store)} == {3000}


def test_two_imports_of_one_run_at_once_leave_one(store):
    with Importing(store) as slow, Importing(open_store(store.path)) as fast:
        for batch in batches(RUN, *attempts(2)):
            slow.add(batch)
            fast.add(batch)
        done = [fast.finish()[0], slow.finish()[0]]

    assert [one.change for one in done] == ["new", "unchanged"]
    assert len(all_runs(store)) == 1
    assert rows(store.path, "attempts") == 2


def test_a_reader_keeps_its_view_while_the_run_is_replaced(store):
    put(store, RUN, *attempts(2))
    reading = attempts_of(store, run_by_id(store, RUN.id).pk)
    next(reading)

    put(open_store(store.path), RUN, *attempts(9, outcome="pass"))

    assert [one.outcome for one in reading] == ["fail"]
