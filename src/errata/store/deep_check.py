"""Every fact of every run read and compared with what else is known about it: exactly what of a store is damaged."""

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Table, exists, func, select

from errata.errors import StoreError
from errata.model import Artefact, Attempt, Case, Run, Unreadable
from errata.model.attribution import Attribution
from errata.model.codec import unpack
from errata.model.counts import Counts
from errata.model.identity import attempt_id
from errata.model.output.store import StoreProblem
from errata.model.record import Finding
from errata.store.attempts import STEPS
from errata.store.block_scan import BlockScan
from errata.store.blocks import ZstdError, decompress
from errata.store.case_versions import SEVERAL
from errata.store.database import Store
from errata.store.packing import noteworthy_checks
from errata.store.run_digest import DigestState, digest_state
from errata.store.schema import (
    FACTS,
    attempts,
    attributions,
    blob_uses,
    blobs,
    case_versions,
    cases,
    checks,
    findings,
    runs,
    summaries,
    unreadables,
    version_starts,
)
from errata.store.sqlite import fitting

FETCH = 500
UNREADABLE = (ZstdError, msgspec.MsgspecError, UnicodeDecodeError, ValueError, TypeError)
"""What decoding a damaged value raises."""
OnRun = Callable[[str], None]


class DigestTally(msgspec.Struct):
    """How many runs have the digest that was noted at import."""

    confirmed: int = 0
    open: int = 0


def problems_of_facts(store: Store, tally: DigestTally, on_run: OnRun = lambda _: None) -> Iterator[StoreProblem]:
    """Shared texts, then run by run, then rows of no run."""
    damaged: dict[str, str] = {}
    try:
        damaged = damaged_blobs(store)
        with store.reading() as connection:
            numbers = connection.execute(select(runs.c.pk, runs.c.native_id).where(runs.c.state == "current")).all()
    except StoreError as error:
        yield StoreProblem(kind="integrity", message=error.message)
        return
    for row in numbers:
        on_run(row.native_id)
        yield from problems_of_run(store, row.pk, damaged, tally)
    yield from _rows_of_no_run(store)
    yield from _unused_blobs(store, damaged)


def problems_of_run(
    store: Store, pk: int, damaged: dict[str, str], tally: DigestTally | None = None
) -> list[StoreProblem]:
    """What can't even be read is one problem of the run, and the rest of it is not looked at."""
    try:
        with store.reading() as connection:
            head = connection.execute(select(runs).where(runs.c.pk == pk)).one()
            check = RunCheck(connection, head, damaged)
            problems = list(check.problems())
        if tally is not None:
            tally.confirmed += check.digest == "confirmed"
            tally.open += check.digest == "open"
        return problems
    except (StoreError, *UNREADABLE) as error:
        return [StoreProblem(kind="runs_not_readable", number=pk, message=str(error))]


def damaged_blobs(store: Store) -> dict[str, str]:
    """Digest → what is wrong with the text of this name."""
    damaged = {}
    with store.reading() as connection:
        for row in connection.execute(select(blobs).execution_options(yield_per=16)):
            try:
                data = decompress(row.data)
            except ZstdError:
                damaged[row.digest] = "can't be unpacked"
                continue
            if blake2b(data, digest_size=16).hexdigest() != row.digest:
                damaged[row.digest] = "has other content than its name states"
            elif len(data) != row.size:
                damaged[row.digest] = "has another size than noted"
    return damaged


