"""A real Ray cluster of several nodes on this machine; it listens on loopback only.

`make test-ray` runs these tests in an environment that has Ray.
"""

import os

import pytest

from cluster.store_content import content_of
from suite_of_runs import write_logs
from terminal import errata

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112 else workers yield to everything else here
ray = pytest.importorskip("ray", reason="Ray is not installed: `make test-ray` runs these tests")

from errata.cluster.ray_workers import ray_workers  # noqa: E402
from errata.cluster.workers import (  # noqa: E402
    CollectOnWorkers,
    import_on_workers,
    triage_on_workers,
)
from errata.runs.importing import import_paths  # noqa: E402
from errata.runs.log_search import look_for  # noqa: E402
from errata.store.database import open_store  # noqa: E402
from errata.store.runs import all_runs  # noqa: E402
from errata.verbs.buckets import suggest_buckets  # noqa: E402

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("default")]
NODE = {
    "num_cpus": 1,
    "object_store_memory": 100_000_000,
    # Ray takes 127.0.0.1 for a machine that others have to reach, and looks for another address of it
    "node_ip_address": "127.0.0.2",
}


@pytest.fixture(scope="module")
def cluster():
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    letters = ["+-=x", "--+x", "+-+-", "x--=", "==++"]
    return write_logs(tmp_path_factory.mktemp("logs"), {f"model-{n:02}": letters[n % 5] for n in range(24)})


@pytest.fixture(scope="module")
def alone(logs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    store = open_store(folder / "errata.db")
    import_paths([logs], store)
    list(suggest_buckets(all_runs(store), store))
    return content_of(store, folder / "tables")


def test_a_cluster_whose_node_is_killed_gives_the_same_store_as_one_process(cluster, logs, alone, tmp_path):
    node = cluster.add_node(**NODE)
    store, killed = open_store(tmp_path / "errata.db"), []

    def kill(_items):
        if not killed:
            killed.append(node)
            cluster.remove_node(node, allow_graceful=False)

    with ray_workers(cluster.address) as workers:
        assert workers.slots() == 2
        import_on_workers(workers, look_for([logs]), store, on_items=kill)
        triage_on_workers(workers, all_runs(store), store)
        list(suggest_buckets(all_runs(store), store, collect=CollectOnWorkers(workers, store)))
    assert (content_of(store, tmp_path / "tables"), len(killed)) == (alone, 1)


def test_the_commands_take_a_cluster_and_print_what_they_print_without_one(cluster, logs, at_home):
    with_ray = ("--ray", cluster.address)

    for command in (("import", logs), ("triage",), ("buckets", "suggest")):
        here = errata("--store", "here.db", *command)
        there = errata("--store", "there.db", *command, *with_ray)
        assert (here.code, there.code, there.out, there.err) == (0, 0, here.out, here.err)


def test_a_cluster_that_nobody_runs_is_an_error_in_words(at_home, logs):
    result = errata("import", "--ray", "ray://127.0.0.2:10001", logs)

    assert (result.code, "errata does not work through Ray Client" in result.talk) == (2, True)
