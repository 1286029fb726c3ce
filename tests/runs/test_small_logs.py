"""Very many small logs are read by copies of the program: the store is the same, and every way they can end is told."""

import os
import signal
import sys
from pathlib import Path

import pytest

from errata.errors import SourceError
from errata.runs import reader_processes, small_logs
from errata.runs.importing import PathSummary, import_orders
from errata.runs.log_search import Order, look_for
from errata.store.attempts import attempts_of
from errata.store.database import open_store
from errata.store.runs import all_runs, unreadables_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")

REPORT = '<testsuite name="s{number}" tests="1"><testcase classname="c" name="t{number}">{body}</testcase></testsuite>'


@pytest.fixture
def reports(tmp_path) -> Path:
    """One of them is damaged in the middle, one is not small."""
    folder = tmp_path / "reports"
    folder.mkdir()
    for number in range(11):
        body = '<failure message="no">no</failure>' if number % 3 == 0 else ""
        text = REPORT.format(number=number, body=body)
        if number == 4:
            text = text.replace("</testsuite>", "<testcase name=")
        if number == 7:
            text = text.replace("<testcase", f"<!-- {'x' * small_logs.MOST_SIZE} --><testcase", 1)
        (folder / f"TEST-{number:02}.xml").write_text(text)
    return folder


@pytest.fixture
def shared_out(monkeypatch):
    """Few logs are many, and copies of this process may be made."""
    monkeypatch.setattr(small_logs, "MANY", 3)
    monkeypatch.setattr(small_logs, "GROUP", 2)
    monkeypatch.setattr(reader_processes, "can_fork", lambda: True)
    monkeypatch.setattr(reader_processes, "readers_of_lines", lambda: 3)


def import_shared(orders: list[Order], to: Path) -> list[PathSummary]:
    with reader_processes.started_before((), fork=True):
        reader_processes.begin(orders)
        return import_orders(orders, open_store(to))


def content_of(store: Path) -> list[object]:
    opened = open_store(store)
    return [
        (one.run, one.digest, one.counts, list(attempts_of(opened, one.pk, steps=True)), unreadables_of(opened, one.pk))
        for one in all_runs(opened)
    ]


def test_the_store_is_the_same_as_without_copies(reports, tmp_path, shared_out):
    orders = look_for([reports])
    alone = import_orders(orders, open_store(tmp_path / "alone.db"))
    shared = import_shared(orders, tmp_path / "shared.db")

    assert len(all_runs(open_store(tmp_path / "alone.db"))) == 11
    assert content_of(tmp_path / "shared.db") == content_of(tmp_path / "alone.db")
    assert shared == alone
    assert sum(one.unreadable for one in shared) == 1


def test_a_copy_reads_small_files_and_leaves_others_alone(reports, shared_out):
    readers = small_logs.SmallLogReaders(look_for([reports]), 2)
    try:
        made = [None if (batches := readers.batches_of(place)) is None else len(list(batches)) for place in range(11)]
    finally:
        readers.end()

    assert [place for place, count in enumerate(made) if count is None] == [7]


def test_an_error_arrives_where_its_log_has_its_turn(reports, tmp_path, shared_out, monkeypatch):
    orders = look_for([reports])
    real = small_logs.found_by

    def refuse(order):
        if order.path.endswith("TEST-05.xml"):
            raise SourceError("not this one", hint="another one")
        return real(order)

    monkeypatch.setattr(small_logs, "found_by", refuse)
    with pytest.raises(SourceError, match="not this one") as refused:
        import_shared(orders, tmp_path / "store.db")

    assert refused.value.hint == "another one"
    # what was read before a wrong path is kept
    assert {stored.run.suite for stored in all_runs(open_store(tmp_path / "store.db"))} == {f"s{n}" for n in range(5)}


def test_a_copy_that_dies_ends_the_import_with_a_message(reports, tmp_path, shared_out, monkeypatch):
    def die(_):
        os.kill(os.getpid(), signal.SIGKILL)

    orders = look_for([reports])
    monkeypatch.setattr(small_logs, "found_by", die)
    with pytest.raises(SourceError, match="ended early"):
        import_shared(orders, tmp_path / "store.db")

    assert all_runs(open_store(tmp_path / "store.db")) == []


def test_copies_end_with_the_command(reports, shared_out, monkeypatch):
    with reader_processes.started_before((), fork=True):
        orders = look_for([reports])
        reader_processes.begin(orders)
        (pids,) = [[process.pid for process in small_logs.begun(orders)._processes]]

    assert len(pids) == 3
    assert small_logs.begun(orders) is None
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_few_logs_and_mapped_ones_are_read_by_the_program_itself(reports, shared_out, monkeypatch):
    orders = look_for([reports])
    small_logs.begin([Order(order.path, "generic", "map.toml") for order in orders], 2)
    monkeypatch.setattr(small_logs, "MANY", 12)
    small_logs.begin(orders, 2)

    assert small_logs._begun == []
