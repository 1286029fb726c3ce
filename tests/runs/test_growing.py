"""A log that has grown: only the added lines are read, and the store is the same as after a whole import."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from errata.runs import growing, importing
from errata.runs.importing import PathSummary, import_orders
from errata.runs.log_search import Order
from errata.sources import line_growth
from errata.sources.generic import packed_rows, tables
from errata.store import blocks, growth, packing, shared_rows
from errata.store.database import open_store
from errata.store.runs import run_by_id, unreadables_of
from facts_in_store import facts_in

MAP = """
[case]
name = "id"
input = "question"
[attempt]
passed = "ok"
output = "answer"
messages = "talk"
started_at = {column = "at", optional = true}
cost = {column = "cost", optional = true}
[checks]
format = {column = "fits", optional = true}
"""


@pytest.fixture(autouse=True)
def everything_grows(monkeypatch):
    """Small logs are handled like large ones, with blocks and batches to match."""
    monkeypatch.setattr(importing, "GROWS_FROM", 0)
    monkeypatch.setattr(importing, "BATCHES_IN_MEMORY", 1)
    for module in (packing, shared_rows):
        monkeypatch.setattr(module, "BATCH_ROWS", 7)
    monkeypatch.setattr(tables, "SAMPLE", 5)
    for module in (blocks, growth, shared_rows):
        monkeypatch.setattr(module, "BLOCK_SIZE", 1_500)


@pytest.fixture
def grown(monkeypatch):
    """Counts the imports that read only the added lines."""
    done: list[growing.GrownPath | None] = []
    grow = growing.grow

    def counted(order, store, write_waiting):
        result = grow(order, store, write_waiting)
        done.append(result)
        return result

    monkeypatch.setattr(growing, "grow", counted)
    return done


def row(number: int, **more) -> bytes:
    talk = [{"role": "user", "content": "x" * (number % 7 * 30)}, {"role": "assistant", "content": f"{number}"}]
    at = f"2026-03-01T10:{number % 60:02}:00Z"
    fields = {"id": f"q{number}", "question": f"what is {number}?", "ok": number % 3 > 0, "answer": "a", "talk": talk}
    fields |= {"at": at, "cost": 0.1 * (number % 11), "fits": number % 4 > 0}
    return json.dumps(fields | more).encode() + b"\n"


def mapped(folder: Path, lines: list[bytes], mapping: str = MAP) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "map.toml").write_text(mapping)
    (folder / "rows.jsonl").write_bytes(b"".join(lines))
    return folder / "rows.jsonl"


def imported(path: Path, store: Path) -> PathSummary:
    order = Order(str(path), "generic", str(path.with_name("map.toml")))
    return import_orders([order], open_store(store))[0]


def whole(path: Path, lines: list[bytes], earlier: list[bytes], store: Path) -> tuple[PathSummary, dict[str, object]]:
    """The same two imports, each of the whole log."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(growing, "grow", lambda *_: None)
        path.write_bytes(b"".join(earlier))
        imported(path, store)
        path.write_bytes(b"".join(lines))
        summary = imported(path, store)
    return summary, facts_in(store)


def without_number(summary: PathSummary) -> tuple[object, ...]:
    runs = [(run.id, run.change, run.revision) for run in summary.runs]
    return summary.path, runs, summary.attempts, summary.unreadable, summary.examples


def check_growth(folder: Path, earlier: list[bytes], added: list[bytes], *, changed: list[bytes] | None = None) -> None:
    path = mapped(folder, earlier)
    imported(path, folder / "grown.db")
    lines = [*(earlier if changed is None else changed), *added]
    path.write_bytes(b"".join(lines))
    summary = imported(path, folder / "grown.db")
    again = imported(path, folder / "grown.db")

    expected, rows = whole(path, lines, earlier, folder / "whole.db")
    assert facts_in(folder / "grown.db") == rows
    assert without_number(summary) == without_number(expected)
    assert [run.change for run in again.runs] == ["unchanged" if summary.runs[0].change != "kept" else "kept"]


def test_only_the_added_lines_are_read(tmp_path, grown):
    check_growth(tmp_path, [row(number) for number in range(40)], [row(number) for number in range(40, 55)])

    assert [done is not None for done in grown] == [False, True, True]
    assert grown[1].run.change == "grown"
    assert grown[2].run.change == "unchanged"


@pytest.mark.parametrize(
    ("earlier", "added"),
    [
        ([row(1), row(2), b"{ cut\n", row(3)], [b"[]\n", row(4), b"{ cut\n"]),
        ([row(1), b"\r\n", row(2)[:-1] + b"\r\n"], [row(3)[:-1] + b"\r\n", b"\n", row(4)]),
        ([row(1), row(2)], [b"\n", b"   \n"]),
        ([row(1), row(2)], [row(3), row(4)[:-30]]),
        ([row(1), row(2)], [row(3), row(4)[:-1]]),
        ([row(1), row(2)], [row(3, fits=None), row(4, other="column")]),
    ],
    ids=["unreadable", "carriage returns", "empty lines", "cut off", "no last line feed", "other columns"],
)
def test_added_lines_of_any_kind(tmp_path, grown, earlier, added):
    many = [row(number) for number in range(100, 140)]
    check_growth(tmp_path, [*many, *earlier], added)

    assert grown[1] is not None


