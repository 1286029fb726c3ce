"""A log that has not changed since its import is not read again; one that has is."""

import shutil

import pytest

from errata.runs import importing
from errata.runs.importing import import_orders
from errata.runs.log_search import Order, look_for
from errata.store.database import open_store
from errata.store.runs import all_runs
from terminal import FIXTURES

MAP = '[case]\nname = "id"\n[attempt]\npassed = "ok"\n'
CONVERSATION = next((FIXTURES / "conversation_bench").glob("*/data/**/*_judged.jsonl")).parent
INSPECT = next((FIXTURES / "inspect_ai").glob("*/data/*.eval"))


@pytest.fixture
def reads(monkeypatch) -> list[str]:
    """The logs that were read; none is too small to be remembered."""
    monkeypatch.setattr(importing, "LEAST", 0)
    read: list[str] = []
    real = importing.items_of
    monkeypatch.setattr(importing, "items_of", lambda order: read.append(order.path) or real(order))
    return read


@pytest.fixture
def mapped(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"id": "a", "ok": true}\n{"id": "b", "ok": false}\n{"id": \n')
    (tmp_path / "map.toml").write_text(MAP)
    return Order(str(tmp_path / "rows.jsonl"), "generic", str(tmp_path / "map.toml"))


def changes(orders, store) -> list[tuple[str, int]]:
    return [(run.change, run.revision) for summary in import_orders(orders, store) for run in summary.runs]


@pytest.mark.parametrize("path", [CONVERSATION, INSPECT], ids=["conversation", "inspect"])
def test_a_log_is_read_once(tmp_path, reads, path):
    store = open_store(tmp_path / "store.db")

    assert [changes(look_for([path]), store)[0] for _ in range(3)] == [("new", 1), ("unchanged", 1), ("unchanged", 1)]
    assert len(reads) == 1


def test_the_second_import_is_summarised_as_the_first(tmp_path, reads, mapped):
    store = open_store(tmp_path / "store.db")
    (first,), (second,) = import_orders([mapped], store), import_orders([mapped], store)

    assert len(reads) == 1
    assert (second.attempts, second.unreadable, second.runs[0].pk) == (2, 1, first.runs[0].pk)
    assert [item.why for item in second.examples] == [item.why for item in first.examples]


@pytest.mark.parametrize("what", ["rows.jsonl", "map.toml", "program"])
def test_whatever_its_rows_come_from_is_read_again_when_it_changes(tmp_path, reads, mapped, monkeypatch, what):
    store = open_store(tmp_path / "store.db")
    import_orders([mapped], store)
    if what == "program":
        monkeypatch.setattr(importing, "_program", lambda: "another version")
    else:
        more = '{"id": "c", "ok": true}\n' if what == "rows.jsonl" else 'output = "id"\n'
        (tmp_path / what).write_text((tmp_path / what).read_text().replace('{"id": \n', "") + more)
    import_orders([mapped], store)

    assert len(reads) == 2


def test_another_file_of_a_conversation_counts_too(tmp_path, reads):
    folder = shutil.copytree(CONVERSATION, tmp_path / "run")
    store = open_store(tmp_path / "store.db")
    import_orders(look_for([folder]), store)
    runtime = folder / "runtime.json"
    runtime.write_text(runtime.read_text().replace("}", ', "added": 1}', 1) if runtime.exists() else '{"added": 1}')
    import_orders(look_for([folder]), store)

    assert len(reads) == 2


def test_a_log_that_changes_while_it_is_read_is_read_again(tmp_path, reads, mapped, monkeypatch):
    store = open_store(tmp_path / "store.db")
    real = importing._import_batches

    def meanwhile(order, *rest, **options):
        with (tmp_path / "rows.jsonl").open("a") as file:
            file.write('{"id": "c", "ok": true}\n')
        return real(order, *rest, **options)

    monkeypatch.setattr(importing, "_import_batches", meanwhile)
    import_orders([mapped], store)
    monkeypatch.setattr(importing, "_import_batches", real)
    import_orders([mapped], store)

    assert len(reads) == 2
    assert all_runs(store)[0].counts.attempts == 3
