"""The process beside a server that derives a large run, so that the threads of the server stay free for readers.

An order comes in on stdin, progress goes out on stdout, one line of JSON each. It ends with the server.
"""

import os
import sys
import threading

import msgspec

from errata.errors import ErrataError
from errata.model.store_address import location_of
from errata.settings import using_store
from errata.verbs.pages import close_index, derive_run
from errata.verbs.store import open_store

EVERY = 500
"""Failures between two reports of progress."""
NICER = 5
"""Readers come first on a busy machine."""


class DerivingOrder(msgspec.Struct, frozen=True):
    store: str
    deployment: str
    run: str


class DerivingProgress(msgspec.Struct, frozen=True):
    """What is being worked out, and how far it is; `total` is 0 where that is not counted."""

    what: str
    done: int = 0
    total: int = 0
    error: str = ""

    def __str__(self) -> str:
        counted = f": {self.done:,} of {self.total:,}" if self.total else ""
        return f"{self.what} are being worked out{counted}"


def main() -> None:
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=DerivingOrder)
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    os.nice(NICER)
    path = location_of(order.store)
    with using_store(path):
        try:
            store = open_store(path, deployment=order.deployment)
            with store.kept_open():
                derive_run(order.run, store, _report)
            close_index(store)
            store.engine.dispose()
        except ErrataError as error:
            _send(DerivingProgress("", error=error.message))


def _end_with_the_server() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


def _report(what: str, done: int, total: int) -> None:
    if done % EVERY == 0:
        _send(DerivingProgress(what, done, total))


def _send(progress: DerivingProgress) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(progress) + b"\n")
    sys.stdout.buffer.flush()
