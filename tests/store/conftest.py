"""A fresh store for each test."""

from pathlib import Path

import pytest

from errata.store.database import Store, open_store


@pytest.fixture
def store(tmp_path: Path, empty_store: bytes) -> Store:
    path = tmp_path / "store" / "errata.db"
    path.parent.mkdir(mode=0o700)
    path.write_bytes(empty_store)
    return open_store(path)
