"""A process that collects the failures of the next runs while this one groups those of the last: both cores work.

It answers with frames: four bytes of length, then failures of one run, packed. An empty frame ends a run. Whatever is
missing in the end is collected here.
"""

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from typing import IO, TYPE_CHECKING

import msgspec
from msgspec.structs import force_setattr

from errata.buckets.failure import FailureToGroup
from errata.errors import ErrataError
from errata.runs.background import is_left_to_background
from errata.runs.child_processes import collect_seldom, cores, end_process, end_with_parent, start_process
from errata.store.database import open_store
from errata.store.runs import runs_by_id
from errata.triage.rulesets import built_in, rules_in_use, using_rules

if TYPE_CHECKING:
    from errata.runs.view import RunView

PARALLEL_FROM = 60_000
"""Failures; for fewer, starting a process costs more than it saves."""
FRAME, WAITING = 1_000, 40
"""Failures in a frame, and frames that wait in memory."""
_LENGTH = 4

CollectOne = Callable[["RunView"], Iterable[FailureToGroup]]


class CollectingOrder(msgspec.Struct, frozen=True):
    store: str
    runs: tuple[str, ...]
    logs: bool


def failures_ahead(
    views: Sequence["RunView"], *, logs: bool, collect: CollectOne
) -> Iterator[Iterable[FailureToGroup]]:
    """The failures of each run, in the order of the runs. `collect` is for those that no process collects."""
    if not _is_worth_it(views):
        yield from map(collect, views)
        return
    order = CollectingOrder(views[0].store.shared_location, tuple(view.run.id for view in views), logs)
    with closing(_FailureProcess(order)) as process:
        for view in views:
            collected = process.next_run()
            yield collect(view) if collected is None else collected


def _is_worth_it(views: Sequence["RunView"]) -> bool:
    if len(views) < 2 or sum(view.stored.counts.failures for view in views) < PARALLEL_FROM or cores() < 2:
        return False
    store = views[0].store
    # the other process may know other rules
    if not store.shared_location or rules_in_use() is not built_in():
        return False
    return not any(is_left_to_background(view.stored, store) for view in views)


class _FailureProcess:
    def __init__(self, order: CollectingOrder) -> None:
        program = (
            "import sys; from errata.runs import failure_processes; "
            "from errata.runs.failures_to_group import failures_to_group; "
            "failure_processes.serve(sys.stdin.buffer, sys.stdout.buffer, failures_to_group)"
        )
        self._process = start_process(program, order)
        self._frames: queue.Queue[bytes | None] = queue.Queue(WAITING)
        self._is_closed = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Ahead of whoever groups: a pipe holds less than a frame."""
        assert self._process.stdout is not None
        while (frame := _frame(self._process.stdout)) is not None and not self._is_closed:
            self._frames.put(frame)
        self._frames.put(None)

    def next_run(self) -> list[FailureToGroup] | None:
        """Its failures; none where the process has ended before."""
        failures: list[FailureToGroup] = []
        known: dict[bytes, dict[str, str]] = {}
        while frame := self._frames.get():
            sent = _decoder.decode(frame)
            for failure in sent:
                packed = bytes(failure.parameters)
                parameters = known.get(packed)
                if parameters is None:
                    parameters = known[packed] = _parameters_decoder.decode(packed)
                force_setattr(failure, "parameters", parameters)
            failures += sent
        if frame is None:
            self._frames.put(None)
            return None
        return failures

    def close(self) -> None:
        self._is_closed = True
        end_process(self._process)
        while self._reader.is_alive():  # it may wait for a place in the queue
            with suppress(queue.Empty):
                self._frames.get(timeout=0.05)


class _SentFailure(FailureToGroup, frozen=True, kw_only=True):
    """Its parameters are not decoded one by one: most failures of a run share them."""

    parameters: msgspec.Raw = msgspec.Raw()  # type: ignore[assignment]


_decoder = msgspec.msgpack.Decoder(list[_SentFailure])
_parameters_decoder = msgspec.msgpack.Decoder(dict[str, str])
_encoder = msgspec.msgpack.Encoder()


def _frame(answer: IO[bytes]) -> bytes | None:
    head = answer.read(_LENGTH)
    size = int.from_bytes(head, "big")
    data = answer.read(size) if len(head) == _LENGTH else b""
    return data if len(head) == _LENGTH and len(data) == size else None


def serve(request: IO[bytes], answer: IO[bytes], failures_to_group: Callable[..., Iterable[FailureToGroup]]) -> None:
    """The other process. A failure that can't be packed ends it: whoever gave the order does the rest."""
    from errata.runs.view import RunView  # noqa: PLC0415 a view has buckets, and buckets need this

    order = msgspec.json.decode(request.readline(), type=CollectingOrder)
    end_with_parent(request)
    collect_seldom()
    with suppress(ErrataError, UnicodeEncodeError, OverflowError, BrokenPipeError), using_rules(built_in()):
        store = open_store(order.store)
        with store.kept_open():
            known = {stored.run.id: stored for stored in runs_by_id(store, order.runs)}
            for run_id in order.runs:
                view = RunView(known[run_id], store, is_triaged=True)
                waiting: list[FailureToGroup] = []
                for failure in failures_to_group(view, logs=order.logs):
                    waiting.append(failure)
                    if len(waiting) == FRAME:
                        _send(answer, _encoder.encode(waiting))
                        waiting.clear()
                if waiting:
                    _send(answer, _encoder.encode(waiting))
                _send(answer, b"")
        store.engine.dispose()


def _send(answer: IO[bytes], data: bytes) -> None:
    answer.write(len(data).to_bytes(_LENGTH, "big"))
    answer.write(data)
    answer.flush()
