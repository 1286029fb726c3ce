"""The attribution of each failure by triage, stored beside the facts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from tempfile import SpooledTemporaryFile
from typing import Any, NamedTuple, Self

import msgspec
from sqlalchemy import bindparam, delete, select, update

from errata.model import Attempt, Attribution, FailureKey
from errata.model.codec import pack, unpack
from errata.store import engine
from errata.store.attempts import PLACES, read_in_brief, read_rows
from errata.store.brief_failures import BriefFailure, BriefFailures
from errata.store.database import Store
from errata.store.schema import attempts, attributions, runs, thinned

CHUNK = 25_000
IN_MEMORY = 16 * 1024 * 1024
"""Bytes; what is larger waits in a file."""

Row = tuple[Any, ...]
Kept = tuple[int, Attribution, bool]
"""The attempt's number, its attribution, and whether its measurement is broken."""


class AttributionSpool:
    """Attributions of one run on their way into the store. Those of a large run wait in a temporary file.

    Computing them takes long, so the write lock is held only while they are copied.
    """

    def __init__(self) -> None:
        self.count = 0
        self._waiting: list[Row] = []
        self._file = SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 closed by `__exit__`
        self._sizes: list[int] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def fill(self, records: Iterable[Kept]) -> None:
        """In the place of what was in it."""
        self._file.seek(0)
        self._file.truncate()
        self._sizes, self._waiting, self.count = [], [], 0
        for record in records:
            self._waiting.append(_row(*record))
            self.count += 1
            if len(self._waiting) >= CHUNK:
                self._sizes.append(self._file.write(_encoded(self._waiting)))
                self._waiting = []

    def write(self, store: Store, pk: int, version: str) -> None:
        """Replace the attributions of a run and mark it as triaged, in one transaction."""
        with store.writing(derived=True, rows=True) as connection:
            # first, since it locks the run: two that triage it at once take turns
            connection.execute(update(runs).where(runs.c.pk == pk).values(triaged=version))
            connection.execute(delete(attributions).where(attributions.c.run_pk == pk))
            for rows in self._chunks():
                engine.bulk_insert(connection, attributions, rows, run_pk=pk)

    def _chunks(self) -> Iterator[Sequence[Sequence[Any]]]:
        self._file.seek(0)
        for size in self._sizes:
            yield msgspec.msgpack.decode(self._file.read(size))
        yield self._waiting


def _encoded(rows: list[Row]) -> bytes:
    try:
        return msgspec.msgpack.encode(rows)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode([tuple(map(engine.fitting, row)) for row in rows])


def _row(seq: int, attribution: Attribution, breaks: bool) -> Row:
    return (
        seq,
        attribution.owner,
        attribution.confidence,
        attribution.decided_by,
        breaks,
        attribution.rules_version,
        pack(attribution),
    )


def attributions_of_thinned(store: Store, pk: int) -> dict[int, Kept]:
    """By the number of the attempt: those of attempts whose transcript was thinned since."""
    same = (thinned.c.run_pk == attributions.c.run_pk) & (thinned.c.seq == attributions.c.seq)
    query = select(attributions.c.seq, attributions.c.record, attributions.c.breaks).join(thinned, same)
    with store.reading() as connection:
        rows = connection.execute(query.where(attributions.c.run_pk == pk))
        return {row.seq: (row.seq, unpack(row.record, Attribution), bool(row.breaks)) for row in rows}


def attributions_of(store: Store, pk: int) -> dict[str, Attribution]:
    """By attempt id."""
    with store.reading() as connection:
        query = select(attributions.c.record).where(attributions.c.run_pk == pk).order_by(attributions.c.seq)
        records = (unpack(row.record, Attribution) for row in connection.execute(query))
        return {one.attempt: one for one in records}


class _SignalInBrief(msgspec.Struct, frozen=True, gc=False):
    name: str
    strength: str = "likely"


class _BriefAttribution(msgspec.Struct, frozen=True, gc=False):
    """Of an attribution what scores go by: its quotes are not decoded."""

    attempt: str
    owner: str
    confidence: str
    proof: str = ""
    signals: tuple[_SignalInBrief, ...] = ()
    decided_by: str = ""
    follows: str = ""


_brief_decoder = msgspec.msgpack.Decoder(_BriefAttribution)


