"""What a store has lost: runs, which their logs bring back, and opinions, which nothing brings back."""

from collections.abc import Callable, Iterator
from functools import partial
from hashlib import blake2b
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Table, delete, func, select, update

from errata.errors import StoreError
from errata.model import (
    Action,
    Attempt,
    Attribution,
    Bucket,
    Case,
    Finding,
    KnownGap,
    ReviewBatch,
    ReviewCall,
    Run,
    Unreadable,
    Verdict,
)
from errata.model.attempt import as_number
from errata.model.codec import fitting, unpack
from errata.model.counts import Counts
from errata.model.identity import attempt_id
from errata.model.output.store import StoreProblem
from errata.model.record import Record
from errata.store import engine
from errata.store.attempts import STEPS
from errata.store.blocks import BlockReader, ZstdError, decompress
from errata.store.database import Store
from errata.store.packing import NOTEWORTHY
from errata.store.schema import (
    FACTS,
    actions,
    attempts,
    attributions,
    blob_uses,
    blobs,
    blocks,
    bucket_events,
    buckets,
    calls,
    case_versions,
    cases,
    checks,
    findings,
    known_gaps,
    live_items,
    metadata,
    refusals,
    review_batches,
    runs,
    summaries,
    unreadables,
    verdicts,
)

FETCH = 200
MOST_MESSAGES = 10
UNREADABLE = (ZstdError, msgspec.MsgspecError, UnicodeDecodeError, ValueError, TypeError)
DERIVED = (attributions, findings, summaries)
OPINIONS = tuple(table for table in metadata.sorted_tables if table not in (*FACTS, runs, blobs))
RECORDS: dict[Table, type[Record]] = {
    cases: Case, case_versions: Case, unreadables: Unreadable, attributions: Attribution, findings: Finding,
    verdicts: Verdict, calls: ReviewCall, review_batches: ReviewBatch, buckets: Bucket, actions: Action,
    known_gaps: KnownGap,
}  # fmt: skip
PACKED = {summaries: "data", refusals: "answer", live_items: "record", bucket_events: "record"}


def problems_of(store: Store, on_run: Callable[[str], None] = lambda _: None) -> list[StoreProblem]:
    return [*_integrity(store), *_runs(store, on_run), *_opinions(store)]


def _integrity(store: Store) -> Iterator[StoreProblem]:
    try:
        with store.reading() as connection:
            messages = engine.integrity(connection)
    except StoreError as error:
        messages = [error.message]
    for message in messages[:MOST_MESSAGES]:
        yield StoreProblem(kind="integrity", message=message)
    if len(messages) > MOST_MESSAGES:
        yield StoreProblem(kind="integrity", message=f"and {len(messages) - MOST_MESSAGES} more messages of SQLite")


def _runs(store: Store, on_run: Callable[[str], None]) -> Iterator[StoreProblem]:
    try:
        texts = _sound_texts(store)
        with store.reading() as connection:
            numbers = connection.scalars(select(runs.c.pk).where(runs.c.state == "current")).all()
    except StoreError as error:
        yield StoreProblem(kind="runs_not_readable", message=error.message)
        return
    for pk in numbers:
        try:
            head = head_of(store, pk)
        except (StoreError, ValueError, TypeError) as error:
            yield StoreProblem(kind="runs_not_readable", number=pk, message=str(error))
            continue
        on_run(head.native_id)
        yield from _problems_of_run(store, head, texts)


def head_of(store: Store, pk: int) -> Row[Any]:
    """As it is stored: its record may be damaged."""
    with store.reading() as connection:
        return connection.execute(select(runs).where(runs.c.pk == pk)).one()


def _sound_texts(store: Store) -> set[str]:
    """Digests of the texts of files that have the content that their name states."""
    sound = set()
    with store.reading() as connection:
        for row in connection.execute(select(blobs).execution_options(yield_per=16)):
            try:
                if blake2b(decompress(row.data), digest_size=16).hexdigest() == row.digest:
                    sound.add(row.digest)
            except ZstdError:
                continue
    return sound


def _problems_of_run(store: Store, head: Row[Any], texts: set[str]) -> Iterator[StoreProblem]:
    lost: dict[str, list[str]] = {}
    for name, look in (
        ("runs", partial(_lost_of_head, head)),
        ("attempts", partial(_lost_attempts, head)),
        ("files", partial(_lost_files, head, texts)),
        *((table.name, partial(_lost_rows, table, head.pk)) for table in (cases, case_versions, unreadables)),
    ):
        if rows := _tried(store, look):
            lost[name] = rows
    known = {"run": head.native_id, "run_id": head.run_id, "number": head.pk, "origin": head.origin}
    if lost:
        named = tuple(dict.fromkeys(name for name in lost.get("attempts", ()) if name))
        count = sum(map(len, lost.values()))
        yield StoreProblem(kind="run_damaged", message=", ".join(lost), count=count, attempts=named, **known)
    for table in DERIVED:
        if rows := _tried(store, partial(_lost_rows, table, head.pk)):
            yield StoreProblem(
                kind="derived_damaged", table=table.name, count=len(rows), message=f"`{table.name}` is damaged", **known
            )


