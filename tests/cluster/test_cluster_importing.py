"""Workers read, one process writes: the store is the same as without a cluster, whichever worker dies."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.length import every

from cluster.store_content import content_of
from cluster.workers_that_die import DyingWorkers
from errata.cluster import tasks
from errata.cluster.importing import import_on_workers
from errata.cluster.workers import MOST_TRIES
from errata.errors import ClusterError, SettingsError, SourceError
from errata.runs.importing import import_paths
from errata.runs.log_search import Order, look_for
from errata.store.database import open_store
from errata.store.runs import all_runs
from suite_of_runs import write_logs
from terminal import FIXTURES

REAL = (
    FIXTURES / "convex_evals" / "run_a" / "data" / "run-a",
    FIXTURES / "conversation_bench" / "comparison" / "data",
    FIXTURES / "scylla" / "batch-cascade" / "data",
)


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    letters = ["+-=x", "--+x", "+++-", "x--=", "==++"]
    outcomes = {f"model-{number:02}": letters[number % 5] for number in range(20)}
    return write_logs(tmp_path_factory.mktemp("logs"), outcomes)


@pytest.fixture(scope="module")
def alone(suite, tmp_path_factory):
    """The same logs, imported by one process."""
    folder = tmp_path_factory.mktemp("alone")
    store = open_store(folder / "errata.db")
    import_paths([*REAL, *sorted(suite.iterdir())], store)
    return content_of(store, folder / "tables")


def imported(suite, folder, workers):
    store = open_store(folder / "errata.db")
    import_on_workers(workers, look_for([*REAL, *sorted(suite.iterdir())]), store)
    return content_of(store, folder / "tables")


@pytest.mark.parametrize("slots", every(2, [3, 1]))
def test_workers_give_the_same_store_as_one_process(suite, alone, slots, tmp_path):
    workers = DyingWorkers(slots=slots)

    assert imported(suite, tmp_path, workers) == alone
    assert len(workers.started) > slots


@given(deaths=st.sets(st.tuples(st.integers(0, 8), st.integers(0, 2)), max_size=3))
def test_a_lost_worker_loses_nothing(suite, deaths, tmp_path_factory):
    paths = sorted(suite.iterdir())[:8]
    stores = [open_store(tmp_path_factory.mktemp("lost") / "errata.db") for _ in range(2)]
    import_paths(paths, stores[0])

    import_on_workers(DyingWorkers(lambda *when: when in deaths), look_for(paths), stores[1])

    alone, with_workers = ([(one.run, one.pk, one.digest, one.counts) for one in all_runs(store)] for store in stores)
    assert with_workers == alone


def test_a_worker_lost_in_the_middle_of_a_log_is_replaced_and_skips_what_was_taken(store, monkeypatch):
    monkeypatch.setattr(tasks, "MESSAGE_BYTES", 1)
    workers = DyingWorkers(lambda start, message: start == 0 and message == 2, slots=1)

    [summary] = import_on_workers(workers, look_for([REAL[0]]), store)

    assert (summary.runs[0].change, summary.attempts, len(workers.started)) == ("new", 25, 2)


def test_a_log_that_changes_between_two_tries_is_refused_and_leaves_nothing(store, suite, tmp_path, monkeypatch):
    monkeypatch.setattr(tasks, "MESSAGE_BYTES", 1)
    log = tmp_path / "log.jsonl"
    log.write_bytes((suite / "model-00.jsonl").read_bytes())

    def dies(start, message):
        if start == 0 and message == 2:
            log.write_bytes((suite / "model-01.jsonl").read_bytes())
            return True
        return False

    with pytest.raises(SourceError, match=r"changed while it was being read"):
        import_on_workers(DyingWorkers(dies, slots=1), look_for([log]), store)
    assert all_runs(store) == []


def test_a_worker_that_always_dies_ends_with_a_sentence_and_keeps_what_came_before(store, suite):
    workers = DyingWorkers(lambda start, message: start >= 1 and message == 0, slots=1)
    paths = sorted(suite.iterdir())[:8]

    with pytest.raises(ClusterError, match=f"lost its worker {MOST_TRIES} times"):
        import_on_workers(workers, look_for(paths), store)
    assert 0 < len(all_runs(store)) < len(paths)


def test_what_was_started_ahead_is_cancelled_where_the_import_stops(store, suite):
    workers = DyingWorkers(slots=2)

    def interrupt(items):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_on_workers(workers, look_for(sorted(suite.iterdir())), store, on_items=interrupt)
    assert workers.cancelled == workers.started
    assert all_runs(store) == []


def test_a_path_that_a_worker_does_not_see_is_named_with_its_machine(store, tmp_path):
    with pytest.raises(SourceError, match=rf"{re.escape(str(tmp_path / 'gone'))}` is not on `.+`, a machine"):
        import_on_workers(DyingWorkers(), [Order(str(tmp_path / "gone"), "convex_evals")], store)


def test_an_error_of_a_worker_is_the_same_sentence_as_without_one(store, tmp_path):
    log = tmp_path / "log.csv"
    log.write_text("id,ok\n1,true\n")
    bad = tmp_path / "map.toml"
    bad.write_text("[case]\nname = 3\n")
    order = Order(str(log), "generic", str(bad))

    with pytest.raises(SettingsError) as of_worker:
        import_on_workers(DyingWorkers(), [order], store)
    with pytest.raises(SettingsError) as alone:
        import_paths([log], store, map_path=bad)
    assert (of_worker.value.message, of_worker.value.hint) == (alone.value.message, alone.value.hint)


def test_other_code_on_a_worker_is_refused(store, suite, monkeypatch):
    versions = iter(["0.1.0 (aaaaaaaa)"])
    monkeypatch.setattr("errata.cluster.in_process.code_version", lambda: next(versions))

    with pytest.raises(ClusterError, match=r"This command is errata 0\.1\.0 \(aaaaaaaa\), a worker of the cluster is"):
        import_on_workers(DyingWorkers(slots=1), look_for(sorted(suite.iterdir())[:1]), store)


def test_a_path_that_is_not_utf_8_survives_the_way_to_the_driver():
    order = Order("/logs/caf\udce9", "junit", passed_over=("/logs/\udce9",))

    assert tasks.order_from_bytes(tasks.order_to_bytes(order)) == order
