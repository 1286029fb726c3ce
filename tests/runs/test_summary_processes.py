"""Several processes summarise the runs of a first comparison; the comparison is the same as with one."""

import sys
from pathlib import Path

import pytest

from errata.compare.comparison import ComparisonOptions
from errata.model import Subject
from errata.runs import summary_processes
from errata.runs.runset import RunSet
from errata.runs.view import RunView
from errata.store.database import open_store
from errata.store.importing import Importing
from errata.store.packing import pack_items, seal
from errata.store.runs import all_runs
from errata.testing import a_run, an_attempt

CASES = 20


@pytest.fixture
def readings(monkeypatch):
    """The runs whose attempts this process has read."""
    made = []
    real = RunView.attempts_to_examine
    monkeypatch.setattr(
        RunView, "attempts_to_examine", lambda view, *given: made.append(view.run.native_id) or real(view, *given)
    )
    return made


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(summary_processes, "PARALLEL_FROM", 3 * CASES)
    monkeypatch.setattr(summary_processes, "START", 0)
    monkeypatch.setattr(summary_processes, "cores", lambda: 2)


def a_store(path: Path):
    store = open_store(path)
    for number in range(3):
        run = a_run(native_id=f"run-{number}", subject=Subject(model=f"model-{number}"))
        tries = [
            an_attempt(run=run.id, case=f"suite/{case}", index=index, outcome="fail" if case % 5 == number else "pass")
            for case in range(CASES)
            for index in (1, 2)
        ]
        with Importing(store) as importing:
            for batch in seal(pack_items([run, *tries])):
                importing.add(batch)
            importing.finish()
    return store


def comparison(store):
    heard = []
    result = RunSet.of(all_runs(store), store).compare(ComparisonOptions(), on_attempts=heard.append)
    assert sum(heard) == sum(stored.counts.attempts for stored in all_runs(store))
    return result


def test_the_comparison_is_that_of_one_process(tmp_path, two_cores, readings, monkeypatch):
    shared = comparison(a_store(tmp_path / "shared.db"))
    assert 0 < len(readings) < 3

    monkeypatch.setattr(summary_processes, "cores", lambda: 1)
    readings.clear()
    alone = comparison(a_store(tmp_path / "alone.db"))

    assert len(readings) == 3
    assert [run.scores for run in shared.runs] == [run.scores for run in alone.runs]
    assert shared.matrix.rows == alone.matrix.rows


def test_a_second_comparison_starts_no_process(tmp_path, two_cores, readings, monkeypatch):
    store = a_store(tmp_path / "store.db")
    first = comparison(store)
    readings.clear()
    monkeypatch.setattr(summary_processes, "SummaryProcess", pytest.fail)

    assert comparison(store) == first
    assert not readings


def test_few_attempts_start_no_process(tmp_path, two_cores, readings, monkeypatch):
    monkeypatch.setattr(summary_processes, "PARALLEL_FROM", 1_000)
    monkeypatch.setattr(summary_processes, "SummaryProcess", pytest.fail)

    comparison(a_store(tmp_path / "store.db"))

    assert len(readings) == 3


def test_what_a_process_that_ended_has_not_done_is_done_here(tmp_path, two_cores, readings, monkeypatch):
    store = a_store(tmp_path / "store.db")
    monkeypatch.setattr(sys, "executable", "/bin/false")

    assert len(comparison(store).runs) == 3
    assert len(readings) == 3
