"""What errata needs of a cluster: tasks that are started ahead, results in order, and lost workers replaced."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

from errata import errors
from errata.errors import ClusterError, ErrataError, SourceError

MOST_TRIES = 4
"""How often a share is started before the cluster is given up."""
AHEAD = 2
"""Shares that are started ahead for each slot, so that no worker waits for the one that writes."""

DATA, ERROR, END = "data", "error", "end"
Message = tuple[str, Any]


class WorkerLostError(Exception):
    """The worker of a share or its machine is gone. The share is started again; nobody sees this."""


class WorkShare(NamedTuple):
    """What one task does."""

    task: str
    """A name in `errata.cluster.tasks.TASKS`."""
    argument: Any
    label: str
    """Names the share in errors: a path or a run."""
    is_large: bool = False
    """Its results may not fit into memory: the worker waits until earlier ones were taken."""


class Running(Protocol):
    """A share that a worker is busy with."""

    def next(self) -> Message:
        """Wait for the next message. Raises `WorkerLostError`; after the last message it is not called again."""
        ...

    def cancel(self) -> None: ...


class WorkerPool(Protocol):
    """Where tasks run: a Ray cluster, or this process."""

    def slots(self) -> int:
        """How many tasks can run at once now; a lost machine takes its slots along."""
        ...

    def start(self, share: WorkShare) -> Running: ...

    def share_this_machine(self) -> bool:
        """Whether every worker runs on the machine of this process and sees its files."""
        ...


def error_message(error: ErrataError) -> Message:
    return ERROR, (type(error).__name__, error.message, error.hint)


def results(workers: WorkerPool, shares: Iterable[WorkShare]) -> Iterator[Iterator[Any]]:
    """For each share the stream of its results, in the order of the shares; take each to its end.

    Whoever stops early closes the generator, which cancels what was started ahead.
    """
    waiting, started = iter(shares), deque[_Started]()
    try:
        while True:
            _start_ahead(workers, waiting, started)
            if not started:
                return
            yield started[0].results()
            started.popleft()
    finally:
        for left in started:
            left.cancel()


def _start_ahead(workers: WorkerPool, waiting: Iterator[WorkShare], started: deque["_Started"]) -> None:
    most = AHEAD * max(1, workers.slots())
    while len(started) < most:
        share = next(waiting, None)
        if share is None:
            return
        started.append(_Started(workers, share))


class _Started:
    """One share, started again where its worker is lost: what was taken before is skipped, and has to be the same."""

    def __init__(self, workers: WorkerPool, share: WorkShare) -> None:
        self._workers, self._share = workers, share
        self._running = workers.start(share)
        self._tries = 1
        self._taken: list[bytes] = []
        """Digests of the messages that were passed on."""

    def cancel(self) -> None:
        self._running.cancel()

    def results(self) -> Iterator[Any]:
        position = 0
        while True:
            try:
                kind, data = self._running.next()
            except WorkerLostError as lost:
                self._start_again(lost)
                position = 0
                continue
            if kind == ERROR:
                name, message, hint = data
                raise getattr(errors, name)(message, hint=hint)
            if kind == END:
                return
            digest = sha256(data).digest() if isinstance(data, bytes) else b""
            if position < len(self._taken):
                self._refuse_other(self._taken[position], digest)
            else:
                self._taken.append(digest)
                yield data
            position += 1

    def _start_again(self, lost: WorkerLostError) -> None:
        if self._tries == MOST_TRIES:
            message = f"The cluster lost its worker {MOST_TRIES} times at `{self._share.label}`: {lost}"
            raise ClusterError(message, hint="it may have run out of memory; what was finished before is kept")
        self._tries += 1
        self._running = self._workers.start(self._share)

    def _refuse_other(self, before: bytes, now: bytes) -> None:
        if before != now:
            raise SourceError(
                f"`{self._share.label}` changed while it was being read", hint="import it again when it is complete"
            )


def in_shares(items: Iterable[Any], workers: WorkerPool, size: Callable[[Any], int], most: int) -> Iterator[list[Any]]:
    """Neighbours together, up to a size, but few enough of them that every worker gets several shares."""
    every = list(items)
    longest = max(1, min(64, len(every) // (4 * max(1, workers.slots()))))
    share: list[Any] = []
    total = 0
    for item in every:
        weight = size(item)
        if share and (len(share) >= longest or total + weight > most):
            yield share
            share, total = [], 0
        share.append(item)
        total += weight
    if share:
        yield share
