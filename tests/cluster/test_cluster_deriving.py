"""Triage and buckets with workers give what one process gives."""

import pickle

import pytest

from cluster.store_content import content_of
from cluster.workers_that_die import DyingWorkers
from errata.cluster import tasks
from errata.cluster.deriving import CollectOnWorkers, triage_on_workers
from errata.errors import ClusterError, StoreError
from errata.runs.failures_to_group import failures_to_group
from errata.runs.importing import import_paths
from errata.runs.view import RunView
from errata.store.attributions import rules_version_of
from errata.store.database import open_store
from errata.store.runs import all_runs
from errata.triage.rulesets import rules_in_use
from errata.verbs.buckets import suggest_buckets
from suite_of_runs import write_logs
from terminal import FIXTURES

REAL = FIXTURES / "conversation_bench" / "comparison" / "data"


class ElsewhereWorkers(DyingWorkers):
    """On machines of their own."""

    def share_this_machine(self):
        return False


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    letters = ["+-=x", "--+x", "+-+-", "x--=", "==++"]
    folder = tmp_path_factory.mktemp("logs")
    paths = [
        write_logs(folder / suite, {f"{suite}-{number}": letters[number % 5] for number in range(6)}, suite=suite)
        for suite in ("tides", "moons")
    ]
    return [REAL, *paths]


def a_store(folder, logs):
    store = open_store(folder / "errata.db")
    import_paths(logs, store)
    return store


@pytest.fixture(scope="module")
def imported(logs, tmp_path_factory):
    """The file of a store with all logs; copying it takes a hundredth of the time of importing them."""
    store = a_store(tmp_path_factory.mktemp("imported"), logs)
    return store.path.read_bytes()


@pytest.fixture
def whole(imported, tmp_path):
    """A store with all logs. Its connections are kept open, as every command does."""
    (tmp_path / "errata.db").write_bytes(imported)
    store = open_store(tmp_path / "errata.db")
    with store.kept_open():
        yield store


@pytest.fixture(scope="module")
def alone(imported, tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    (folder / "errata.db").write_bytes(imported)
    store = open_store(folder / "errata.db")
    with store.kept_open():
        suggested = list(suggest_buckets(all_runs(store), store))
        return suggested, content_of(store, folder / "tables")


@pytest.mark.parametrize("lost", [set(), {(0, 0), (2, 1)}], ids=["all live", "two die"])
def test_workers_give_the_same_owners_and_buckets_as_one_process(whole, alone, lost, tmp_path):
    store = whole
    workers = DyingWorkers(lambda start, message: (start, message) in lost)

    triage_on_workers(workers, all_runs(store), store)
    suggested = list(suggest_buckets(all_runs(store), store, collect=CollectOnWorkers(workers, store)))

    assert (suggested, content_of(store, tmp_path / "tables")) == alone


def test_only_stale_runs_are_triaged_again(whole):
    store, workers, counts = whole, DyingWorkers(), []
    triage_on_workers(workers, all_runs(store), store)
    before = {one.pk: rules_version_of(store, one.pk) for one in all_runs(store)}

    triage_on_workers(workers, all_runs(store), store, stale_only=True, on_run=lambda: counts.append(1))

    assert {one.pk: rules_version_of(store, one.pk) for one in all_runs(store)} == before
    assert len(counts) == len([one for one in all_runs(store) if one.counts.failures])


def test_failures_survive_the_way_from_a_worker(whole):
    for stored in all_runs(whole):
        failures = list(failures_to_group(RunView(stored, whole)))
        assert pickle.loads(pickle.dumps(failures)) == failures


@pytest.mark.sqlite
def test_a_file_of_this_machine_is_refused_where_workers_run_elsewhere(logs, tmp_path):
    store = a_store(tmp_path, logs[1:2])

    with pytest.raises(StoreError, match="is a file of this machine") as refused:
        triage_on_workers(ElsewhereWorkers(), all_runs(store), store)
    assert "PostgreSQL" in refused.value.hint


def test_a_worker_refuses_a_store_that_is_a_file_of_another_machine(logs, tmp_path):
    rules = tasks.RuleFiles(version=rules_in_use().version)
    shared = tasks.SharedStore(tmp_path / "errata.db", "elsewhere/pid", rules)

    with pytest.raises(StoreError, match="is a file of another machine"):
        list(tasks.failures_of_runs(tasks.RunsToGroup(shared, (), logs=True)))


def test_rules_of_the_project_reach_the_workers_and_others_are_refused(logs, tmp_path):
    store = a_store(tmp_path, logs[1:2])
    run = all_runs(store)[0].run.id
    rules = tasks.RuleFiles(version="other")
    shared = tasks.SharedStore(store.path, tasks.machine_of_this_process(), rules)

    with pytest.raises(ClusterError, match="has other rules than this command"):
        list(tasks.failures_of_runs(tasks.RunsToGroup(shared, (run,), logs=True)))
