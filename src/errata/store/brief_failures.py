"""Failures of one kind, decoded only where they differ: a table may have many thousands of them."""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from errata.model import Attempt, SourceRef

TRIED, MOST_KINDS = 1_000, 2_000
"""Records after which it shows whether many are alike, and kinds that are held."""

EXECUTION, EXPLANATION = b"\xa9execution", b"\xabexplanation"
"""Names of fields as they are packed. The byte before the letters never begins a character, and a length behind them
never continues one, but for those in `_CONTINUES`: no text holds both."""
HEADER = 5
"""Bytes that hold how many fields there are, and which is the first."""
_STR_8 = 0xD9
_FEW_BYTES, _CONTINUES = range(0xA0, 0xC0), range(0x80, 0xC0)

RecordKey = tuple[bytes, bool, bytes]
"""Equal for records of one kind: how many fields there are, and what comes after id, case and number."""


def is_last_text(data: bytes, at: int, end: int) -> bool:
    """Whether the text that begins here ends where the record does."""
    if at + 1 >= end:
        return False
    size = data[at]
    if size in _FEW_BYTES:
        return at + 1 + size - _FEW_BYTES.start == end
    # a length that could continue a character might be part of a longer text
    return size == _STR_8 and data[at + 1] not in _CONTINUES and at + 2 + data[at + 1] == end


def has_no_other_fields(attempt: Attempt) -> bool:
    """Whether nothing but the place, id, run, case and number comes before what is compared."""
    return (
        not (attempt.extra or attempt.case_version or attempt.native_id or attempt.path)
        and attempt.session is None
        and attempt.position is None
        and not (attempt.parent or attempt.superseded_by or attempt.duplicate_of or attempt.follows)
    )


class BriefFailure(NamedTuple):
    """A failure that differs from another in nothing but id, case, number, place, and the reason of its only check."""

    first: Attempt
    """The first of its kind."""
    kind: int
    id: str
    ref: SourceRef | None
    reason: str
    record: bytes

    def decode(self) -> Attempt:
        return _decoder.decode(self.record)


class BriefFailures:
    """Recognises the records of plain failures. `is_plain` decides about the first of each kind."""

    def __init__(self, is_plain: Callable[[Attempt], bool]) -> None:
        self._is_plain = is_plain
        self._firsts: dict[RecordKey, tuple[Attempt, int] | None] = {}
        self._kinds: dict[bytes, int] = {}
        """What comes after the number is the same for the first try at a case and for later ones."""
        self._last: RecordKey | None = None
        self._seen = self._decoded = 0

    def recognise(self, record: bytes, number: int) -> BriefFailure | None:
        """None for one that has to be decoded."""
        self._seen += 1
        self._last = None
        if self._seen > TRIED and 2 * self._decoded > self._seen:
            return None
        start = record.find(EXECUTION)
        text = record.rfind(EXPLANATION, start)
        if text < 0 or not is_last_text(record, text + len(EXPLANATION), len(record)):
            return None
        key = (record[:HEADER], number == 1, record[start:text])
        known = self._firsts.get(key)
        if known is None:
            self._last = key
            return None
        differing = _differing_decoder.decode(record)
        return BriefFailure(*known, differing.id, differing.ref, differing.checks[0].explanation, record)

    def learn(self, attempt: Attempt) -> None:
        """What the record is that was not recognised."""
        self._decoded += 1
        key = self._last
        if key is None or key in self._firsts or len(self._firsts) >= MOST_KINDS:
            return
        is_plain = has_no_other_fields(attempt) and len(attempt.checks) == 1 and self._is_plain(attempt)
        self._firsts[key] = (attempt, self._kinds.setdefault(key[2], len(self._kinds))) if is_plain else None


class _Reason(msgspec.Struct, gc=False):
    explanation: str = ""


class _Differing(msgspec.Struct, gc=False):
    id: str
    ref: SourceRef | None = None
    checks: tuple[_Reason, ...] = ()


_decoder = msgspec.msgpack.Decoder(Attempt)
_differing_decoder = msgspec.msgpack.Decoder(_Differing)
