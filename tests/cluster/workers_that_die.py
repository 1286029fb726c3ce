"""Workers in this process that behave like those of a cluster: started ahead, and lost at any message."""

from collections.abc import Callable, Iterator

from errata.cluster.in_process import RunningHere, ThisProcess
from errata.cluster.workers import Message, WorkerLostError, WorkShare

Dies = Callable[[int, int], bool]
"""Whether the worker of the nth start dies before its mth message."""


class DyingWorkers(ThisProcess):
    def __init__(self, dies: Dies = lambda *_: False, slots: int = 3) -> None:
        self._dies, self._slots = dies, slots
        self.started: list[WorkShare] = []
        self.cancelled: list[WorkShare] = []

    def slots(self) -> int:
        return self._slots

    def start(self, share: WorkShare) -> RunningHere:
        number = len(self.started)
        self.started.append(share)
        running = super().start(share)
        return _Dying(self._messages(running, number), lambda: self.cancelled.append(share))

    def _messages(self, running: RunningHere, start: int) -> Iterator[Message]:
        count = 0
        while True:
            if self._dies(start, count):
                raise WorkerLostError("its node died")
            message = running.next()
            yield message
            count += 1


class _Dying(RunningHere):
    def __init__(self, messages: Iterator[Message], on_cancel: Callable[[], None]) -> None:
        super().__init__(messages)
        self._on_cancel = on_cancel

    def cancel(self) -> None:
        super().cancel()
        self._on_cancel()
