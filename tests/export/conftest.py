"""A fresh store, and an empty folder to work in."""

from pathlib import Path

import pytest

from errata.store.database import Store, open_store


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store" / "errata.db")
