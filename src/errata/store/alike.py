"""Attempts that differ in nothing but their case, number and place in the log, read without decoding each of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import select

from errata.model import Attempt, Attribution
from errata.model.alike import AlikeAttempt, AlikeKind, itself
from errata.model.codec import pack
from errata.model.identity import attempt_id
from errata.store import engine
from errata.store.attempts import FETCH, PLACES, ThinningLookup, attempts_of
from errata.store.blocks import LENGTH, BlockReader
from errata.store.brief_failures import (
    EXECUTION,
    EXPLANATION,
    HEADER,
    MOST_KINDS,
    TRIED,
    has_no_other_fields,
    is_last_text,
)
from errata.store.case_versions import VersionLookup
from errata.store.database import Store
from errata.store.schema import attempts, blocks

_ID = b"\xa2id"

_Firsts = dict[bytes, dict[int, AlikeKind] | None]
"""The kinds of attempts whose records are equal, by the identity of their attribution; none where each counts by
itself."""
_FIRST = 0
"""In the place of an attribution, for the attempt that was decoded."""

_decoder = msgspec.msgpack.Decoder(Attempt)


def alike_attempts(
    store: Store,
    pk: int,
    is_counted_alike: Callable[[Attempt], bool],
    attributions: Mapping[int, Attribution] | None = None,
) -> Iterator[AlikeAttempt]:
    """Every attempt, in the order of the log; most of them as one that is like it, where that is enough.

    Attempts are of one kind if their records are equal but for id, case, number, place, and the explanation of the last
    check, and if they have the same attribution, by the attempt's number. `is_counted_alike` decides about the first of
    each kind. Those that come together come where the first of them is among the next few thousand.
    """
    with store.reading() as connection:
        has_own_facts = VersionLookup(connection, pk).has_any or ThinningLookup(connection, pk).has_any
    if has_own_facts:
        yield from map(itself, attempts_of(store, pk))
    else:
        yield from _AlikeReader(is_counted_alike, attributions or {}).read(store, pk)


class _AlikeReader:
    def __init__(self, is_counted_alike: Callable[[Attempt], bool], attributions: Mapping[int, Attribution]) -> None:
        self._is_counted_alike = is_counted_alike
        self._attributions = attributions
        self._firsts: tuple[_Firsts, _Firsts] = ({}, {})
        """Of later tries at a case, and of the first: the record of the latter has no number."""
        self._known = 0
        self._decoded = 0

    def read(self, store: Store, pk: int) -> Iterator[AlikeAttempt]:
        query = select(*PLACES[:3], attempts.c.case_key, attempts.c.number).where(attempts.c.run_pk == pk)
        with store.reading() as connection:

            def load(number: int) -> bytes:
                row = select(blocks.c.data).where(blocks.c.run_pk == pk, blocks.c.number == number)
                return bytes(connection.execute(row).scalar_one())

            records, seen = BlockReader(load), 0
            for rows in engine.plain_rows(connection, query.order_by(attempts.c.seq), FETCH):
                if seen >= TRIED and 2 * self._decoded > seen:
                    self._decoded += len(rows)
                    yield from [itself(_decoder.decode(records.get(block, place))) for _, block, place, *_ in rows]
                else:
                    yield from self._read_some(rows, records)
                seen += len(rows)

    def _read_some(self, rows: Sequence[Any], records: BlockReader) -> Iterator[AlikeAttempt]:
        """A run may have a million rows, so this loop calls as little as possible."""
        (later, first_tries), attribution_of = self._firsts, self._attributions.get
        singles: list[AlikeAttempt] = []
        window: list[int | tuple[str, AlikeKind]] = []
        open_block, data = -1, b""
        for seq, block, place, case, index in rows:
            if block != open_block:
                open_block, data = block, records.block(block)
            begin = place + LENGTH
            end = begin + int.from_bytes(data[place:begin], "big")
            start = data.find(EXECUTION, begin, end)
            text = data.rfind(EXPLANATION, start, end)
            stop = text if text >= 0 and is_last_text(data, text + len(EXPLANATION), end) else end
            # what is equal for records of one kind: what comes after id, case and number, and how many fields there are
            key = data[begin : begin + HEADER] + data[start:stop]
            alike = (first_tries if index == 1 else later).get(key)
            if alike is None:
                window.append(len(singles))
                singles.append(itself(self._decode(data[begin:end], key, index)))
                continue
            attribution = attribution_of(seq)
            kind = alike.get(id(attribution))
            if kind is None:
                kind = alike[id(attribution)] = AlikeKind(alike[_FIRST].attempt, attribution)
            if kind.comes_together:
                window.append((case, kind))
            else:
                window.append(len(singles))
                singles.append(self._single(kind, data[begin:end], case, index))
        for each, often in Counter(window).items():
            if isinstance(each, int):
                yield singles[each]
            else:
                case, kind = each
                yield AlikeAttempt(kind.attempt, case, kind.attempt.index, "", False, kind, often)

    def _decode(self, record: bytes, key: bytes, index: int) -> Attempt:
        attempt = _decoder.decode(record)
        self._decoded += 1
        firsts = self._firsts[index == 1]
        if key not in firsts and self._known < MOST_KINDS:
            is_alike = has_no_other_fields(attempt) and self._is_counted_alike(attempt)
            firsts[key] = {_FIRST: AlikeKind(attempt, None)} if is_alike else None
            self._known += 1
        return attempt

    def _single(self, kind: AlikeKind, record: bytes, case: str, index: int) -> AlikeAttempt:
        """An id that was given in another form is only in the record."""
        first = kind.attempt
        if first.outcome == "pass" and first.execution == "completed":
            return AlikeAttempt(first, case, index, "", False, kind)
        made = attempt_id(first.run, case, index=index)
        if record.find(_ID + pack(made), 0, record.find(EXECUTION)) < 0:
            self._decoded += 1
            return itself(_decoder.decode(record))
        return AlikeAttempt(first, case, index, made, False, kind)
