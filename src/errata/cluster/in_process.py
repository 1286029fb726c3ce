"""No other workers: tasks run in this process, one after the other, when their results are asked for."""

import pickle
from collections.abc import Iterator

from errata.cluster.tasks import code_version, serve
from errata.cluster.workers import Message, Running, WorkerPool, WorkShare


class ThisProcess(WorkerPool):
    """For object storage without a cluster, and in tests the place of one."""

    def slots(self) -> int:
        return 1

    def start(self, share: WorkShare) -> Running:
        # as on a cluster, a task gets a copy
        return RunningHere(serve(share.task, pickle.loads(pickle.dumps(share.argument)), code_version()))  # noqa: S301

    def share_this_machine(self) -> bool:
        return True


class RunningHere(Running):
    def __init__(self, messages: Iterator[Message]) -> None:
        self._messages = messages

    def next(self) -> Message:
        return next(self._messages)

    def cancel(self) -> None:
        close = getattr(self._messages, "close", None)
        if close is not None:
            close()
