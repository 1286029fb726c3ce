"""The index of a server is brought up to date in the background, whatever happens to the store meanwhile."""

import threading

from errata.errors import StoreError
from errata.server import indexing
from errata.server.indexing import Indexer
from errata.settings import Settings
from errata.verbs.store import open_store


def test_indexing_goes_on_after_the_store_was_out_of_reach(tmp_path, monkeypatch):
    monkeypatch.setattr(indexing, "PAUSE", 0.01)
    path = tmp_path / "errata.db"
    open_store(path).engine.dispose()
    looks = []
    came_back = threading.Event()

    def cut_twice(indexer, store):
        looks.append(store)
        if len(looks) < 3:
            raise StoreError("The connection to the database was lost")
        came_back.set()

    monkeypatch.setattr(Indexer, "_bring_up_to_date", cut_twice)
    indexer = Indexer(Settings(store=path))
    indexer.start()
    try:
        assert came_back.wait(30)
    finally:
        indexer.close()
    assert len(set(map(id, looks[:3]))) == 3, "each time the store is opened again"
