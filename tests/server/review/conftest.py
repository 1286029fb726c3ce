"""Two runs to review, and servers that share one store, each for another person."""

import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
import uvicorn
from playwright.sync_api import Browser, Page
from tests.conftest import FIXTURES
from tests.server.conftest import Served, windows
from tests.terminal import example_without_assertions

from errata.server import serving
from errata.server.app import build_app
from errata.settings import Settings
from errata.verbs.analyze import import_logs
from errata.verbs.store import open_store

EXPECTED = re.compile(r"Failed to load resource: .*(409|422|500|ERR_CONNECTION|ERR_EMPTY)")


class RunningServer:
    """Can be stopped in the middle of something, and started again on the same port."""

    def __init__(self, store: Path, author: str) -> None:
        self.settings = Settings(store=store, author=author)
        self.port = 0
        self.start()
        self.url = f"http://127.0.0.1:{self.port}"
        self.client = httpx2.Client(base_url=self.url)
        self.served = Served(self.url, self.settings, self.client)

    def start(self) -> None:
        listening = serving.bound("127.0.0.1", self.port)
        self.port = listening.getsockname()[1]
        app = build_app(self.settings)
        make = getattr(serving, "server_of", None)
        self.server = make(app) if make else uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [listening]}, daemon=True)
        self.thread.start()
        while not self.server.started:
            time.sleep(0.005)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled example (9 failures) and four real attempts of terminal-bench. Copy it before you write.

    The example has no lines of assertions, so that failures have one key.
    """
    folder = tmp_path_factory.mktemp("review")
    path, example = folder / "errata.db", example_without_assertions(folder / "example")
    store = open_store(path)
    with store.kept_open():
        import_logs([example, FIXTURES / "sources/harbor/old-job/data/kimi_k2.5"], store)
    store.engine.dispose()
    return path


@pytest.fixture
def desk_store(tmp_path: Path, two_runs: Path) -> Path:
    own = tmp_path / "errata.db"
    shutil.copyfile(two_runs, own)
    return own


@pytest.fixture
def server_for(desk_store: Path) -> Iterator[Callable[[str], RunningServer]]:
    """A server over the same store for a person of this name."""
    started: list[RunningServer] = []

    def start(author: str = "ada") -> RunningServer:
        started.append(RunningServer(desk_store, author))
        return started[-1]

    yield start
    for each in started:
        each.client.close()
        each.stop()


@pytest.fixture
def window(browser: Browser) -> Iterator[Callable[..., Page]]:
    """As everywhere, but a refused verdict (409, 422, 500) and a server that was stopped are no errors of the page."""
    with windows(browser, EXPECTED.search) as opened:
        yield opened


@pytest.fixture
def desk(server_for: Callable[[str], RunningServer]) -> RunningServer:
    return server_for("ada")
