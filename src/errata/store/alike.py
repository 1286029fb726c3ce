"""Attempts that differ in nothing but their case, number and place in the log, read without decoding each of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import select

from errata.model import Attempt, Attribution
from errata.model.alike import AlikeAttempt, AlikeKind, itself
from errata.model.codec import pack
from errata.model.identity import attempt_id
from errata.store.attempts import FETCH, PLACES, ThinningLookup, attempts_of
from errata.store.blocks import BlockReader
from errata.store.brief_failures import (
    EXECUTION,
    EXPLANATION,
    HEADER,
    MOST_KINDS,
    TRIED,
    RecordKey,
    has_no_other_fields,
    is_last_text,
)
from errata.store.case_versions import VersionLookup
from errata.store.database import Store
from errata.store.schema import attempts, blocks

_ID = b"\xa2id"

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
        self._firsts: dict[RecordKey, Attempt | None] = {}
        """The first attempt of each kind of record; none where each counts by itself."""
        self._kinds: dict[tuple[int, int], AlikeKind] = {}
        """By that first attempt and its attribution."""
        self._decoded = 0

    def read(self, store: Store, pk: int) -> Iterator[AlikeAttempt]:
        query = select(*PLACES[:3], attempts.c.case_key, attempts.c.number).where(attempts.c.run_pk == pk)
        with store.reading() as connection:

            def load(number: int) -> bytes:
                row = select(blocks.c.data).where(blocks.c.run_pk == pk, blocks.c.number == number)
                return bytes(connection.execute(row).scalar_one())

            records, seen = BlockReader(load), 0
            result = connection.execute(query.order_by(attempts.c.seq).execution_options(yield_per=FETCH))
            for rows in result.partitions(FETCH):
                yield from self._read_some(rows, records, seen)
                seen += len(rows)

    def _read_some(self, rows: Sequence[Any], records: BlockReader, seen: int) -> Iterator[AlikeAttempt]:
        firsts, kinds, attribution_of, get = self._firsts, self._kinds, self._attributions.get, records.get
        window: list[AlikeAttempt | tuple[str, AlikeKind]] = []
        together: dict[tuple[str, AlikeKind], int] = {}
        for at, (seq, block, place, case, index) in enumerate(rows, seen):
            record = get(block, place)
            if at >= TRIED and 2 * self._decoded > at:
                self._decoded += 1
                window.append(itself(_decoder.decode(record)))
                continue
            start, end = record.find(EXECUTION), len(record)
            text = record.rfind(EXPLANATION, start)
            if text >= 0 and is_last_text(record, text + len(EXPLANATION)):
                end = text
            # what is equal for records of one kind: what comes after id, case and number, and how many fields there are
            key = (record[:HEADER], index == 1, record[start:end])
            first = firsts.get(key)
            if first is None:
                window.append(itself(self._decode(record, key)))
                continue
            attribution = attribution_of(seq)
            kind = kinds.get((id(first), id(attribution)))
            if kind is None:
                kind = kinds[id(first), id(attribution)] = AlikeKind(first, attribution)
            if not kind.comes_together:
                window.append(self._single(kind, record, case, index))
            elif often := together.get((case, kind)):
                together[case, kind] = often + 1
            else:
                together[case, kind] = 1
                window.append((case, kind))
        for each in window:
            if isinstance(each, AlikeAttempt):
                yield each
            else:
                case, kind = each
                yield AlikeAttempt(kind.attempt, case, kind.attempt.index, "", False, kind, together[each])

    def _decode(self, record: bytes, key: RecordKey) -> Attempt:
        attempt = _decoder.decode(record)
        self._decoded += 1
        if key not in self._firsts and len(self._firsts) < MOST_KINDS:
            is_alike = has_no_other_fields(attempt) and self._is_counted_alike(attempt)
            self._firsts[key] = attempt if is_alike else None
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