def _tried(store: Store, look: Callable[[Connection], list[str]]) -> list[str]:
    """In a transaction of its own: the database may not be able to read on after a damaged page."""
    try:
        with store.reading() as connection:
            return look(connection)
    except (StoreError, *UNREADABLE):
        return [""]


def _lost_of_head(head: Row[Any], _connection: Connection) -> list[str]:
    run = unpack(head.record, Run)
    msgspec.convert(head.counts, Counts)
    written: dict[str, str | None] = {
        "run_id": run.id,
        "native_id": run.native_id,
        "name": run.name,
        "suite": run.suite,
    }
    written |= {"source": run.source.name, "model": run.subject.model, "started_at": run.started_at}
    return [""] if any(fitting(value) != getattr(head, name) for name, value in written.items()) else []


def _lost_attempts(head: Row[Any], connection: Connection) -> list[str]:
    """Ids of attempts with a record or transcript that can't be read or other columns; empty ones for lost rows."""

    def load(number: int) -> bytes:
        query = select(blocks.c.data).where(blocks.c.run_pk == head.pk, blocks.c.number == number)
        return bytes(connection.execute(query).scalar() or b"lost")

    records, transcripts, noteworthy, there, lost = BlockReader(load), BlockReader(load), 0, 0, list[str]()
    counted = msgspec.convert(head.counts, Counts)
    numbers = {name for name, statuses in counted.checks.items() if "number" in statuses}
    query = select(attempts).where(attempts.c.run_pk == head.pk).order_by(attempts.c.record_block, attempts.c.record_at)
    for row in connection.execute(query.execution_options(yield_per=FETCH)):
        there += 1
        try:
            attempt = unpack(records.get(row.record_block, row.record_at), Attempt)
            if row.steps_block is not None:
                STEPS.decode(transcripts.get(row.steps_block, row.steps_at))
            if row.outcome == "number" != attempt.outcome:
                attempt = as_number(attempt)
            kinds = (check.status for check in attempt.checks if check.counts and check.name not in numbers)
            noteworthy += sum(map(NOTEWORTHY.__contains__, kinds))
            sound = attempt.run == head.run_id and not _contradicts(attempt, row)
        except UNREADABLE:
            sound = False
        if not sound:
            lost.append(attempt_id(head.run_id, row.case_key, session=row.session, index=row.number, path=row.path))
    of_run = (checks.c.run_pk == head.pk) & checks.c.name.not_in(numbers)
    kept = connection.execute(select(func.count()).where(of_run)).scalar_one()
    return lost or ([""] if (there, noteworthy) != (counted.attempts, kept) else [])


def _contradicts(attempt: Attempt, row: Row[Any]) -> bool:
    """Whether a failure is one is a rule of the errata that imported it, not a fact."""
    values = {
        "case_key": attempt.case, "number": attempt.index, "session": attempt.session, "path": attempt.path,
        "position": attempt.position, "counted": attempt.counted, "execution": attempt.execution,
        "measurement": attempt.measurement, "outcome": attempt.outcome, "tokens": attempt.usage.subject.tokens,
        "cost": attempt.usage.cost, "duration": attempt.duration,
    }  # fmt: skip
    return any(fitting(value) != getattr(row, name) for name, value in values.items())


def _lost_files(head: Row[Any], texts: set[str], connection: Connection) -> list[str]:
    used = connection.scalars(select(blob_uses.c.digest).where(blob_uses.c.run_pk == head.pk))
    return ["" for digest in used if digest not in texts]


def _lost_rows(table: Table, pk: int, connection: Connection) -> list[str]:
    rows = connection.execute(select(table).where(table.c.run_pk == pk).execution_options(yield_per=FETCH))
    return ["" for row in rows if not _decodes(table, row)]


def _decodes(table: Table, row: Row[Any]) -> bool:
    try:
        if kind := RECORDS.get(table):
            unpack(row.record, kind)
        elif (data := getattr(row, PACKED[table]) if table in PACKED else None) is not None:
            decompress(data)
    except UNREADABLE:
        return False
    return True


def _opinions(store: Store) -> Iterator[StoreProblem]:
    for table in OPINIONS:
        sound, lost = 0, 0
        try:
            with store.reading() as connection:
                for row in connection.execute(select(table).execution_options(yield_per=FETCH)):
                    decoded = _decodes(table, row)
                    sound, lost = sound + decoded, lost + (not decoded)
        except (StoreError, ValueError, TypeError):
            lost += 1
        if lost:
            yield StoreProblem(kind="opinions_damaged", table=table.name, count=sound)


def drop_derived(store: Store, pk: int) -> None:
    """Owners, findings and summaries of a run: the next command that needs them computes them again."""
    with store.writing() as connection:
        for table in DERIVED:
            connection.execute(delete(table).where(table.c.run_pk == pk))
        connection.execute(update(runs).where(runs.c.pk == pk).values(triaged=None, bucketed=None))
