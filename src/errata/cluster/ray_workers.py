"""A Ray cluster as workers. Only this module imports Ray."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from errata.cluster.tasks import code_version
from errata.cluster.workers import Message, Running, WorkerLostError, WorkerPool, WorkShare
from errata.errors import ClusterError, SettingsError, extra_hint
from errata.text.clean import one_line

MESSAGES_AHEAD = 32
"""Messages of a large share that wait to be taken, before its worker waits."""
LOCAL_STORE_BYTES = 512 * 1024 * 1024
"""Memory for results, in a cluster that is started on this machine."""
_INSTALL = "install the same version of errata with its extra `ray` on every machine of the cluster"


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
        ray.init(**_options(address))
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
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR, "namespace": "errata"}
    if address != "local":
        return {"address": address, **quiet}
    return {
        "num_cpus": os.cpu_count(),
        "include_dashboard": False,
        "object_store_memory": LOCAL_STORE_BYTES,
        "_node_ip_address": "127.0.0.1",
        **quiet,
    }


def _no_cluster(address: str, error: Exception) -> ClusterError:
    why = one_line(str(error), 300)
    if "ersion mismatch" in why:
        return ClusterError(f"The cluster runs another version: {why}", hint=_INSTALL)
    if address == "auto":
        hint = "start one with `ray start --head`, name its address with `--ray HOST:PORT`, or try `--ray local`"
        return ClusterError("No Ray cluster runs on this machine", hint=hint)
    return ClusterError(f"The Ray cluster `{address}` can't be reached: {why}", hint="check the address and the port")


class RayWorkers(WorkerPool):
    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._lost = _lost_errors(ray)
        self._remote = ray.remote(_task())

    def slots(self) -> int:
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def start(self, share: WorkShare) -> Running:
        # a worker that waits until its results are taken must not keep others from starting
        options = {"num_cpus": 0, "_generator_backpressure_num_objects": MESSAGES_AHEAD} if share.is_large else {}
        # a lost task is started again by `errata.cluster.workers`, which checks that its results are the same
        remote = self._remote.options(max_retries=0, **options)
        return _RunningOnRay(self._ray, remote.remote(share.task, share.argument, code_version()), self._lost)

    def share_this_machine(self) -> bool:
        here = socket.gethostname()
        return all(node["NodeManagerHostname"] == here for node in self._ray.nodes() if node["Alive"])


def _task() -> Any:
    """A function without a name in any module: a worker without errata can still run it, and report that."""

    def run_task(task: str, argument: Any, version: str) -> Any:
        try:
            from errata.cluster.tasks import serve  # noqa: PLC0415 it runs on another machine
        except ImportError as error:
            hint = "install the same version of errata with its extra `ray` on every machine of the cluster"
            yield "error", ("ClusterError", f"A machine of the cluster can't import errata: {error}", hint)
            return
        yield from serve(task, argument, version)

    return run_task


def _lost_errors(ray: Any) -> tuple[type[Exception], ...]:
    known = ray.exceptions
    return (
        known.WorkerCrashedError, known.NodeDiedError, known.ObjectLostError, known.OutOfMemoryError,
        known.LocalRayletDiedError,
    )  # fmt: skip


class _RunningOnRay(Running):
    def __init__(self, ray: Any, generator: Any, lost: tuple[type[Exception], ...]) -> None:
        self._ray, self._generator, self._lost = ray, generator, lost

    def next(self) -> Message:
        try:
            kind, data = self._ray.get(next(self._generator))
        except self._lost as error:
            raise WorkerLostError(one_line(str(error), 200)) from None
        except StopIteration:
            raise WorkerLostError("it ended without its last message") from None
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from error
        return kind, data

    def cancel(self) -> None:
        with suppress(self._ray.exceptions.RayError, ValueError):
            self._ray.cancel(self._generator, force=True)
