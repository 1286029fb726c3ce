"""Pages: within their budget, and together the whole answer."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.errors import SettingsError
from errata.mcp.paging import AROUND, FIELDS, FIXED, SMALL, Cursor, page_of, read_cursor
from errata.model.output import all_shapes

ROOM = 6_000
words = st.text(st.sampled_from('ab \n"é\x01漢'), max_size=12).map(lambda word: word * 30)
items = st.fixed_dictionaries(
    {
        "id": st.integers(0, 9),
        "text": words.map(lambda word: word * 6),
        "parts": st.lists(st.fixed_dictionaries({"place": st.just("task"), "text": words}), max_size=9),
        "pair": st.tuples(words, words).map(list),
        "table": st.sampled_from((0, 1, 24, 65, 90)).map(
            lambda count: {f"key {at}": "value" * 9 for at in range(count)}
        ),
    }
)


def pages(whole, room=ROOM):
    """Each page with the cursor that led to it."""
    cursor = Cursor(of="")
    while True:
        page = page_of(whole, cursor, room=room)
        yield cursor, page
        if page.next is None:
            return
        assert (page.next.at, page.next.inside) != (cursor.at, cursor.inside)
        cursor = page.next


def size(value):
    return len(msgspec.json.encode(value))


def joined(whole, before, shown, positions, pointer=""):
    """What is known of a value after another page of it."""
    if not isinstance(whole, str | list | dict) or size(whole) <= SMALL:
        return shown
    start = positions.get(pointer, 0)
    if isinstance(whole, str):
        return before if start < 0 else before[:start] + shown
    if isinstance(whole, dict) and len(whole) <= FIELDS:
        return {name: joined(whole[name], before[name], shown[name], positions, f"{pointer}/{name}") for name in whole}
    if isinstance(whole, list) and len(whole) <= FIXED:
        return [joined(whole[at], before[at], shown[at], positions, f"{pointer}/{at}") for at in range(len(whole))]
    if start < 0:
        return before
    if isinstance(whole, dict):
        return dict(list(before.items())[:start]) | shown
    added = list(before[:start])
    for at, one in enumerate(shown, start):
        earlier = before[at] if at < len(before) else emptied(whole[at])
        added.append(joined(whole[at], earlier, one, positions if at == start else {}, f"{pointer}/{at}"))
    return added


def emptied(value):
    if not isinstance(value, str | list | dict) or size(value) <= SMALL:
        return value
    if isinstance(value, dict) and len(value) <= FIELDS:
        return {name: emptied(item) for name, item in value.items()}
    if isinstance(value, list) and len(value) <= FIXED:
        return [emptied(item) for item in value]
    return type(value)()


@given(st.lists(items, max_size=4))
def test_pages_stay_within_their_room_and_together_hold_everything(whole):
    known = [emptied(item) for item in whole]
    for cursor, page in pages(whole):
        assert size(page.items) <= ROOM + AROUND // 2
        for at, shown in enumerate(page.items, cursor.at):
            positions = cursor.inside if at == cursor.at else {}
            known[at] = joined(whole[at], known[at], shown, positions)

    assert known == whole


def test_small_items_are_never_cut():
    whole = [{"id": at, "text": "x" * 100} for at in range(500)]

    assert [item for _, page in pages(whole) for item in page.items] == whole


def test_only_the_items_of_a_page_are_prepared():
    looked_at = []
    cursor = Cursor(of="", at=900)

    page_of(range(100_000), cursor, prepare=lambda number: looked_at.append(number) or "x" * 100, room=1_000)

    assert looked_at[0] == 900
    assert len(looked_at) < 20


def test_what_can_not_be_cut_is_refused_and_not_sent():
    stubborn = {f"field {at}": {f"inner {by}": by for by in range(20)} for at in range(50)}

    with pytest.raises(SettingsError, match="too many parts"):
        page_of([stubborn], Cursor(of=""), room=1_000)


def test_a_cursor_is_read_back():
    first = read_cursor("", "failures", {"run": "latest"})
    later = Cursor(of=first.of, at=7, inside={"/text": 12}, about="a:b#1")

    assert read_cursor(later.encoded(), "failures", {"run": "latest"}) == later


@pytest.mark.parametrize("given", ["%%%", "abc", "e30", Cursor(of="other").encoded(), Cursor(of="", at=-3).encoded()])
def test_a_cursor_of_another_call_or_of_nobody_is_refused(given):
    with pytest.raises(SettingsError, match="cursor"):
        read_cursor(given, "failures", {"run": "latest"})


def test_no_record_has_as_many_fields_as_a_table_that_may_be_cut():
    from errata.mcp.tools import TOOLS

    records = {kind for tool in TOOLS.values() for kind in tool.gives} | {
        shape for shape in all_shapes().values() if isinstance(shape, type)
    }

    assert max(len(record.__struct_fields__) for record in records) <= FIELDS