class RunCheck:
    """One run, in one transaction."""

    def __init__(self, connection: Connection, head: Row[Any], damaged_blobs: dict[str, str]) -> None:
        self._connection, self._head, self._pk = connection, head, head.pk
        self._damaged_blobs = damaged_blobs
        self._used: set[str] = set()
        self._lost: dict[str, list[str]] = {}
        """What is wrong → attempts or rows with it."""
        self._blocks = BlockScan(connection, head.pk)
        self._counted: Counts | None = None
        self.digest: DigestState = "open"

    def problems(self) -> Iterator[StoreProblem]:
        yield from self._run_record()
        self._attempts()
        self._steps_of_attempts()
        self._cases()
        for what in self._blocks.without_a_row():
            self._note(what, "")
        yield from self._references()
        for what, names in self._lost.items():
            listed = tuple(dict.fromkeys(name for name in names if name))
            yield self._problem("facts_damaged", what, attempts=listed, count=len(names))
        yield from self._derived()
        if not self._lost:
            yield from self._counts()
            self.digest = digest_state(self._connection, self._head)
            if self.digest == "differs":
                yield self._problem("digest_differs", "its content has another digest than was noted at import")

    def _problem(self, kind: Any, message: str, **more: Any) -> StoreProblem:
        head = self._head
        return StoreProblem(
            kind=kind,
            run=head.native_id,
            run_id=head.run_id,
            number=head.pk,
            origin=head.origin,
            message=message,
            **more,
        )

    def _note(self, what: str, name: str) -> None:
        self._lost.setdefault(what, []).append(name)

    def _run_record(self) -> Iterator[StoreProblem]:
        head = self._head
        try:
            run = unpack(head.record, Run)
            self._counted = msgspec.convert(head.counts, Counts)
        except UNREADABLE:
            yield self._problem("facts_damaged", "its own record can't be decoded")
            return
        self._use(run.context, "the run itself")
        written = {
            "run_id": run.id, "native_id": run.native_id, "name": run.name, "source": run.source.name,
            "suite": run.suite, "model": run.subject.model, "started_at": run.started_at,
        }  # fmt: skip
        for name, value in written.items():
            if fitting(value) != getattr(head, name):
                yield self._problem("facts_damaged", f"`runs.{name}` contradicts the run's record", table=runs.name)

    def _id_of(self, row: Row[Any]) -> str:
        return attempt_id(self._head.run_id, row.case_key, session=row.session, index=row.number, path=row.path)

    def _attempts(self) -> None:
        query = select(attempts).where(attempts.c.run_pk == self._pk)
        query = query.order_by(attempts.c.record_block, attempts.c.record_at)
        for part in self._connection.execute(query.execution_options(yield_per=FETCH)).partitions():
            kept = self._check_rows([row.seq for row in part])
            for row in part:
                self._attempt(row, kept.get(row.seq, set()))
        lost = ~exists().where(attempts.c.run_pk == checks.c.run_pk, attempts.c.seq == checks.c.seq)
        if self._connection.execute(select(func.count()).where(checks.c.run_pk == self._pk, lost)).scalar_one():
            self._note("rows of `checks` belong to no attempt", "")

    def _check_rows(self, seqs: list[int]) -> dict[int, set[tuple[int, str, str]]]:
        kept: dict[int, set[tuple[int, str, str]]] = {}
        for row in self._connection.execute(select(checks).where(checks.c.run_pk == self._pk, checks.c.seq.in_(seqs))):
            kept.setdefault(row.seq, set()).add((row.place, row.name, row.status))
        return kept

    def _attempt(self, row: Row[Any], check_rows: set[tuple[int, str, str]]) -> None:
        try:
            attempt = unpack(self._blocks.record(row.record_block, row.record_at), Attempt)
        except (LookupError, *UNREADABLE) as error:
            self._note(_lost_part("record", error), self._id_of(row))
            return
        for name in contradictions(attempt, row):
            self._note(f"`attempts.{name}` contradicts the attempt's record", attempt.id)
        if attempt.run != self._head.run_id:
            self._note("the record is of another run", attempt.id)
        if check_rows != {(place, fitting(name), status) for place, name, status in noteworthy_checks(attempt.checks)}:
            self._note("rows of `checks` contradict the attempt's record", attempt.id)
        self._use(attempt.artefacts, attempt.id)

    def _steps_of_attempts(self) -> None:
        query = select(attempts).where(attempts.c.run_pk == self._pk, attempts.c.steps_block.is_not(None))
        query = query.order_by(attempts.c.steps_block, attempts.c.steps_at)
        for row in self._connection.execute(query.execution_options(yield_per=FETCH)):
            try:
                STEPS.decode(self._blocks.record(row.steps_block, row.steps_at))
            except (LookupError, *UNREADABLE) as error:
                self._note(_lost_part("transcript", error), self._id_of(row))

    def _cases(self) -> None:
        for row in self._rows(cases):
            try:
                case = unpack(row.record, Case)
            except UNREADABLE:
                self._note("the record of a case can't be decoded", "")
                continue
            if fitting(case.key) != row.key or fitting(case.category) != row.category:
                self._note("a row of `cases` contradicts the case's record", "")
            if row.digest not in (case.digest, SEVERAL):
                self._note("a case has another content than its digest states", "")
            self._use(case.artefacts, "")
        keys = set()
        for row in self._rows(case_versions):
            try:
                self._use(unpack(row.record, Case).artefacts, "")
            except UNREADABLE:
                self._note("the record of a version of a case can't be decoded", "")
            keys.add(row.key)
        if any(row.key not in keys for row in self._rows(version_starts)):
            self._note("a version of a case is missing", "")
        for row in self._rows(unreadables):
            try:
                unpack(row.record, Unreadable)
            except UNREADABLE:
                self._note("the record of an unreadable item can't be decoded", "")

    def _use(self, artefacts: tuple[Artefact, ...], name: str) -> None:
        for artefact in artefacts:
            if artefact.blob:
                self._used.add(artefact.blob)
                if problem := self._damaged_blobs.get(artefact.blob):
                    self._note(f"the text of a file {problem}", name)

    def _references(self) -> Iterator[StoreProblem]:
        """Which texts of files the run uses, and whether they are there."""
        query = select(blob_uses.c.digest, blobs.c.digest.label("there"))
        query = query.outerjoin(blobs, blobs.c.digest == blob_uses.c.digest).where(blob_uses.c.run_pk == self._pk)
        listed = {row.digest: row.there for row in self._connection.execute(query)}
        if missing := [digest for digest in self._used if listed.get(digest) is None and digest in listed]:
            yield self._problem("facts_damaged", "the text of a file is missing", table=blobs.name, count=len(missing))
        if unlisted := self._used - set(listed):
            yield self._problem(
                "facts_damaged", "`blob_uses` does not list all files", table=blob_uses.name, count=len(unlisted)
            )
        if not self._lost and (unknown := set(listed) - self._used):
            yield self._problem(
                "facts_damaged", "`blob_uses` lists files of unknown runs", table=blob_uses.name, count=len(unknown)
            )

    def _derived(self) -> Iterator[StoreProblem]:
        kinds: tuple[tuple[Table, type[Attribution] | type[Finding]], ...] = (
            (attributions, Attribution),
            (findings, Finding),
        )
        for table, kind in kinds:
            damaged = sum(not _decodes(row.record, kind) for row in self._rows(table))
            if damaged:
                message = f"`{table.name}` can't be decoded"
                yield self._problem("derived_damaged", message, table=table.name, count=damaged)
        failures = select(attempts.c.seq).where(attempts.c.run_pk == self._pk)
        lost = select(func.count()).where(attributions.c.run_pk == self._pk, attributions.c.seq.not_in(failures))
        if count := self._connection.execute(lost).scalar_one():
            message = "owners of attempts that are missing"
            yield self._problem("derived_damaged", message, table="attributions", count=count)
        same = (attempts.c.run_pk == attributions.c.run_pk) & (attempts.c.seq == attributions.c.seq)
        names = (attempts.c.case_key, attempts.c.session, attempts.c.number, attempts.c.path)
        query = select(attributions, *names).join(attempts, same).where(attributions.c.run_pk == self._pk)
        rows = self._connection.execute(query.execution_options(yield_per=FETCH))
        contradicting = sum(_contradicts(row, self._id_of(row)) for row in rows)
        if contradicting:
            message = "`attributions` contradicts its records"
            yield self._problem("derived_damaged", message, table="attributions", count=contradicting)
        damaged = sum(not _unpacks(row.data) for row in self._rows(summaries))
        if damaged:
            yield self._problem("derived_damaged", "`summaries` can't be unpacked", table="summaries", count=damaged)

    def _counts(self) -> Iterator[StoreProblem]:
        """What listings show, counted again."""
        if self._counted is None:
            return
        own, counted = attempts.c.run_pk == self._pk, self._counted
        count = select(func.count()).where(own)
        failures = count.where(attempts.c.counted, attempts.c.failure)
        numbers = {
            "attempts": (counted.attempts, count),
            "counted": (counted.counted, count.where(attempts.c.counted)),
            "failures": (counted.failures, failures),
        }
        if counted.attempts:
            last = self._connection.execute(select(func.max(attempts.c.seq)).where(own)).scalar_one()
            if last != counted.attempts - 1:
                yield self._problem("counts_differ", "the order of the attempts has a gap")
        for name, (noted, query) in numbers.items():
            if (there := self._connection.execute(query).scalar_one()) != noted:
                yield self._problem("counts_differ", f"{name}: noted {noted:,}, stored {there:,}", count=there)
        for name, noted_words in (
            ("execution", counted.executions),
            ("measurement", counted.measurements),
            ("outcome", counted.outcomes),
        ):
            column = attempts.c[name]
            words = select(column, func.count().label("often")).where(own, attempts.c.counted).group_by(column)
            stored = {str(row[0]): int(row.often) for row in self._connection.execute(words)}
            if stored != noted_words:
                yield self._problem("counts_differ", f"{name}: other counts are noted than stored")

    def _rows(self, table: Table) -> Iterator[Row[Any]]:
        yield from self._connection.execute(
            select(table).where(table.c.run_pk == self._pk).execution_options(yield_per=FETCH)
        )


