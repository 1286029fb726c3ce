"""Several processes read the lines of one large file, and the store is the same as if one had read them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select, text

from errata.errors import ReadAloneError
from errata.model.attempt_rows import AttemptRows
from errata.model.record import TurnBegins
from errata.runs import importing, reader_processes
from errata.runs.importing import import_orders
from errata.runs.log_search import Order, look_for
from errata.sources import RecognisedPath, conversation_bench, generic, line_shares, read_rows
from errata.sources.base import Match, ReaderShare, json_lines
from errata.store.database import Store, open_store
from errata.store.packing import pack_items, seal
from errata.store.schema import metadata, runs
from errata.store.shared_rows import laid_out, pack_shared

MAP = '[case]\nname = "id"\ninput = "question"\n[attempt]\npassed = "ok"\noutput = "answer"\nmessages = "talk"\n'
TABLES = ("attempts", "checks", "blocks", "cases", "unreadables", "blob_uses")


def mapped(folder: Path, lines: list[bytes], mapping: str = MAP) -> Path:
    (folder / "map.toml").write_text(mapping)
    (folder / "rows.jsonl").write_bytes(b"".join(lines))
    return folder / "rows.jsonl"


def row(number: int, **more) -> bytes:
    talk = [{"role": "user", "content": "x" * (number % 7 * 300)}, {"role": "assistant", "content": f"{number}"}]
    fields = {"id": f"q{number}", "question": f"what is {number}?", "ok": number % 3 > 0, "answer": "a", "talk": talk}
    return json.dumps(fields | more).encode() + b"\n"


def share_of(path: Path, number: int, count: int, messages: list[bytes]):
    found = RecognisedPath(path, generic.with_map(path.with_name("map.toml")), Match.sure("given"))
    return read_rows(found, ReaderShare(number, count, messages.append, lambda: messages))


def turns_of(path: Path, count: int) -> list[list[object]]:
    """The frames of every reader, turn by turn, as the writing process takes them."""
    messages: list[bytes] = []
    others = [list(pack_shared(share_of(path, number, count, messages))) for number in range(1, count)]
    first = list(pack_shared(share_of(path, 0, count, messages)))
    turns = [[]]
    readers = [iter(first), *map(iter, others)]
    while readers:
        for reader in list(readers):
            for frame in reader:
                turns[-1].append(frame)
                if frame.ends_turn:
                    break
            else:
                readers.remove(reader)
    return turns[0]


def rows_of(store: Store) -> dict[str, list[tuple[object, ...]]]:
    facts = "digest, revision, counts, record, name, suite, model, started_at, origin"
    with store.reading() as connection:
        current = select(*(runs.c[name] for name in facts.split(", "))).where(runs.c.state == "current")
        kept = {"runs": connection.execute(current).all()}
        for name in TABLES:
            query = select(metadata.tables[name]).order_by(text("1"), text("2"))
            kept[name] = [row[1:] for row in connection.execute(query)]
    return {name: [tuple(row) for row in rows] for name, rows in kept.items()}


def imported(
    path: Path, store: Path, source: str = "generic", mapping: str = ""
) -> dict[str, list[tuple[object, ...]]]:
    opened = open_store(store)
    import_orders([Order(str(path), source, mapping)], opened)
    return rows_of(opened)


@pytest.fixture
def sharing(monkeypatch):
    """Every log is large, and every turn small; in the reading processes, too."""
    monkeypatch.setattr(reader_processes, "PARALLEL_FROM", 0)
    monkeypatch.setattr(reader_processes, "readers_of_lines", lambda: 3)
    monkeypatch.setattr(importing, "ROWS_FROM", 10**9)


@pytest.mark.parametrize("count", [2, 3])
def test_frames_of_several_readers_become_the_batches_of_one(tmp_path, monkeypatch, count):
    monkeypatch.setattr(line_shares, "TURN_SIZE", 5_000)
    path = mapped(tmp_path, [*(row(number) for number in range(900)), b"{ no row\n", row(901)])
    source = generic.with_map(tmp_path / "map.toml")

    alone = list(seal(pack_items(source.read(path))))
    shared = list(seal(laid_out(turns_of(path, count))))

    assert [batch.parts for batch in shared if any(part.attempts for part in batch.parts.values())] == [
        batch.parts for batch in alone if any(part.attempts for part in batch.parts.values())
    ]
    assert shared[-1] == alone[-1]
    assert [item for batch in shared for item in batch.unreadables] == [
        item for batch in alone for item in batch.unreadables
    ]


def test_the_store_is_the_same_however_many_read(tmp_path, sharing):
    path = mapped(tmp_path, [row(number) for number in range(6_000)])
    shared = imported(path, tmp_path / "shared.db", mapping=str(tmp_path / "map.toml"))
    reader_processes.PARALLEL_FROM = 10**9

    alone = imported(path, tmp_path / "alone.db", mapping=str(tmp_path / "map.toml"))

    assert shared == alone
    assert len(shared["attempts"]) == 6_000


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([row(1), *(row(number) for number in range(2, 40)), row(1)], "a case has two rows"),
        ([*(row(number) for number in range(40)), row(41, ok="perhaps")], "a value is not understood"),
        ([*(row(number) for number in range(40)), row(42, answer="bad").replace(b"bad", b"b\xffd")], "a damaged text"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_rows_that_depend_on_others_are_read_by_one(tmp_path, monkeypatch, lines, why):
    monkeypatch.setattr(line_shares, "TURN_SIZE", 1_000)
    path = mapped(tmp_path, lines)

    with pytest.raises(ReadAloneError):
        turns_of(path, 2)


def test_a_log_that_turns_out_to_need_one_reader_is_imported_all_the_same(tmp_path, sharing):
    path = mapped(tmp_path, [*(row(number) for number in range(3_000)), row(1), row(2, ok="perhaps")])
    shared = imported(path, tmp_path / "shared.db", mapping=str(tmp_path / "map.toml"))
    reader_processes.PARALLEL_FROM = 10**9

    assert shared == imported(path, tmp_path / "alone.db", mapping=str(tmp_path / "map.toml"))


@pytest.mark.parametrize(
    "odd", [b"", b"{ no row\n", row(1), row(2, ok="perhaps"), row(9_000, answer="bad").replace(b"bad", b"b\xffd")]
)
def test_one_reader_packs_usual_rows_as_it_packs_their_records(tmp_path, monkeypatch, odd):
    path = mapped(tmp_path, [*(row(number) for number in range(1_000)), odd])
    monkeypatch.setattr(importing, "ROWS_FROM", 0)
    packed = imported(path, tmp_path / "packed.db", mapping=str(tmp_path / "map.toml"))
    monkeypatch.setattr(importing, "ROWS_FROM", 10**9)

    assert packed == imported(path, tmp_path / "alone.db", mapping=str(tmp_path / "map.toml"))


CONVERSATIONS = Path(__file__).parents[1] / "fixtures/sources/conversation_bench"


@pytest.mark.parametrize("name", sorted({path.parent.name for path in CONVERSATIONS.glob("*/data")}))
def test_every_conversation_is_stored_alike_with_rows_and_with_records(tmp_path, monkeypatch, name):
    orders = look_for([CONVERSATIONS / name / "data"])
    stores = []
    for rows_from in (0, 10**9):
        monkeypatch.setattr(importing, "ROWS_FROM", rows_from)
        stores.append(open_store(tmp_path / f"{rows_from}.db"))
        import_orders(orders, stores[-1])

    assert orders
    assert rows_of(stores[0]) == rows_of(stores[1])


@pytest.mark.parametrize("column", ['index = "n"', 'session = "n"'])
def test_a_mapping_that_numbers_attempts_is_not_shared(tmp_path, column):
    path = mapped(tmp_path, [row(number, n=1) for number in range(5)], MAP + column)

    assert share_of(path, 0, 2, []) is None


def judged_turn(number: int, **more) -> bytes:
    fields = {
        "ts": f"2026-03-01T10:{number // 60 % 60:02}:{number % 60:02}.000Z", "turn": number, "model_name": "m",
        "user_text": "hello", "assistant_text": "[MODEL_ENDED_SESSION]" if number == 700 else "good day",
        "tool_calls": [], "tool_results": [], "scores": {"turn_taking": number % 5 > 0}, "judge_reasoning": "fine",
    }  # fmt: skip
    return json.dumps(fields | more).encode() + b"\n"


@pytest.mark.parametrize("repeated", [False, True])
def test_turns_of_a_conversation_are_shared(tmp_path, sharing, repeated):
    folder = tmp_path / "run"
    folder.mkdir()
    lines = [judged_turn(number) for number in range(3_000) if number != 17]
    lines += [judged_turn(5)] if repeated else []
    (folder / "openai_judged.jsonl").write_bytes(b"".join(lines))
    (folder / "runtime.json").write_text(json.dumps({"model_name": "m", "turns": 3_001}))
    shared = imported(folder, tmp_path / "shared.db", "conversation-bench")
    reader_processes.PARALLEL_FROM = 10**9

    alone = imported(folder, tmp_path / "alone.db", "conversation-bench")

    assert shared == alone
    assert len(shared["attempts"]) == 3_001 + repeated  # two turns are missing


@given(
    lines=st.lists(
        st.sampled_from([b"", b" ", b'{"a": 1}', b"[2]", b"{", b'"' + b"long " * 30 + b'"', b"\xef\xbb\xbf3"])
    ),
    end=st.sampled_from([b"", b"\n", b"\r\n\n"]),
    size=st.integers(1, 60),
    count=st.integers(1, 4),
)
def test_every_line_is_read_once_and_has_its_number(tmp_path_factory, lines, end, size, count):
    path = tmp_path_factory.mktemp("lines") / "rows.jsonl"
    path.write_bytes(b"\n".join(lines) + end)
    before, line_shares.TURN_SIZE = line_shares.TURN_SIZE, size
    try:
        shares = [
            list(line_shares.shared_json_lines(path, ReaderShare(number, count, bytes, list), source="s", root=path))
            for number in range(count)
        ]
    finally:
        line_shares.TURN_SIZE = before

    found = [item for share in shares for item in share if not isinstance(item, TurnBegins)]

    assert sorted(found, key=lambda item: item.ref.line) == list(json_lines(path, source="s", root=path))


SMALL = 'suite = "s"\n[case]\nname = "id"\n[attempt]\npassed = "ok"\noutput = "answer"\n'


def small_row(number: int, **more) -> bytes:
    fields = {"id": f"q-{number}", "answer": f"é{number % 9}", "gold": number % 5, "ok": number % 3 > 0}
    return json.dumps(fields | more).encode() + b"\n"


def packed_and_alone(folder: Path, lines: list[bytes], mapping: str = SMALL) -> tuple[bool, list[object], list[object]]:
    """Whether whole turns were packed; then what several readers give, and what one does."""
    path = mapped(folder, lines, mapping)
    items = share_of(path, 0, 1, [])
    is_packed = any(type(item) is AttemptRows for item in items)
    shared = seal(laid_out(turns_of(path, 2)))
    alone = seal(pack_items(generic.with_map(folder / "map.toml").read(path)))
    return is_packed, *([(batch.parts, batch.unreadables) for batch in some if batch.parts] for some in (shared, alone))


def test_turns_of_usual_rows_are_packed_as_their_records_are(tmp_path, monkeypatch):
    monkeypatch.setattr(line_shares, "TURN_SIZE", 20_000)

    is_packed, shared, alone = packed_and_alone(tmp_path, [small_row(number) for number in range(9_000)])

    assert is_packed
    assert shared == alone


@pytest.mark.parametrize(
    "odd",
    [
        b"\n",
        b"{ no row\n",
        b'{"id": "x",\n"ok": true, "answer": "a"}\n',
        b'{"id": "x", "ok": true, "answer": "a"}{"id": "y", "ok": true, "answer": "a"}\n',
        b'{"id": "x", "ok": true, "answer": "a"}\r\n',
        b'{"id": "x", "ok": true, "answer": "a"}',
        b'{"id": "x", "ok": true, "answer": "a", "gold": {"deep": [1, 1e3]}}\n',
        b'{"id": "x", "ok": true, "answer": "a", "gold": 123456789012345678901234567890}\n',
        b'{"id": "50%#1", "ok": true, "answer": "", "more": null, "gold": 1.5}\n',
        b'{"id": "", "ok": true, "answer": "a"}\n',
        b'{"id": 7, "ok": true, "answer": "a"}\n',
        b'{"id": "x", "ok": null, "answer": "a"}\n',
        b'{"id": "x", "answer": "a"}\n',
        b'{"id": "x", "ok": true, "answer": null}\n',
        b'{"id": "x", "ok": true, "answer": "a", "@run": 1}\n',
        b'{"id": "x", "ok": true, "answer": "a", "ok": false}\n',
        b'{"ok": true, "gold": 3, "b": 1, "id": "x", "a": 2, "answer": "a"}\n',
        json.dumps({"id": "x", "ok": True, "answer": "a" * 30_000, "gold": "b" * 30_000}).encode() + b"\n",
    ],
)
@pytest.mark.parametrize("place", [0, 300, 900])
@pytest.mark.parametrize("more", [{}, {"long": "y" * 300}], ids=["short", "long"])
def test_an_odd_line_among_usual_ones_is_read_as_by_one_reader(tmp_path, monkeypatch, odd, place, more):
    monkeypatch.setattr(line_shares, "TURN_SIZE", 20_000)
    lines = [small_row(number, **more) for number in range(900)]
    lines.insert(place, odd if odd.endswith(b"\n") or place == 900 else odd + b"\n")

    is_packed, shared, alone = packed_and_alone(tmp_path, lines)

    assert is_packed
    assert shared == alone


def test_rows_without_an_answer_and_without_other_columns_are_packed(tmp_path):
    mapping = '[case]\nname = "id"\n[attempt]\npassed = "ok"\n'
    lines = [json.dumps({"id": f"{number}", "ok": number % 2 > 0}).encode() + b"\n" for number in range(400)]

    is_packed, shared, alone = packed_and_alone(tmp_path, lines, mapping)

    assert is_packed
    assert shared == alone


def test_a_case_with_two_packed_rows_is_left_to_one_reader(tmp_path):
    path = mapped(tmp_path, [small_row(1), small_row(2), small_row(1)], SMALL)

    with pytest.raises(ReadAloneError):
        list(share_of(path, 0, 1, []))


def call(name: str = "book", **response) -> dict[str, object]:
    return {
        "tool_calls": [{"name": name, "args": {"slot": "Fri 11:00"}}],
        "tool_results": [{"name": name, "response": response}],
    }


ODD_TURNS = [
    {},
    {"assistant_text": ""},
    {"user_text": ""},
    {"assistant_text": "see <b> and {x}"},
    {"assistant_text": "[MODEL_ENDED_SESSION]"},
    {"assistant_text": "[EMPTY_RESPONSE: none]"},
    {"assistant_text": "x" * 30_000},
    call(status="error"),
    call(status="success", booking=1.5),
    call() | {"tool_results": []},
    {"tokens": None},
    {"tokens": {}},
    {"tokens": {"prompt_tokens": 3, "completion_tokens": 4}},
    {"tokens": {"prompt_tokens": 3, "other": 4}},
    {"ttfb_ms": None, "latency_ms": None, "reconnection_count": None},
    {"reconnection_count": 3},
    {"scores": {}},
    {"scores": {"turn_taking": None}},
    {"scores": {"turn_taking": False, "new_dimension": True}},
    {"scores": {"turn_taking": "maybe"}},
    {"judge_reasoning": ""},
    {"model_name": "another"},
    {"ts": "no time"},
    {"ts": "2026-03-01T10:00:00+02:00"},
    {"unknown": 1},
]


@pytest.mark.parametrize("odd", ODD_TURNS, ids=lambda odd: "-".join(odd) or "usual")
def test_packed_turns_are_packed_as_their_records_are(tmp_path, monkeypatch, odd):
    monkeypatch.setattr(line_shares, "TURN_SIZE", 20_000)
    folder = tmp_path / "run"
    folder.mkdir()
    lines = [judged_turn(number, **(odd if number in (0, 90, 299) else {})) for number in range(300)]
    (folder / "openai_judged.jsonl").write_bytes(b"".join(lines))
    (folder / "runtime.json").write_text(json.dumps({"model_name": "m", "turns": 300}))
    items = list(conversation_bench.read_rows(folder, ReaderShare(0, 1, bytes, list)))

    shared = seal(laid_out(pack_shared(items)))
    alone = seal(pack_items(conversation_bench.read(folder)))

    assert any(type(item) is AttemptRows for item in items)
    assert [(one.parts, one.unreadables) for one in shared if one.parts] == [
        (one.parts, one.unreadables) for one in alone if one.parts
    ]


CHAT = 'suite = "s"\n[case]\nname = "id"\n[attempt]\npassed = "ok"\nmessages = "talk"\n'
USER, ASSISTANT = {"role": "user", "content": "Where?"}, {"role": "assistant", "content": "At pier four, é."}
ODD_CHATS = [
    [USER],
    [ASSISTANT],
    [ASSISTANT, ASSISTANT, USER, ASSISTANT],
    [USER, USER | {"role": "human"}, ASSISTANT, USER | {"role": "ai", "content": ""}],
    [USER, ASSISTANT | {"content": "x" * 30_000}],
    [USER, ASSISTANT, USER, ASSISTANT | {"content": "see {x}"}],
    [USER, ASSISTANT | {"content": "see <b>"}, USER, ASSISTANT],
    [USER, ASSISTANT, USER, ASSISTANT | {"content": "[TOOL_CALLS] look"}],
    [USER, ASSISTANT, USER, ASSISTANT | {"content": " "}],
    [USER, ASSISTANT, USER, ASSISTANT | {"content": "token=ghp_" + "a1" * 18 + " " + "x" * 290}],
    [USER | {"role": "System"}, ASSISTANT],
    [USER, {"role": "tool", "content": "4"}, ASSISTANT],
    [USER, ASSISTANT | {"name": "Planner"}],
    [USER, ASSISTANT | {"content": [{"type": "text", "text": "here"}]}],
    [USER, ASSISTANT | {"content": None}],
    [],
    None,
]


@pytest.mark.parametrize("output", ["", 'output = "answer"\n'], ids=["last message", "output"])
@pytest.mark.parametrize("odd", ODD_CHATS)
def test_packed_transcripts_are_packed_as_their_records_are(tmp_path, monkeypatch, odd, output):
    monkeypatch.setattr(line_shares, "TURN_SIZE", 20_000)
    talk = [USER, ASSISTANT] * 4
    lines = [small_row(number, talk=odd if number in (0, 90, 299) else talk) for number in range(300)]

    is_packed, shared, alone = packed_and_alone(tmp_path, lines, CHAT + output)

    assert is_packed
    assert shared == alone


@pytest.mark.parametrize("odd", [{"note": "x" * 30_000}, {"note": [USER]}, {"note": []}, {"note": {"deep": 1}}])
def test_columns_beside_a_transcript_are_kept_as_in_their_records(tmp_path, monkeypatch, odd):
    monkeypatch.setattr(line_shares, "TURN_SIZE", 20_000)
    lines = [small_row(number, talk=[USER, ASSISTANT], **(odd if number == 90 else {})) for number in range(300)]

    is_packed, shared, alone = packed_and_alone(tmp_path, lines, CHAT)

    assert is_packed
    assert shared == alone
