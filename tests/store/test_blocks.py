"""Records collected into blocks and taken out again."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from errata.model import Attempt
from errata.model.codec import unpack
from errata.store import blocks
from errata.store.blocks import BLOCK_SIZE, BlockReader, BlockWriter, compress
from errata.testing import an_attempt


def written(records):
    numbers, made = iter(range(10_000)), {}
    writer = BlockWriter(lambda: next(numbers), lambda number, data: made.update({number: compress(data)}))
    addresses = [writer.add(record) for record in records]
    writer.flush()
    return addresses, made


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_every_record_is_found_at_its_address(records):
    addresses, made = written(records)
    reader = BlockReader(made.__getitem__)

    assert [msgspec.msgpack.decode(reader.get(*address)) for address in addresses] == records


@pytest.mark.parametrize("size", [BLOCK_SIZE - 6, BLOCK_SIZE - 5, BLOCK_SIZE - 4, BLOCK_SIZE, BLOCK_SIZE + 1])
def test_a_record_about_as_large_as_a_block(size):
    records = [b"before", b"x" * size, b"after"]
    addresses, made = written(records)
    reader = BlockReader(made.__getitem__)

    assert [msgspec.msgpack.decode(reader.get(*address)) for address in reversed(addresses)] == records[::-1]


def test_a_full_block_is_handed_over_at_once():
    addresses, made = written([b"x" * 100_000] * 7)

    assert sorted(made) == [0, 1, 2]
    assert [number for number, _ in addresses] == [0, 0, 0, 1, 1, 1, 2]


def test_nothing_is_written_of_nothing():
    assert written([]) == ([], {})


def test_a_record_that_had_to_be_made_storable_keeps_its_address():
    many = [an_attempt(), an_attempt(extra={"id": 2**100}), an_attempt(index=2)]
    addresses, made = written(many)
    reader = BlockReader(made.__getitem__)

    back = [unpack(reader.get(*address), Attempt) for address in addresses]

    assert [one.index for one in back] == [1, 1, 2]
    assert back[1].extra == {"id": str(2**100)}


def test_a_block_is_read_once_for_rows_in_order(monkeypatch):
    addresses, made = written([b"x" * 1000] * 400)
    loaded = []
    reader = BlockReader(lambda number: loaded.append(number) or made[number])

    for address in addresses:
        reader.get(*address)

    assert loaded == sorted(made)
    assert blocks.BLOCK_SIZE == BLOCK_SIZE