def contradictions(attempt: Attempt, row: Row[Any]) -> dict[str, Any]:
    """Columns of `attempts` with another value than the record has, and that of the record.

    Whether the attempt is a failure is a rule of the errata that imported it, not a fact: it is only counted.
    """
    values = {
        "case_key": attempt.case, "number": attempt.index, "session": attempt.session, "path": attempt.path,
        "position": attempt.position, "counted": attempt.counted, "execution": attempt.execution,
        "measurement": attempt.measurement, "outcome": attempt.outcome, "tokens": attempt.usage.subject.tokens,
        "cost": attempt.usage.cost, "duration": attempt.duration,
    }  # fmt: skip
    fit = {name: fitting(value) for name, value in values.items()}
    return {name: value for name, value in fit.items() if value != getattr(row, name)}


def _lost_part(part: str, error: Exception) -> str:
    return f"the {part} can't be read: {error}" if isinstance(error, LookupError) else f"the {part} can't be decoded"


def _decodes(data: bytes, kind: type[Attribution] | type[Finding]) -> bool:
    try:
        unpack(data, kind)
    except UNREADABLE:
        return False
    return True


def _unpacks(data: bytes) -> bool:
    try:
        decompress(data)
    except ZstdError:
        return False
    return True


def _contradicts(row: Row[Any], attempt: str) -> bool:
    try:
        record = unpack(row.record, Attribution)
    except UNREADABLE:
        return False
    written = (record.attempt, record.owner, record.confidence, record.decided_by, record.rules_version)
    return written != (attempt, row.owner, row.confidence, row.decided_by, row.rules_version)


def _rows_of_no_run(store: Store) -> Iterator[StoreProblem]:
    """Of a run that is gone, or whose number was changed."""
    for table in FACTS:
        try:
            with store.reading() as connection:
                query = select(func.count()).where(table.c.run_pk.not_in(select(runs.c.pk)))
                count = connection.execute(query).scalar_one()
        except StoreError:
            continue  # named already
        if count:
            yield StoreProblem(kind="rows_of_no_run", table=table.name, count=count)


def _unused_blobs(store: Store, damaged: dict[str, str]) -> Iterator[StoreProblem]:
    """Texts that no run names: harmless, unless the name was changed."""
    with store.reading() as connection:
        query = select(blobs.c.digest).where(blobs.c.digest.not_in(select(blob_uses.c.digest)))
        unused = set(connection.scalars(query))
    if lost := unused & set(damaged):
        yield StoreProblem(kind="rows_of_no_run", table=blobs.name, count=len(lost))
