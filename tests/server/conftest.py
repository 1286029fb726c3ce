"""A server on loopback over a store that is built once, a client, and a real browser."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import msgspec
import pytest
import uvicorn
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, sync_playwright
from tests.conftest import FIXTURES
from tests.server.look_store import build

from errata.mcp.server import HttpTools
from errata.server.app import build_app
from errata.server.exchange import ServerOptions
from errata.server.serving import bound, server_of
from errata.settings import Settings
from errata.verbs.analyze import import_logs
from errata.verbs.store import bundled_example, open_store

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"))), None
)
NO_CHROMIUM = "no Chromium on this machine: install it with `apt-get install chromium-headless-shell`"


class Served(msgspec.Struct, frozen=True):
    """A running server."""

    url: str
    settings: Settings
    client: httpx2.Client

    def page(self, path: str) -> str:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.text


@pytest.fixture(scope="session")
def served_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled example and a few runs of other harnesses, imported and triaged. Copy it before you write."""
    path = tmp_path_factory.mktemp("served") / "errata.db"
    store = open_store(path)
    with store.kept_open():
        import_logs([bundled_example()], store)
    store.engine.dispose()
    return path


@pytest.fixture
def serve(tmp_path: Path, served_store: Path) -> Iterator[Callable[..., Served]]:
    """Starts a server over a copy of a store; it is stopped after the test."""
    started: list[tuple[uvicorn.Server, threading.Thread, httpx2.Client]] = []

    def start(store: Path = served_store, options: ServerOptions | None = None, *, tools: bool = False) -> Served:
        own = tmp_path / f"{len(started)}.db"
        shutil.copyfile(store, own)
        settings = Settings(store=own, author="ada")
        listening = bound("127.0.0.1", 0)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        server = server_of(build_app(settings, options, agent_tools=HttpTools(settings) if tools else None))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.005)
        client = httpx2.Client(base_url=url)
        started.append((server, thread, client))
        return Served(url, settings, client)

    yield start
    for server, thread, client in started:
        client.close()
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One server for all tests that only look; its store has failures of many kinds."""
    settings = Settings(store=build(tmp_path_factory.mktemp("looked") / "errata.db"), author="ada")
    with running(settings) as served:
        yield served


@contextmanager
def running(settings: Settings) -> Iterator[Served]:
    listening = bound("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    server = server_of(build_app(settings))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    with httpx2.Client(base_url=url, timeout=30) as client:
        yield Served(url, settings, client)
    server.should_exit = True
    thread.join()


@pytest.fixture
def now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def served(serve: Callable[..., Served]) -> Served:
    return serve()


@pytest.fixture(scope="session")
def chromium() -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """Playwright's loop counts as running for as long as the browser is open; other tests call `asyncio.run`."""
    if CHROMIUM is None:
        pytest.skip(NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        loop = asyncio._get_running_loop()
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture
def browser(chromium: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    opened, loop = chromium
    asyncio._set_running_loop(loop)
    yield opened
    asyncio._set_running_loop(None)


@contextmanager
def windows(browser: Browser, is_expected: Callable[[str], object] = lambda _: False) -> Iterator[Callable[..., Page]]:
    """What a page logs as an error, CSP violations too, fails the test, unless it is expected."""
    contexts: list[BrowserContext] = []
    problems: list[str] = []

    def noted(message: ConsoleMessage) -> None:
        if message.type == "error" and not is_expected(message.text):
            problems.append(message.text)

    def opened(**options: object) -> Page:
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on("console", noted)
        page.on("pageerror", lambda error: problems.append(str(error)))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []


@pytest.fixture
def window(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a browser of its own for each call."""
    with windows(browser) as opened:
        yield opened


__all__ = ["FIXTURES", "Served"]
