"""Fixtures that every test may use."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from tests import table_rows
from tests.engines import ON_POSTGRES, drop_databases, use_postgres
from tests.length import LONG, PROFILE
from tests.rewriting import rewrite_share
from tests.sabotage import sabotage

from errata.settings import BRANCHES, COMMITS
from errata.store.database import Store, open_store

FIXTURES = Path(__file__).parent / "fixtures"
IN_MEMORY = "/dev/shm"
REPORTS = Path(__file__).parent.parent / "reports"

# without bytecode files, every worker and every `errata` process that a test starts compiles everything again
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# a file system in memory, where there is one: every store that a test writes is synced to its disk
if os.access(IN_MEMORY, os.W_OK):
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", IN_MEMORY)

# these take longest: begun last, they would keep one worker busy after the others are done, and a worker that takes one
# of their tests from another would build what they share again
LONGEST = (
    "test_real_model.py",
    "test_soak.py",
    "test_startup.py",
    "test_same_numbers.py",
    "test_json_shapes.py",
    "test_terminal_width.py",
)

# a run that a test imports tested no branch, wherever the tests run
for name in (*BRANCHES, *COMMITS):
    os.environ.pop(name, None)

# pages are tested at the width of a pipe, wherever the tests run
os.environ.pop("COLUMNS", None)

# a short pass of every property for each change; `make properties` looks for longer
settings.register_profile("short", max_examples=10, deadline=None)
settings.register_profile("long", max_examples=1_000, deadline=None)
settings.load_profile(PROFILE)

# Hypothesis also tries constants of our source, and parses all of it in every worker: that is for the long pass
if not LONG:
    providers._get_local_constants = lambda: providers._local_constants

if target := os.environ.get("ERRATA_SABOTAGE"):
    sabotage(target)


if ON_POSTGRES:
    use_postgres()


pytest_pycollect_makeitem = table_rows.pytest_pycollect_makeitem


@pytest.hookimpl(optionalhook=True)  # the environment of Ray has no pytest-xdist
def pytest_xdist_auto_num_workers() -> int | None:
    """One more than there are cores: tests also wait, for a browser, a server or a process that they started."""
    return None if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else (os.cpu_count() or 1) + 1


def pytest_sessionstart(session: pytest.Session) -> None:
    worker = getattr(session.config, "workerinput", None)
    if worker and not sys.dont_write_bytecode:
        rewrite_share(session.config, int(worker["workerid"].removeprefix("gw")), worker["workercount"])


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if ON_POSTGRES:
        of_a_file = [item for item in items if item.get_closest_marker("sqlite")]
        config.hook.pytest_deselected(items=of_a_file)
        items[:] = [item for item in items if item not in of_a_file]
    items.sort(key=lambda item: item.path.name not in LONGEST)


def pytest_collection_finish() -> None:
    """Keep thousands of collected tests out of every later garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def fixtures() -> Path:
    return FIXTURES


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a new store. Copying it takes a fifth of the time of creating one."""
    path = tmp_path_factory.mktemp("empty") / "errata.db"
    open_store(path).engine.dispose()
    return path.read_bytes()


@pytest.fixture
def store(at_home: Path, empty_store: bytes) -> Iterator[Store]:
    """A fresh store. Its connections are kept open, as every command does."""
    path = at_home / "store" / "errata.db"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(empty_store)
    with ExitStack() as kept:
        yield open_store(path, keep_open=kept.enter_context)


if ON_POSTGRES:  # as a fixture of every test it would keep rows of a table from being checked in one test

    @pytest.fixture(scope="session", autouse=True)
    def one_cache_for_all_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
        """Servers that several tests share keep their index there; no two databases have the same name."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
            yield

    @pytest.fixture(autouse=True)
    def databases_end_with_their_test(tmp_path: Path) -> Iterator[None]:
        yield
        drop_databases(tmp_path)


@pytest.fixture(autouse=True)
def nothing_is_left_in_the_repository() -> Iterator[None]:
    """Reports in its root would be found by every command that looks around the fixtures."""
    yield
    assert not REPORTS.exists(), "this test, or one beside it, wrote reports into the repository"
