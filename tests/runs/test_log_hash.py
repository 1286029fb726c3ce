"""The hash over a log that the store may know, made while the store is opened."""

from hashlib import sha256

import pytest

from errata.runs import growing, importing, log_hash
from errata.runs.importing import import_orders
from errata.runs.log_hash import begin_hash, begun_hash, end_hashes
from errata.runs.log_search import Order
from errata.runs.log_states import stat_of
from errata.sources.generic import tables
from errata.store.database import open_store

MAP = '[case]\nname = "id"\n[attempt]\npassed = "ok"\n'


@pytest.fixture(autouse=True)
def hashed_early(monkeypatch):
    """Small logs are hashed like large ones. The threads of a test run do not keep this process from being copied."""
    monkeypatch.setattr(log_hash, "HASHED_FROM", 0)
    monkeypatch.setattr(log_hash, "_KEPT_EVERY", 64)
    monkeypatch.setattr(log_hash, "can_fork", lambda: True)
    monkeypatch.setattr(log_hash, "cores", lambda: 2)
    monkeypatch.setattr(tables, "SAMPLE", 5)  # later lines are not a part of the signature
    monkeypatch.setattr(importing, "GROWS_FROM", 0)
    monkeypatch.setattr(importing, "BATCHES_IN_MEMORY", 1)
    yield
    end_hashes()


def lines(count: int, *, passed: str = "true") -> bytes:
    return b"".join(b'{"id": "q%03d", "ok": %s}\n' % (number, passed.encode()) for number in range(count))


@pytest.fixture
def order(tmp_path) -> Order:
    (tmp_path / "map.toml").write_text(MAP)
    (tmp_path / "rows.jsonl").write_bytes(lines(20))
    return Order(str(tmp_path / "rows.jsonl"), "generic", str(tmp_path / "map.toml"))


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 128, 300, len(lines(20))])
def test_the_first_bytes_and_the_whole_log(tmp_path, order, size):
    begin_hash([order])
    early, path = begun_hash(order), tmp_path / "rows.jsonl"

    assert early.hashes(stat_of(path), size) == (
        sha256(lines(20)[:size]).digest(),
        sha256(lines(20)).digest(),
    )


def test_more_bytes_than_the_log_has(tmp_path, order):
    begin_hash([order])

    assert begun_hash(order).hashes(stat_of(tmp_path / "rows.jsonl"), len(lines(20)) + 1) is None


def test_a_log_that_cannot_be_read_has_no_answer(tmp_path, order, monkeypatch):
    monkeypatch.setattr(log_hash, "_update", lambda *_: False)
    begin_hash([order])

    assert begun_hash(order).hashes(stat_of(tmp_path / "rows.jsonl"), 100) is None


def test_a_log_that_changed_since_is_not_answered_for(tmp_path, order):
    begin_hash([order])
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(20, passed="null"))

    assert begun_hash(order).hashes(stat_of(path), 100) is None


def test_nothing_is_begun_for_what_cannot_grow(tmp_path, order):
    (tmp_path / "map.toml").write_text("no mapping")
    begin_hash([order])
    begin_hash([])

    assert begun_hash(order) is None


@pytest.mark.parametrize(
    ("second", "is_grown"), [(lines(30), True), (lines(20), True), (lines(30, passed="false"), False)]
)
def test_an_import_trusts_it_as_its_own(tmp_path, order, monkeypatch, second, is_grown):
    store, path = open_store(tmp_path / "errata.db"), tmp_path / "rows.jsonl"
    import_orders([order], store)
    path.write_bytes(second)
    seen = []
    read = growing._read

    def noted(*arguments, **named):
        seen.append(named.get("hashes"))
        return read(*arguments, **named)

    monkeypatch.setattr(growing, "_read", noted)
    begin_hash([order])
    [summary] = import_orders([order], store)

    assert seen[0] is not None
    assert summary.attempts == second.count(b"\n")
    assert (len(seen) == 1) is is_grown  # a whole import hashes the log itself
    assert begun_hash(order) is None
