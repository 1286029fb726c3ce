"""With workers, the store, the owners and the buckets are those of one process."""

import pickle
import re

import pytest

from cluster.store_content import content_of
from errata.cluster import workers
from errata.cluster.workers import CollectOnWorkers, ThisProcess, import_on_workers, triage_on_workers
from errata.errors import ClusterError, SettingsError, SourceError, StoreError
from errata.runs.importing import import_paths
from errata.runs.log_search import Order, look_for
from errata.store.attributions import rules_version_of
from errata.store.database import open_store
from errata.store.runs import all_runs
from errata.verbs.buckets import suggest_buckets
from suite_of_runs import write_logs
from terminal import FIXTURES

REAL = (
    FIXTURES / "convex_evals" / "run_a" / "data" / "run-a",
    FIXTURES / "conversation_bench" / "comparison" / "data",
    FIXTURES / "scylla" / "batch-cascade" / "data",
)


class Workers(ThisProcess):
    """Several, that get a copy of their task and give copies of their results, as those of a cluster do."""

    here = True

    def slots(self):
        return 3

    def start(self, task):
        return map(pickle.loads, map(pickle.dumps, super().start(pickle.loads(pickle.dumps(task)))))

    def share_this_machine(self):
        return self.here


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    letters = ["+-=x", "--+x", "+++-", "x--=", "==++"]
    outcomes = {f"model-{number:02}": letters[number % 5] for number in range(12)}
    return [*REAL, *sorted(write_logs(tmp_path_factory.mktemp("logs"), outcomes).iterdir())]


@pytest.fixture(scope="module")
def alone(paths, tmp_path_factory):
    """The same logs, imported and grouped by one process."""
    folder = tmp_path_factory.mktemp("alone")
    store = open_store(folder / "errata.db")
    import_paths(paths, store)
    with store.kept_open():
        return list(suggest_buckets(all_runs(store), store)), content_of(store, folder / "tables")


def test_workers_give_the_same_store_owners_and_buckets_as_one_process(paths, alone, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "MESSAGE_BYTES", 1)
    store, counts = open_store(tmp_path / "errata.db"), []
    import_on_workers(Workers(), look_for(paths), store)
    with store.kept_open():
        triage_on_workers(Workers(), all_runs(store), store)
        before = {one.pk: rules_version_of(store, one.pk) for one in all_runs(store)}
        triage_on_workers(Workers(), all_runs(store), store, stale_only=True, on_run=lambda: counts.append(1))
        after = {one.pk: rules_version_of(store, one.pk) for one in all_runs(store)}
        suggested = list(suggest_buckets(all_runs(store), store, collect=CollectOnWorkers(Workers(), store)))

        assert (suggested, content_of(store, tmp_path / "tables")) == alone
    assert (after, len(counts)) == (before, len([one for one in all_runs(store) if one.counts.failures]))


def test_what_was_read_before_an_error_is_kept(store, paths):
    with pytest.raises(SourceError, match="is not on"):
        import_on_workers(Workers(), [*look_for(paths[-4:]), Order("/gone", "convex_evals")], store)

    assert len(all_runs(store)) == 4


def test_an_interrupted_import_leaves_nothing(store, paths):
    def interrupt(items):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_on_workers(Workers(), look_for(paths), store, on_items=interrupt)
    assert all_runs(store) == []


def test_a_path_that_a_worker_does_not_see_is_named_with_its_machine(store, tmp_path):
    """Also one that is not UTF-8."""
    gone = f"{tmp_path / 'gone'}\udce9"
    with pytest.raises(SourceError, match=rf"{re.escape(gone)}` is not on `.+`, a machine"):
        import_on_workers(Workers(), [Order(gone, "convex_evals")], store)


def test_an_error_of_a_worker_is_the_same_sentence_as_without_one(store, tmp_path):
    log, bad = tmp_path / "log.csv", tmp_path / "map.toml"
    log.write_text("id,ok\n1,true\n")
    bad.write_text("[case]\nname = 3\n")

    with pytest.raises(SettingsError) as of_worker:
        import_on_workers(Workers(), [Order(str(log), "generic", str(bad))], store)
    with pytest.raises(SettingsError) as alone:
        import_paths([log], store, map_path=bad)
    assert (of_worker.value.message, of_worker.value.hint) == (alone.value.message, alone.value.hint)


def test_other_code_on_a_worker_is_refused():
    with pytest.raises(ClusterError, match=r"This command is errata 0\.1\.0 \(aaaaaaaa\), a worker of the cluster is"):
        list(workers.serve(workers.LogsToRead(()), "0.1.0 (aaaaaaaa)"))


@pytest.mark.sqlite
def test_a_file_of_this_machine_is_refused_where_workers_run_elsewhere(store, monkeypatch):
    monkeypatch.setattr(Workers, "here", False)

    with pytest.raises(StoreError, match="is a file of this machine") as refused:
        triage_on_workers(Workers(), all_runs(store), store)
    assert "PostgreSQL" in refused.value.hint


def test_a_worker_refuses_other_rules(store):
    shared = workers.SharedStore(store.path, version="other")

    with pytest.raises(ClusterError, match="has other rules than this command"):
        list(workers.RunsToGroup(shared, (), logs=True).results())
