"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from tests.length import PROFILE
from tests.sabotage import sabotage

from errata.store.database import Store, open_store

FIXTURES = Path(__file__).parent / "fixtures"

# pages are tested at the width of a pipe, wherever the tests run
os.environ.pop("COLUMNS", None)

# a short pass of every property for each change; `make properties` looks for longer
settings.register_profile("short", max_examples=15, deadline=None)
settings.register_profile("long", max_examples=1_000, deadline=None)
settings.load_profile(PROFILE)

if target := os.environ.get("ERRATA_SABOTAGE"):
    sabotage(target)


@pytest.fixture
def fixtures() -> Path:
    return FIXTURES


@pytest.fixture
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(at_home: Path) -> Store:
    """A fresh store."""
    return open_store(at_home / "store" / "errata.db")
