"""Attempts that differ in nothing but their case, number and place in the log, read without decoding each of them."""

from collections.abc import Callable, Iterator

import msgspec
from sqlalchemy import select

from errata.model import Attempt
from errata.model.alike import AlikeAttempt, itself
from errata.model.codec import pack
from errata.model.identity import attempt_id
from errata.store.attempts import FETCH, PLACES, ThinningLookup, attempts_of, rows_of
from errata.store.blocks import BlockReader
from errata.store.case_versions import VersionLookup
from errata.store.database import Store
from errata.store.schema import attempts, blocks

TRIED, MOST_KINDS = 1_000, 2_000
"""Attempts after which it shows whether many are alike, and kinds that are held."""

_EXECUTION, _EXPLANATION, _ID = b"\xa9execution", b"\xabexplanation", b"\xa2id"
"""Names of fields as they are packed. The byte before the letters never begins a character, and a length behind them
never continues one, but for those in `_CONTINUES`: no text holds both."""
_HEADER = 5
"""Bytes that hold how many fields there are, and which is the first."""
_STR_8 = 0xD9
_FEW_BYTES, _CONTINUES = range(0xA0, 0xC0), range(0x80, 0xC0)

_decoder = msgspec.msgpack.Decoder(Attempt)


def alike_attempts(store: Store, pk: int, is_counted_alike: Callable[[Attempt], bool]) -> Iterator[AlikeAttempt]:
    """Every attempt, in the order of the log; most of them as one that is like it, where that is enough.

    Attempts are of one kind if their records are equal but for id, case, number, place, and the explanation of the last
    check. `is_counted_alike` decides about the first of each kind.
    """
    with store.reading() as connection:
        has_own_facts = VersionLookup(connection, pk).has_any or ThinningLookup(connection, pk).has_any
        if not has_own_facts:
            yield from _AlikeReader(is_counted_alike).read(store, pk)
            return
    yield from map(itself, attempts_of(store, pk))


class _AlikeReader:
    def __init__(self, is_counted_alike: Callable[[Attempt], bool]) -> None:
        self._is_counted_alike = is_counted_alike
        self._kinds: dict[tuple[bytes, bool, bytes], Attempt | None] = {}
        """The first attempt of each kind; none where each counts by itself."""
        self._decoded = 0

    def read(self, store: Store, pk: int) -> Iterator[AlikeAttempt]:
        query = select(*PLACES[:3], attempts.c.case_key, attempts.c.number).where(attempts.c.run_pk == pk)
        with store.reading() as connection:

            def load(number: int) -> bytes:
                row = select(blocks.c.data).where(blocks.c.run_pk == pk, blocks.c.number == number)
                return bytes(connection.execute(row).scalar_one())

            get, kinds, make = BlockReader(load).get, self._kinds, AlikeAttempt._make
            result = connection.execute(query.order_by(attempts.c.seq).execution_options(yield_per=FETCH))
            for at, (_, block, place, case, index) in enumerate(rows_of(result)):
                record = get(block, place)
                if at >= TRIED and 2 * self._decoded > at:
                    self._decoded += 1
                    yield itself(_decoder.decode(record))
                    continue
                kind = _kind_of(record, index)
                first = kinds.get(kind)
                if first is None:
                    yield itself(self._decode(record, kind))
                elif first.outcome == "pass" and first.execution == "completed":
                    yield make((first, case, index, "", False))
                else:
                    yield self._with_id(first, record, case, index)

    def _decode(self, record: bytes, kind: tuple[bytes, bool, bytes]) -> Attempt:
        attempt = _decoder.decode(record)
        self._decoded += 1
        if kind not in self._kinds and len(self._kinds) < MOST_KINDS:
            is_alike = _has_no_other_fields(attempt) and self._is_counted_alike(attempt)
            self._kinds[kind] = attempt if is_alike else None
        return attempt

    def _with_id(self, first: Attempt, record: bytes, case: str, index: int) -> AlikeAttempt:
        """An id that was given in another form is only in the record."""
        made = attempt_id(first.run, case, index=index)
        if record.find(_ID + pack(made), 0, record.find(_EXECUTION)) < 0:
            self._decoded += 1
            return itself(_decoder.decode(record))
        return AlikeAttempt(first, case, index, made, False)


def _kind_of(record: bytes, index: int) -> tuple[bytes, bool, bytes]:
    """What is equal for records of one kind: what comes after id, case and number, and how many fields there are."""
    start, end = record.find(_EXECUTION), len(record)
    text = record.rfind(_EXPLANATION, start)
    if text >= 0 and _is_last(record, text + len(_EXPLANATION)):
        end = text
    return record[:_HEADER], index == 1, record[start:end]


def _is_last(record: bytes, at: int) -> bool:
    """Whether the text that begins here is the end of the record."""
    if at + 1 >= len(record):
        return False
    size = record[at]
    if size in _FEW_BYTES:
        return at + 1 + size - _FEW_BYTES.start == len(record)
    # a length that could continue a character might be part of a longer text
    return size == _STR_8 and record[at + 1] not in _CONTINUES and at + 2 + record[at + 1] == len(record)


def _has_no_other_fields(attempt: Attempt) -> bool:
    """Whether nothing but the place, id, run, case and number comes before what is compared."""
    return (
        not (attempt.extra or attempt.case_version or attempt.native_id or attempt.path)
        and attempt.session is None
        and attempt.position is None
        and not (attempt.parent or attempt.superseded_by or attempt.duplicate_of or attempt.follows)
    )
