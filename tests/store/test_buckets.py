"""Buckets as they are kept: where failures lie, the table over them, and changes that are whole or not at all."""

import subprocess
import sys

import pytest
from store_fixtures import put_run, rows

from errata.model import Bucket, BucketVersion, Location, Placement
from errata.store.bucket_changes import Signature, bucket_transaction, events_of, merges_in
from errata.store.buckets import bucket_table, buckets_of, placements_of_run
from errata.store.removal import remove_run
from errata.store.runs import exclude

DISK = Bucket(id="d" * 16, suite="suite", slug="disk-full", title="The disk is full", keys=("k",))
LOCK = Bucket(id="e" * 16, suite="suite", slug="locked", title="Locked")
MERGE = Signature(what="merge", by="ana", at="2026-03-01T10:00:00Z")


def place(store, run, *cases, bucket=DISK, **facts):
    members = [
        Placement(run=run.id, attempt=f"{run.id}:suite/{case}#1", bucket=bucket.id, case=f"suite/{case}", **facts)
        for case in cases
    ]
    with bucket_transaction(store) as transaction:
        transaction.write(bucket)
        transaction.replace_members(run.id, members)


def test_a_failure_lies_in_one_bucket(store):
    run = put_run(store)
    place(store, run, "a")

    place(store, run, "a", bucket=LOCK)

    assert {one.bucket for one in placements_of_run(store, run.id).values()} == {LOCK.id}


@pytest.mark.req("J-14", "E-36")
def test_followers_are_counted_apart_from_mistakes(store):
    run = put_run(store)
    place(store, run, "a", owner="harness")
    place(store, run, "b", "c", owner="collateral", follows=True)

    (one,) = bucket_table(store).listed

    assert (one.rows, one.mistakes, one.followers, one.cases, one.owner) == (3, 1, 2, 3, "harness")


def test_rows_cases_runs_and_models_are_counted_over_runs(store):
    first, second = put_run(store, "run-1"), put_run(store, "run-2")
    place(store, first, "a", "b")
    place(store, second, "a", role="reviewed")

    (one,) = bucket_table(store).listed

    assert (one.rows, one.cases, one.read, one.elsewhere) == (3, 2, 1, 0)
    assert set(one.runs) == {first.id, second.id}


def test_a_table_of_some_runs_tells_what_lies_elsewhere(store):
    first, second = put_run(store, "run-1"), put_run(store, "run-2")
    place(store, first, "a", "b")
    place(store, second, "a")

    (one,) = bucket_table(store, run_ids=[second.id]).listed

    assert (one.rows, one.elsewhere) == (1, 2)


def test_an_excluded_run_is_in_the_table_only_where_it_is_named(store):
    first, second = put_run(store, "run-1"), put_run(store, "run-2")
    place(store, first, "a", "b")
    place(store, second, "a")
    exclude(store, second.id, reason="r", author="me")

    assert [one.rows for one in bucket_table(store).listed] == [2]
    assert [one.rows for one in bucket_table(store, run_ids=[second.id]).listed] == [1]


def test_failures_like_no_other_are_counted_and_listed_only_where_asked_for(store):
    run = put_run(store)
    place(store, run, "a")

    table = bucket_table(store)

    assert (table.listed, table.alone, table.buckets) == ((), 1, 0)
    assert [one.bucket.slug for one in bucket_table(store, alone=True).listed] == ["disk-full"]


def merged(store, run, *, fails=False):
    place(store, run, "a", bucket=DISK)
    place(store, run, "b", bucket=LOCK)
    with bucket_transaction(store) as transaction:
        transaction.move(transaction.members(LOCK.id), lambda _: Location(DISK.id, "ana", MERGE.at))
        transaction.write(LOCK, gone=True)
        transaction.add_event(MERGE, DISK.id, transaction.change)
        if fails:
            raise KeyboardInterrupt


def test_an_event_holds_what_was_before_and_after(store):
    run = put_run(store)
    merged(store, run)

    (event,) = events_of(store, "suite")

    (move,) = event.change.moves
    assert (event.what, event.by, event.suite, event.undone) == ("merge", "ana", "suite", False)
    assert (move.before, move.after) == (Location(LOCK.id), Location(DISK.id, "ana", MERGE.at))
    assert event.change.versions == ((BucketVersion(LOCK), BucketVersion(LOCK, gone=True)),)
    assert merges_in([event]) == {LOCK.id: DISK.id}


def test_what_breaks_off_leaves_nothing(store):
    run = put_run(store)
    with pytest.raises(KeyboardInterrupt):
        merged(store, run, fails=True)

    assert events_of(store) == []
    assert {one.slug for one in buckets_of(store)} == {"disk-full", "locked"}
    assert {one.bucket for one in placements_of_run(store, run.id).values()} == {DISK.id, LOCK.id}


def test_a_process_that_is_killed_in_the_middle_leaves_nothing(store):
    run = put_run(store)
    place(store, run, "b", bucket=LOCK)
    place(store, run, "a", bucket=DISK)
    script = (
        "import os, sys\n"
        "from errata.model import Location\nfrom errata.store.bucket_changes import bucket_transaction\n"
        "from errata.store.database import open_store\n"
        "with bucket_transaction(open_store(sys.argv[1])) as transaction:\n"
        f"    transaction.move(transaction.members('{LOCK.id}'), lambda _: Location('{DISK.id}', 'ana', 'now'))\n"
        f"    transaction.write(transaction.version('{LOCK.id}').bucket, gone=True)\n"
        "    os.kill(os.getpid(), 9)\n"
    )

    died = subprocess.run([sys.executable, "-c", script, str(store.path)], check=False)

    assert died.returncode == -9
    assert {one.slug for one in buckets_of(store)} == {"disk-full", "locked"}
    assert len({one.bucket for one in placements_of_run(store, run.id).values()}) == 2


def test_a_forgotten_run_takes_its_members_and_the_buckets_that_only_it_had(store):
    first, second = put_run(store, "run-1"), put_run(store, "run-2")
    place(store, first, "a")
    place(store, second, "a", bucket=LOCK)

    remove_run(store, first.id)

    assert rows(store.path, "bucket_members") == 1
    assert [one.slug for one in buckets_of(store, gone=True)] == ["locked"]


def test_a_bucket_that_a_person_touched_outlives_its_runs(store):
    run = put_run(store)
    merged(store, run)

    remove_run(store, run.id)

    assert [one.slug for one in buckets_of(store)] == ["disk-full"]
    assert len(events_of(store)) == 1