class AlikeAttributions(NamedTuple):
    """The attributions of a run; equal ones are one, with the quotes of the first."""

    kinds: list[Attribution]
    attempts: dict[str, int]
    """Attempt id → the place of its attribution among the kinds."""
    numbers: dict[int, int]
    """The same by the number of the attempt."""


def alike_attributions(store: Store, pk: int) -> AlikeAttributions:
    """Equal are those with the same decision, proof and signals."""
    alike: dict[tuple[bool | str | tuple[_SignalInBrief, ...], ...], int] = {}
    made = AlikeAttributions([], {}, {})
    kinds, by_attempt, by_number = made
    with store.reading() as connection:
        query = select(attributions.c.seq, attributions.c.breaks, attributions.c.record)
        query = query.where(attributions.c.run_pk == pk).order_by(attributions.c.seq)
        for seq, breaks, record in chain.from_iterable(engine.plain_rows(connection, query, CHUNK)):
            brief = _brief_decoder.decode(record)
            key = (brief.owner, brief.confidence, brief.proof, brief.signals, brief.decided_by, brief.follows, breaks)
            same = alike.get(key)
            if same is None:
                same = alike[key] = len(kinds)
                kinds.append(unpack(record, Attribution))
            by_attempt[brief.attempt] = by_number[seq] = same
    return made


def each_attribution(store: Store, pk: int) -> Iterator[tuple[Attribution, bool]]:
    """One by one, with whether a signal shows that the measurement, not the answer, is at fault."""
    with store.reading() as connection:
        query = select(attributions.c.record, attributions.c.breaks).where(attributions.c.run_pk == pk)
        for row in connection.execute(query.execution_options(yield_per=CHUNK)):
            yield unpack(row.record, Attribution), bool(row.breaks)


def broken_measurements(store: Store, pk: int) -> set[str]:
    """Attempts with a signal that the measurement, not the answer, is at fault."""
    with store.reading() as connection:
        query = select(attributions.c.record).where(attributions.c.run_pk == pk, attributions.c.breaks)
        return {unpack(row.record, Attribution).attempt for row in connection.execute(query)}


_TRIAGED = select(runs.c.triaged).where(runs.c.pk == bindparam("run"))
_ATTRIBUTED_FAILURES = (
    select(*PLACES, attempts.c.number, attempts.c.case_key, attributions.c.record)
    .join(attributions, (attempts.c.run_pk == attributions.c.run_pk) & (attempts.c.seq == attributions.c.seq))
    .where(attempts.c.run_pk == bindparam("run"), attempts.c.failure)
    .order_by(attempts.c.seq)
)


def rules_version_of(store: Store, pk: int) -> str | None:
    """With which rules a run was triaged; none where it was not, or not to the end."""
    version = store.read_once(("rules", pk), lambda connection: connection.execute(_TRIAGED, {"run": pk}).scalar())
    return None if version is None else str(version)


def attributed_failures(store: Store, pk: int, *, steps: bool = False) -> Iterator[tuple[Attempt, Attribution]]:
    """In the order of the log; of a run that was triaged."""
    for row, attempt in read_rows(store, pk, _ATTRIBUTED_FAILURES, steps=steps):
        yield attempt, unpack(row.record, Attribution)


class AttributionToGroup(msgspec.Struct, frozen=True, gc=False):
    """Of an attribution what decides how its failure is grouped: its quotes are not decoded."""

    owner: str
    failure_key: FailureKey
    signals: tuple[_SignalInBrief, ...] = ()
    decided_by: str = ""
    suggested_labels: dict[str, str] = {}
    follows: str = ""


_grouping_decoder = msgspec.msgpack.Decoder(AttributionToGroup)


def attributed_in_brief(
    store: Store, pk: int, brief: BriefFailures
) -> Iterator[tuple[str, Attempt | BriefFailure, bytes]]:
    """The same, each with its case and the record of its attribution; those that `brief` recognises are not decoded."""
    for row, attempt in read_in_brief(store, pk, _ATTRIBUTED_FAILURES, steps=False, brief=brief):
        yield row.case_key, attempt, row.record


def attribution_in(record: bytes) -> Attribution:
    return unpack(record, Attribution)


def attribution_to_group(record: bytes) -> AttributionToGroup:
    return _grouping_decoder.decode(record)
