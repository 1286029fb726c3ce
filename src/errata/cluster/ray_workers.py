"""A Ray cluster as workers. Only this module imports Ray, which starts the task of a lost worker again."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from errata.cluster.workers import SAME_CODE, Task, WorkerPool, code_version, serve
from errata.errors import ClusterError, ErrataError, SettingsError, extra_hint
from errata.text.clean import one_line

RESULTS_AHEAD = 32
"""Results of a large task that wait to be taken, before its worker waits."""
LOCAL_STORE_BYTES = 512 * 1024 * 1024
"""Memory for results, in a cluster that is started on this machine."""


@contextmanager
def ray_workers(address: str) -> Iterator["RayWorkers"]:
    """Connect to the cluster at `address`; `auto` finds the one of this machine, `local` starts one.

    In the end the connection is closed, which stops the tasks that still run.
    """
    ray = _ray()
    if address.startswith("ray://"):
        hint = "run errata on a machine of the cluster, with `--ray auto` or `--ray HOST:PORT`"
        raise SettingsError("errata does not work through Ray Client", hint=hint)
    try:
        ray.init(**_options(address), log_to_driver=False, logging_level=logging.ERROR, namespace="errata")
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise _no_cluster(address, error) from None
    try:
        yield RayWorkers(ray)
    finally:
        with suppress(RuntimeError):
            ray.shutdown()


def _ray() -> Any:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray  # noqa: PLC0415 it takes longer to import than most commands
    except ImportError:
        raise ClusterError("Ray is not installed", hint=extra_hint("ray")) from None
    # it prints the last lines of a lost machine's log to stdout, where `--json` is
    ray._private.worker.print_to_stdstream = lambda *_, **__: None
    return ray


def _options(address: str) -> dict[str, Any]:
    if address != "local":
        return {"address": address}
    here = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    return {"num_cpus": os.cpu_count(), "object_store_memory": LOCAL_STORE_BYTES, **here}


def _no_cluster(address: str, error: Exception) -> ClusterError:
    why = one_line(str(error), 300)
    if "ersion mismatch" in why:
        return ClusterError(f"The cluster runs another version: {why}", hint=SAME_CODE)
    if address == "auto":
        hint = "start one with `ray start --head`, name its address with `--ray HOST:PORT`, or try `--ray local`"
        return ClusterError("No Ray cluster runs on this machine", hint=hint)
    return ClusterError(f"The Ray cluster `{address}` can't be reached: {why}", hint="check the address and the port")


class RayWorkers(WorkerPool):
    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._remote = ray.remote(serve)

    def slots(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def start(self, task: Task) -> Iterator[Any]:
        # a worker that waits until its results are taken must not keep others from starting
        options = {"num_cpus": 0, "_generator_backpressure_num_objects": RESULTS_AHEAD} if task.is_large else {}
        return self._results_of(self._remote.options(max_retries=3, **options).remote(task, code_version()))

    def _results_of(self, results: Any) -> Iterator[Any]:
        try:
            for result in results:
                yield self._ray.get(result)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, ErrataError):
                raise error.cause from None
            raise ClusterError(f"A worker failed: {one_line(str(error.cause), 300)}", hint=SAME_CODE) from error
        except self._ray.exceptions.RayError as error:
            hint = "it may have run out of memory; what was finished before is kept"
            raise ClusterError(f"The cluster lost its worker: {one_line(str(error), 200)}", hint=hint) from None

    def share_this_machine(self) -> bool:
        here = socket.gethostname()
        return all(node["NodeManagerHostname"] == here for node in self._ray.nodes() if node["Alive"])
