"""Forgetting a run: its facts, its files, what was said of it, and its space."""

import sqlite3
from contextlib import closing

import pytest
from store_fixtures import put, put_run, quick_to_give_up, rows, tables_with_rows

from errata.model import Artefact, Case, Check, Finding, Unreadable
from errata.store.attempts import attempt_by_id
from errata.store.database import open_store
from errata.store.removal import free_space, remove_run
from errata.store.runs import all_runs, exclude, keep_findings, run_by_id
from errata.testing import a_run, an_attempt


def a_full_run(store, native_id, text="a shared file"):
    run = a_run(native_id=native_id, context=(Artefact(role="context", path="p", text=text),))
    files = (Artefact(role="grader", path="g.py", text=text),)
    attempt = an_attempt(run=run.id, artefacts=files, checks=(Check(name="c", status="fail"),))
    put(
        store,
        run,
        Case(run=run.id, suite="suite", native_id="case-1", artefacts=files),
        attempt,
        Unreadable(source="s", where="w", why="y"),
    )
    keep_findings(store, all_runs(store)[0], [Finding(run=run.id, name="n", severity="info", text="t")])
    return run, attempt


def test_nothing_is_left_of_a_run_that_was_removed(store):
    run, _ = a_full_run(store, "run-1")
    assert len(tables_with_rows(store.path)) == 9

    remove_run(store, run.id)

    assert all_runs(store) == []
    assert tables_with_rows(store.path) == set()


def test_a_shared_file_stays_until_the_last_run_with_it_is_removed(store):
    (one, _), (other, attempt) = a_full_run(store, "run-1"), a_full_run(store, "run-2")

    remove_run(store, one.id)
    assert attempt_by_id(store, attempt.id) == attempt
    remove_run(store, other.id)

    assert rows(store.path, "blobs") == 0


def test_the_files_of_a_replaced_revision_are_freed(store):
    a_full_run(store, "run-1", "old")
    a_full_run(store, "run-1", "new")

    assert rows(store.path, "blobs") == 1


def test_an_exclusion_is_forgotten_with_its_run(store):
    done = put_run(store)
    exclude(store, done.id, reason="r", author="me")

    remove_run(store, done.id)
    again = put_run(store)

    assert run_by_id(store, again.id).run.excluded is None
    assert (again.change, again.revision) == ("new", 1)


@pytest.mark.sqlite
def test_the_space_of_a_removed_run_goes_back_to_the_disk(store):
    done = put_run(store, cases=[f"case-{number}-{number * 7919 % 10007}" for number in range(20_000)])
    free_space(store)
    before = store.path.stat().st_size

    remove_run(store, done.id)

    assert free_space(store)
    assert store.path.stat().st_size < before / 2


@pytest.mark.sqlite
def test_space_is_not_freed_while_another_process_writes(store, monkeypatch):
    quick_to_give_up(monkeypatch)
    put_run(store)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")

        assert free_space(open_store(store.path)) is False
