"""Processes that summarise large runs while this one summarises others: a first comparison uses all cores.

What a process finds of a run is kept in the store, as always; only that it is done is reported. Whatever is missing in
the end is done here.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import IO

import msgspec

from errata.compare.stored import has_run_summary
from errata.compare.trials import Timeouts
from errata.errors import ErrataError
from errata.runs.background import is_left_to_background
from errata.runs.child_processes import collect_seldom, cores, end_process, end_with_parent, start_process
from errata.runs.view import RunView
from errata.store.database import Store, open_store
from errata.store.runs import runs_by_id

PARALLEL_FROM = 200_000
"""Attempts of runs without a summary; for fewer, starting a process costs more than it saves."""
MOST_PROCESSES = 4
"""With this one."""
START = 50_000
"""Attempts that are summarised while another process starts."""

Summarise = Callable[[RunView, Timeouts, bool], object]


class SummaryOrder(msgspec.Struct, frozen=True):
    store: str
    runs: tuple[str, ...]
    timeouts: Timeouts
    to_pool: bool


class SummaryProcess:
    """One process, and the runs it has still to summarise."""

    def __init__(self, order: SummaryOrder) -> None:
        self._waiting = set(order.runs)
        program = (
            "import sys; from errata.runs import summary_processes; from errata.runs.runset import facts_of; "
            "summary_processes.serve(sys.stdin.buffer, sys.stdout.buffer, "
            "lambda view, timeouts, to_pool: facts_of(view, timeouts=timeouts, to_pool=to_pool))"
        )
        self._process = start_process(program, order)

    def wait_for(self, run_id: str) -> None:
        """Until the run is summarised, or the process has ended."""
        assert self._process.stdout is not None
        while run_id in self._waiting and (line := self._process.stdout.readline()):
            self._waiting.discard(msgspec.json.decode(line, type=str))

    def close(self) -> None:
        end_process(self._process)


@contextmanager
def share_summaries(
    views: Sequence[RunView], store: Store, timeouts: Timeouts, *, to_pool: bool
) -> Iterator[dict[str, SummaryProcess]]:
    """Run id → the process that summarises it. Runs that are not in it are summarised here, or were before."""
    with ExitStack() as stack:
        processes: dict[str, SummaryProcess] = {}
        for runs in _shares(views, store, timeouts, to_pool=to_pool)[1:]:
            process = SummaryProcess(SummaryOrder(store.shared_location, tuple(runs), timeouts, to_pool))
            stack.callback(process.close)
            processes |= dict.fromkeys(runs, process)
        yield processes


def _shares(views: Sequence[RunView], store: Store, timeouts: Timeouts, *, to_pool: bool) -> list[list[str]]:
    """The runs of each process, of about as many attempts; the first share is for this one. Empty for few attempts."""
    if not store.shared_location or _attempts_of(views) < PARALLEL_FROM:
        return []
    if any(is_left_to_background(view.stored, store) for view in views):
        return []
    for view in views:
        view.ensure_triaged()  # the other processes may know other rules
    new = [view for view in views if not has_run_summary(view.stored, store, timeouts, to_pool=to_pool)]
    count = min(cores(), MOST_PROCESSES, len(new))
    if _attempts_of(new) < PARALLEL_FROM or count < 2:
        return []
    shares: list[list[RunView]] = [[] for _ in range(count)]
    for view in sorted(new, key=lambda view: -view.stored.counts.attempts_in_log):
        min(shares, key=lambda share: _attempts_of(share) + (0 if share is shares[0] else START)).append(view)
    return [[view.run.id for view in share] for share in shares]


def _attempts_of(views: Sequence[RunView]) -> int:
    return sum(view.stored.counts.attempts_in_log for view in views)


def serve(request: IO[bytes], answer: IO[bytes], summarise: Summarise) -> None:
    """The other process: an order comes in, and the id of each run goes out when its summary is kept."""
    order = msgspec.json.decode(request.readline(), type=SummaryOrder)
    end_with_parent(request)
    collect_seldom()
    with suppress(ErrataError):  # whoever gave the order does what is missing, and shows the error
        store = open_store(order.store)
        with store.kept_open():
            for stored in runs_by_id(store, order.runs):
                summarise(RunView(stored, store, is_triaged=True), order.timeouts, order.to_pool)
                answer.write(msgspec.json.encode(stored.run.id) + b"\n")
                answer.flush()
        store.engine.dispose()
