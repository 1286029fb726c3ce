"""Large runs: a thread finds those that are not up to date, and a process of its own derives one after the other."""

import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import suppress

import msgspec

from errata.errors import ErrataError
from errata.model.identity import fingerprint
from errata.model.store_address import spelled_location
from errata.server.deriving_process import DerivingOrder, DerivingProgress
from errata.settings import Settings, using_store
from errata.verbs.pages import is_derived, is_large, marks_of
from errata.verbs.store import Store, all_runs, open_store

PAUSE = 1.0
"""Seconds between two looks at the store."""
SHARE = 3
"""After a run was derived, verdicts on it may wait three times as long as that took, so that readers have a core."""
GIVEN_UP_FOR = 30.0
"""Seconds after a failure: requests derive the run themselves meanwhile, and show what is wrong. Then twice as long."""
MOST_TRIES = 3


class LargeRuns:
    """Newest first; a run that somebody asks for comes before all others."""

    def __init__(self, settings: Settings, *, deployment: str = "") -> None:
        self._settings, self._deployment = settings, deployment
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._is_closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._wanted: dict[str, None] = {}
        self._progress: dict[str, DerivingProgress] = {}
        self._given_up: dict[str, float] = {}
        self._not_before: dict[str, float] = {}
        self._tries: Counter[str] = Counter()
        self._seen: dict[str, str] = {}
        """Run → the state of all runs of its suite for which it is up to date."""
        self._settled: dict[str, str] | None = None
        """The states of all runs when there was nothing to do."""
        self._thread = threading.Thread(target=self._work, name="errata-large-runs", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._is_closed = True
        with self._lock:
            if self._process is not None:
                self._process.kill()
        self._wake.set()
        self._thread.join()

    # for the threads of requests

    def derive_soon(self, run_id: str) -> None:
        self._wanted.setdefault(run_id)
        self._not_before.pop(run_id, None)
        self._wake.set()

    def progress_of(self, run_id: str) -> DerivingProgress | None:
        """None where nobody works on it."""
        return self._progress.get(run_id)

    def has_given_up(self, run_id: str) -> bool:
        return time.monotonic() < self._given_up.get(run_id, 0.0)

    # the thread

    def _work(self) -> None:
        with using_store(self._settings.store):
            store = open_store(self._settings.store, deployment=self._deployment)
            with store.kept_open():
                while not self._is_closed:
                    run_id = None
                    with suppress(ErrataError):  # locked for long: the next look finds it
                        run_id = self._next(store)
                    if run_id is not None:
                        self._derive(run_id)
                    elif self._wake.wait(PAUSE):
                        self._wake.clear()
            store.engine.dispose()

    def _next(self, store: Store) -> str | None:
        marks = {run_id: mark for run_id, (_, mark) in marks_of(store).items()}
        if store.is_read_only or (marks == self._settled and not self._wanted):
            return None
        runs, wanted, is_settled = all_runs(store), list(self._wanted), True
        by_suite: dict[str, list[str]] = {}
        for stored in runs:
            by_suite.setdefault(stored.run.suite, []).append(marks.get(stored.run.id, ""))
        for stored in sorted(filter(is_large, runs), key=lambda one: one.run.id not in wanted):
            run_id, state = stored.run.id, fingerprint(sorted(by_suite[stored.run.suite]))
            if self._seen.get(run_id) == state and run_id not in wanted:
                continue
            if is_derived(stored, store):
                self._seen[run_id], self._tries[run_id] = state, 0
            elif time.monotonic() >= max(self._not_before.get(run_id, 0.0), self._given_up.get(run_id, 0.0)):
                return run_id
            else:
                is_settled = False
        if is_settled:
            self._settled = marks
        for run_id in wanted:
            self._wanted.pop(run_id, None)
        return None

    def _derive(self, run_id: str) -> None:
        began = time.monotonic()
        self._tries[run_id] += 1
        has_failed = not self._finished(run_id)
        self._progress.pop(run_id, None)
        ended = time.monotonic()
        self._not_before[run_id] = ended + SHARE * (ended - began)
        if has_failed or self._tries[run_id] > MOST_TRIES:
            self._given_up[run_id] = ended + GIVEN_UP_FOR * 2 ** min(self._tries[run_id], 8)

    def _finished(self, run_id: str) -> bool:
        """In a process of its own; false where it broke off."""
        order = DerivingOrder(spelled_location(self._settings.store), self._deployment, run_id)
        self._progress[run_id] = DerivingProgress("Owners")
        program = "from errata.server.deriving_process import main; main()"
        # -P: nothing in the working folder is to be imported; a group of its own: Ctrl-C is for the server
        command = [sys.executable, "-P", "-c", program]
        with self._lock:
            if self._is_closed:
                return False
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,
            )
        with self._process as process:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):
                process.stdin.write(msgspec.json.encode(order) + b"\n")
                process.stdin.flush()
            for line in process.stdout:
                progress = msgspec.json.decode(line, type=DerivingProgress)
                if progress.error:
                    process.kill()
                    return False
                self._progress[run_id] = progress
            return process.wait() == 0
