"""Another process collects the failures of large runs while they are grouped; the groups are the same as without."""

import sys
from pathlib import Path

import pytest

from errata.model import Check, Subject
from errata.runs import bucketing, failure_processes
from errata.runs.bucketing import ensure_all_buckets
from errata.runs.view import RunView
from errata.store.buckets import bucket_of_each, buckets_of
from errata.store.database import open_store
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import all_runs
from errata.testing import a_run, an_attempt

RUNS, CASES = 3, 12
TEXTS = ("connection to host {} reset by peer", "the answer names {} in place of the capital", "missing field `total`")


@pytest.fixture
def collected_here(monkeypatch):
    """The runs whose failures this process has collected; what buckets share is read once more, without logs."""
    made = []
    real = bucketing.failures_to_group

    def collect(view, *given, logs=True):
        made.extend([view.run.native_id] if logs else [])
        return real(view, *given, logs=logs)

    monkeypatch.setattr(bucketing, "failures_to_group", collect)
    return made


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(failure_processes, "PARALLEL_FROM", RUNS * CASES // 2)
    monkeypatch.setattr(failure_processes, "FRAME", 5)
    monkeypatch.setattr(failure_processes, "cores", lambda: 2)


def a_store(path: Path):
    store = open_store(path)
    for number in range(RUNS):
        run = a_run(native_id=f"run-{number}", subject=Subject(model=f"model-{number}"))
        failures = [
            an_attempt(
                run=run.id,
                case=f"suite/{case}",
                outcome="fail",
                checks=(
                    Check(
                        name="answer", status="fail", explanation=TEXTS[(case + number) % len(TEXTS)].format(case * 100)
                    ),
                ),
            )
            for case in range(CASES)
        ]
        with Importing(store) as importing:
            for batch in seal(pack_items([run, *failures])):
                importing.add(batch)
            importing.finish()
    return store


def groups(store):
    """Each bucket without its time, and where each failure lies."""
    runs = all_runs(store)
    ensure_all_buckets([RunView(stored, store) for stored in runs], store)
    return buckets_of(store), [bucket_of_each(store, stored.run.id) for stored in runs]


def test_the_groups_are_those_of_one_process(tmp_path, two_cores, collected_here, monkeypatch):
    shared = groups(a_store(tmp_path / "shared.db"))
    assert not collected_here

    monkeypatch.setattr(failure_processes, "cores", lambda: 1)
    alone = groups(a_store(tmp_path / "alone.db"))

    assert len(collected_here) == RUNS
    assert shared == alone
    assert len(shared[0]) > 1


def test_equal_parameters_are_one_record(tmp_path, two_cores):
    store = a_store(tmp_path / "store.db")
    views = [RunView(stored, store) for stored in all_runs(store)]

    for failures in bucketing.failures_of_each(views, logs=True):
        assert len({id(failure.parameters) for failure in failures}) == 1


def test_few_failures_start_no_process(tmp_path, two_cores, collected_here, monkeypatch):
    monkeypatch.setattr(failure_processes, "PARALLEL_FROM", 1_000)
    monkeypatch.setattr(failure_processes, "start_process", pytest.fail)

    groups(a_store(tmp_path / "store.db"))

    assert len(collected_here) == RUNS


def test_what_a_process_that_ended_has_not_collected_is_collected_here(
    tmp_path, two_cores, collected_here, monkeypatch
):
    store = a_store(tmp_path / "store.db")
    monkeypatch.setattr(sys, "executable", "/bin/false")

    assert all(len(places) == CASES for places in groups(store)[1])
    assert len(collected_here) == RUNS


def test_a_frame_that_was_cut_off_is_none(tmp_path):
    whole = tmp_path / "answer"
    whole.write_bytes((5).to_bytes(4, "big") + b"abc")

    with whole.open("rb") as answer:
        assert failure_processes._frame(answer) is None
