"""`GET /events`: one server-sent stream per page, fed by a look at the store a few times a second.

A change that any process commits reaches every page within two seconds. At most one batch a second is sent.
"""

import asyncio
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import msgspec
from starlette.responses import Response, StreamingResponse

from errata.errors import StoreError
from errata.model.live import StoreChange
from errata.verbs.store import ChangeFeed, Store

LOOK_EVERY = 0.3
BATCH_EVERY = 1.0
HEARTBEAT_EVERY = 15.0
REMEMBERED = 2_000
MOST_STREAMS = 200
OLDEST_PAGE = 600.0
"""Seconds; what changed before is asked for by loading the page again."""
ANYTHING = StoreChange(kind="run")
"""For a page that missed what is no longer remembered: everything may be different."""


class EventStream:
    """Remembers what changed since the server started, also for pages that were loaded before they listened."""

    def __init__(self, open_own: Callable[[], Store]) -> None:
        self._open_own = open_own
        self._boot = secrets.token_hex(4)
        self._number = 0
        self._past: deque[tuple[int, float, StoreChange]] = deque(maxlen=REMEMBERED)
        self._grown = asyncio.Condition()
        self._is_closed = False
        self._streams = 0
        self._looking: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="errata-events")

    async def start(self) -> None:
        """From now on nothing is missed."""
        feed = await asyncio.get_running_loop().run_in_executor(self._thread, self._open)
        self._looking = asyncio.create_task(self._look(feed))

    def answer(self, last_id: str, age: float) -> Response | None:
        """`age`: how many seconds ago the page was loaded. None where too many pages listen already."""
        if self._streams >= MOST_STREAMS or self._is_closed:
            return None
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(self._stream(last_id, age), media_type="text/event-stream", headers=headers)

    async def close(self) -> None:
        """Every stream ends, and with it the reason for a server to wait before it stops."""
        self._is_closed = True
        async with self._grown:
            self._grown.notify_all()
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking
        self._thread.shutdown(wait=True)

    async def _stream(self, last_id: str, age: float) -> AsyncIterator[bytes]:
        self._streams += 1
        try:
            seen, missed = self._place_of(last_id, age)
            yield f"retry: 2000\nid: {self._boot}-{seen}\n\n".encode()
            if missed:
                yield self._event(self._number, ANYTHING)
            while not self._is_closed:
                new = [(number, change) for number, _, change in self._past if number > seen]
                if new:
                    seen = new[-1][0]
                    yield b"".join(self._event(number, change) for number, change in new)
                    await asyncio.sleep(BATCH_EVERY)
                    continue
                try:
                    await asyncio.wait_for(self._more_than(seen), HEARTBEAT_EVERY)
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self._streams -= 1

    async def _more_than(self, seen: int) -> None:
        async with self._grown:
            await self._grown.wait_for(lambda: self._number > seen or self._is_closed)

    def _place_of(self, last_id: str, age: float) -> tuple[int, bool]:
        """The last event that a page has seen, and whether it missed some that are forgotten."""
        boot, _, number = last_id.partition("-")
        if not last_id or not number.isdecimal():
            since = time.monotonic() - age
            return next((number - 1 for number, at, _ in self._past if at >= since), self._number), False
        seen, oldest = int(number), self._past[0][0] if self._past else self._number + 1
        if boot != self._boot or seen > self._number or seen + 1 < oldest:
            return self._number, True
        return seen, False

    def _event(self, number: int, change: StoreChange) -> bytes:
        return f"id: {self._boot}-{number}\ndata: ".encode() + msgspec.json.encode(change) + b"\n\n"

    async def _look(self, feed: ChangeFeed) -> None:
        try:
            while not self._is_closed:
                changes: list[StoreChange] = []
                with suppress(StoreError):  # locked for long, or no space left: the next look finds it
                    changes = await asyncio.get_running_loop().run_in_executor(self._thread, feed.poll)
                if changes:
                    async with self._grown:
                        for change in dict.fromkeys(changes):
                            self._number += 1
                            self._past.append((self._number, time.monotonic(), change))
                        self._grown.notify_all()
                await asyncio.sleep(LOOK_EVERY)
        finally:
            self._thread.submit(feed.__exit__, None, None, None)

    def _open(self) -> ChangeFeed:
        return ChangeFeed(self._open_own()).__enter__()