@pytest.mark.parametrize(
    ("earlier", "added"),
    [
        ([row(1), row(2), row(3)[:-20]], [row(3)[-20:], row(4)]),
        ([row(1), row(2)], [row(3), row(1)]),
        ([row(1), row(2)], [row(3), row(3)]),
        ([row(1), row(2), row(1)], [row(3)]),
        ([row(1), row(2)], [row(3, ok="perhaps")]),
        ([row(1), row(2)], [row(3, answer="bad").replace(b"bad", b"b\xffd")]),
    ],
    ids=["cut before", "a known case", "a case twice", "twice before", "not understood", "damaged"],
)
def test_what_depends_on_earlier_rows_is_read_as_a_whole(tmp_path, grown, earlier, added):
    many = [row(number) for number in range(100, 140)]
    check_growth(tmp_path, [*many, *earlier], added)

    assert grown[1] is None


def test_an_edited_log_is_read_as_a_whole(tmp_path, grown):
    earlier = [row(number) for number in range(60)]
    changed = [*earlier[:30], row(30, answer="b"), *earlier[31:]]
    check_growth(tmp_path, earlier, [row(60)], changed=changed)

    assert grown[1] is None


def test_another_mapping_reads_the_whole_log(tmp_path, grown):
    path = mapped(tmp_path, [row(number) for number in range(60)])
    imported(path, tmp_path / "errata.db")
    mapped(tmp_path, [row(number) for number in range(61)], MAP.replace('output = "answer"\n', ""))

    assert imported(path, tmp_path / "errata.db").runs[0].change == "grown"
    assert grown[1] is None


def test_a_log_that_grows_while_it_is_read_is_read_again(tmp_path, grown, monkeypatch):
    path = mapped(tmp_path, [row(number) for number in range(60)])
    finish = importing.Importing.finish

    def while_reading(self):
        with path.open("ab") as file:
            file.write(row(1_000))
        return finish(self)

    with monkeypatch.context() as patch:
        patch.setattr(importing.Importing, "finish", while_reading)
        imported(path, tmp_path / "errata.db")
    summary = imported(path, tmp_path / "errata.db")

    assert (summary.attempts, summary.runs[0].change, grown) == (61, "grown", [None, None])


def test_derived_facts_of_the_shorter_run_are_gone(tmp_path, grown):
    path = mapped(tmp_path, [row(number) for number in range(60)])
    [run] = imported(path, tmp_path / "errata.db").runs
    store = open_store(tmp_path / "errata.db")
    from errata.runs.view import RunView

    before = len(list(RunView(run_by_id(store, run.id), store).failures()))
    mapped(tmp_path, [*(row(number) for number in range(60)), row(60), b"{\n"])
    imported(path, tmp_path / "errata.db")
    after = run_by_id(store, run.id)

    assert grown[1] is not None
    assert len(list(RunView(after, store).failures())) == before + 1
    assert len(unreadables_of(store, after.pk)) == 1


odd_lines = st.sampled_from(
    [b"\n", b"{ cut\n", b"[1]\n", b"\r\n", row(3)[:-1] + b"\r\n", row(5, ok=None), row(7, id="")]
)
numbers = st.lists(st.integers(0, 60), unique=True, max_size=40)
edits = st.sampled_from(["none", "none", "none", "prefix", "cut"])


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(numbers, st.lists(odd_lines, max_size=2), st.lists(st.integers(30, 90), max_size=12), edits, st.data())
def test_growth_gives_the_store_of_a_whole_import(tmp_path_factory, known, odd, new, edit, data):
    folder = tmp_path_factory.mktemp("grown")
    many = [row(number) for number in range(100, 100 + data.draw(st.integers(20, 60)))]
    earlier = data.draw(st.permutations([*many, *map(row, known), *odd]))
    added = [*map(row, new), *data.draw(st.lists(odd_lines, max_size=2))]
    if edit == "cut":
        earlier = [*earlier, row(99)[:-25]]
        added = [row(99)[-25:], *added]
    changed = [row(1, answer="other"), *earlier[1:]] if edit == "prefix" else None
    check_growth(folder, earlier, added, changed=changed)


@pytest.mark.parametrize("odd", [b"", b"{ no row\n", row(70, ok=False)], ids=["usual", "unreadable", "other columns"])
def test_added_lines_are_packed_many_at_once(tmp_path, grown, monkeypatch, odd):
    monkeypatch.setattr(line_growth, "TURN_SIZE", 300)
    mapping = '[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "answer"\nmessages = "talk"\n'
    lines = [row(number) for number in range(60)]
    path = mapped(tmp_path, lines[:40], mapping)
    imported(path, tmp_path / "grown.db")
    path.write_bytes(b"".join([*lines, odd]))

    packed: list[object] = []
    pack_each = packed_rows.pack_each
    monkeypatch.setattr(packed_rows, "pack_each", lambda rows: packed.append(rows) or pack_each(rows))
    imported(path, tmp_path / "grown.db")

    assert grown[-1] is not None
    assert packed
    _, rows = whole(path, [*lines, odd], lines[:40], tmp_path / "whole.db")
    assert facts_in(tmp_path / "grown.db") == rows
