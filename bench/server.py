"""How fast the pages of the server are: `python -m bench.server 10000 100000`.

Server time is that of a handler with everything up to the bytes of its answer. Paint is what Chromium reports as the
first contentful paint of a page that a server on this machine sends.
"""

import json
import random
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import uvicorn
from playwright.sync_api import sync_playwright

from errata.model import StoredRun
from errata.server.app import build_app
from errata.server.exchange import Bytes, Caller, Exchange, Page
from errata.server.layout import framed
from errata.server.pages import run as run_page
from errata.server.pages.run_query import written_cursor
from errata.server.serving import bound
from errata.settings import Settings, using_store
from errata.verbs.analyze import import_logs
from errata.verbs.pages import digest_of, ensure_indexed, ensure_searchable_texts, large_runs_in_background
from errata.verbs.store import Store, open_store

OFTEN = 5
ERRORS = (
    "RateLimitError: 429 Too Many Requests, retry after {n} s",
    "TimeoutError: the tool `search` did not answer within {n} s",
    "AssertionError: expected {n} rows in the result",
    "ConnectionError: connection refused by 10.0.0.{n}:8080",
    "",
    "",
)


_MAP = """suite = "boats"
[run]
model = { column = "model" }
[case]
name = "id"
category = "category"
input = "input"
expected = "expected"
[attempt]
passed = "passed"
output = "output"
error = "error"
duration = "duration"
total_tokens = "tokens"
"""


def failing_rows(folder: Path, count: int) -> Path:
    """Rows of one run, all of them failed, with categories, errors, answers, tokens and times."""
    folder.mkdir()
    (folder / "map.toml").write_text(_MAP, encoding="utf-8")
    path, chance = folder / "rows.jsonl", random.Random(3)
    with path.open("w", encoding="utf-8") as file:
        for at in range(count):
            row = {
                "model": "alpha-1",
                "id": f"case-{at:06}",
                "category": f"area {at % 12}",
                "input": f"How many boats leave pier {at}?",
                "expected": str(at % 97),
                "output": str((at + 1 + chance.randrange(50)) % 97 + 100),
                "passed": False,
                "error": chance.choice(ERRORS).format(n=chance.randrange(250)),
                "tokens": chance.randrange(200, 90_000),
                "duration": round(chance.uniform(1, 900), 1),
            }
            file.write(json.dumps(row) + "\n")
    return path


class Timing(NamedTuple):
    """Milliseconds: what a user waits, and what the processor works; they differ on a busy machine."""

    wall: float
    processor: float


def timed(work: Callable[[], object]) -> Timing:
    """The best of a few."""
    return min(once(work) for _ in range(OFTEN))


def once(work: Callable[[], object]) -> Timing:
    started, worked = time.perf_counter(), time.thread_time()
    work()
    return Timing(1000 * (time.perf_counter() - started), 1000 * (time.thread_time() - worked))


class Asking:
    """Handlers as a worker thread calls them."""

    def __init__(self, store: Store, settings: Settings, stored: StoredRun) -> None:
        self._store, self._settings, self._run = store, settings, stored.run.id

    def page(self, **query: str) -> bytes:
        answer = run_page.run(self._exchange(query))
        assert isinstance(answer, Page)
        return framed(answer).encode("utf-8")

    def rows(self, **query: str) -> bytes:
        answer = run_page.rows(self._exchange(query))
        assert isinstance(answer, Bytes)
        return answer.content

    def _exchange(self, query: dict[str, str]) -> Exchange:
        return Exchange(
            store=self._store,
            settings=self._settings,
            caller=Caller(name="bench"),
            now=datetime.now(UTC),
            path="/",
            values={"run": self._run},
            query=query,
        )


def measure(count: int, folder: Path) -> None:
    log = failing_rows(folder / f"rows-{count}", count)
    path = folder / f"{count}.db"
    settings, store = Settings(store=path), open_store(path)
    with using_store(path), store.kept_open():
        [stored], _ = import_logs([log], store, map_path=log.parent / "map.toml")
        ask = Asking(store, settings, stored)
        print(f"\n{stored.counts.failures:,} failures, server time in ms: wall, processor")
        deep = written_cursor((count // 2, count // 2))
        filters = {"owner": "provider", "category": "area 3", "group": "none"}
        with large_runs_in_background():
            say("first 100 rows, before there is an index", timed(lambda: ask.rows(group="none")))
        say("the index, in the background", once(lambda: ensure_indexed(stored, store)))
        say("first 100 rows", timed(lambda: ask.rows(group="none")))
        say("100 rows in the middle, first visit", once(lambda: ask.rows(group="none", cursor=deep)))
        say("100 rows in the middle", timed(lambda: ask.rows(group="none", cursor=deep)))
        say("a filter, first visit with its counts", once(lambda: ask.rows(**filters)))
        say("a filter again", timed(lambda: ask.rows(**filters)))
        say("sorted by tokens", timed(lambda: ask.rows(group="none", sort="-tokens")))
        with large_runs_in_background():
            say("whole page, score not computed yet", once(ask.page))
        say("the score, in the background", once(lambda: digest_of(stored, store)))
        say("the full-text index, in the background", once(lambda: ensure_searchable_texts(stored, store)))
        say("whole page", timed(ask.page))
        say("whole page with a text filter, first visit", once(lambda: ask.page(q="refused 10.0.0.7")))
    store.engine.dispose()
    with serving(settings) as url:
        painted = paint(f"{url}/runs/{stored.run.id}", "tr.fail")
        print(
            f"  {'first contentful paint in Chromium, first row':<46}{painted.first:10,.0f}{painted.rows:10,.0f}",
            flush=True,
        )


def say(what: str, taken: Timing) -> None:
    print(f"  {what:<46}{taken.wall:10,.0f}{taken.processor:10,.0f}", flush=True)


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    listening = bound("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(build_app(settings), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()


class Paint(NamedTuple):
    """Milliseconds after the browser begins to ask for the page."""

    first: float
    """The first contentful paint."""
    rows: float
    """The first row of the list is there."""


_PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


def paint(url: str, row: str) -> Paint:
    """The best of a few, each in a browser without a cache; `row` is a selector."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        seen = []
        for _ in range(OFTEN):
            page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
            page.goto(url, wait_until="commit")
            page.locator(row).first.wait_for(timeout=120_000)
            rows = page.evaluate("() => performance.now()")
            while (first := page.evaluate(_PAINT)) is None:
                page.wait_for_timeout(5)
            seen.append(Paint(first, rows))
            page.context.close()
        browser.close()
    return Paint(min(one.first for one in seen), min(one.rows for one in seen))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="errata-bench-") as made:
        for size in [int(word) for word in sys.argv[1:]] or [10_000]:
            measure(size, Path(made))
