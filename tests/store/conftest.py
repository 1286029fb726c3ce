"""A fresh store for each test."""

from pathlib import Path

import pytest

from errata.store.database import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "store" / "errata.db")
