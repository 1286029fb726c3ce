"""Small runs, many in one transaction. Each is in memory as a whole, and is written completely or not at all."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec
from sqlalchemy import Connection, Row, select

from errata.errors import ErrataError
from errata.model import Counts, Run
from errata.model.codec import pack
from errata.store import engine
from errata.store.blocks import OLDER_SIZE, OlderContent, compress
from errata.store.carried_verdicts import carry_verdicts
from errata.store.database import Store, this_process
from errata.store.packing import PackedBatch, RunPart, without_texts
from errata.store.removal import collect_garbage
from errata.store.run_totals import ATTEMPT_COLUMNS, Change, ImportedRun, RunTotals, is_less, is_scored, share_unclaimed
from errata.store.schema import attempts, blob_uses, blobs, blocks, cases, checks, runs, unreadables
from errata.store.shared_ids import is_log_of

GROUP_RUNS = 500
GROUP_BYTES = 8 * 1024 * 1024
UNREADABLE_BYTES = 500
_RUN_COLUMNS = tuple(column.name for column in runs.columns)
_CASE, _COUNTED, _FAILURE, _OUTCOME, _VALUE = map(
    ATTEMPT_COLUMNS.index, ("case_key", "counted", "failure", "outcome", "value")
)
_JUDGED = slice(_OUTCOME - 1, _OUTCOME + 1)


class PendingRun:
    """What an import did with a run, once it is written. It outlives the run's rows: there may be very many."""

    __slots__ = ("result",)

    def __init__(self) -> None:
        self.result: ImportedRun | None = None


class WholeRun(RunTotals):
    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.rows_of = RunPart()
        self._parts: list[RunPart] = []
        self.attempts: list[tuple[Any, ...]] = []
        self.pending = PendingRun()

    def take(self, part: RunPart) -> None:
        self.tally(part)
        self._parts.append(part)
        self.attempts += part.attempts
        whole = self.rows_of
        whole.cases += part.cases
        whole.checks += part.checks
        whole.blocks += part.blocks
        whole.blobs += part.blobs

    def close(self) -> None:
        """Everything is there: the texts of context files go to the blobs."""
        self.run = msgspec.structs.replace(self.run, context=without_texts(self.run.context, self.rows_of.blobs))
        if self.has_numbers:
            self.attempts = [_as_number(row) if is_scored(*row[_JUDGED]) else row for row in self.attempts]
        if numbers := self.settle_numbers():
            rows = self.rows_of
            rows.checks = [row for row in rows.checks if row[-1] != "fail" or row[-2] not in numbers]

    def is_same_as(self, digest: str) -> bool:
        older = OlderContent()
        for part in self._parts if len(digest) == 2 * OLDER_SIZE else ():
            older.add(part.cases, part.blocks)
        return digest == self.digest(older.hexdigest() if len(digest) == 2 * OLDER_SIZE else "")

    @property
    def describes_a_case_twice(self) -> bool:
        return len({case[1] for case in self.rows_of.cases}) < len(self.rows_of.cases)

    @property
    def size(self) -> int:
        held = (*self.rows_of.blocks, *self.rows_of.blobs)
        records = sum(len(case[-1]) for case in self.rows_of.cases)
        return sum(len(data) for _, data in held) + records + UNREADABLE_BYTES * len(self.unreadables)

    def whole_counts(self) -> Counts:
        rows = self.attempts
        only_counted = self.counted < self.rows
        names = {row[_CASE] for row in rows if row[_COUNTED] or not only_counted}
        counted = {row[0] for row in rows if row[_COUNTED]}
        failed = {(name, seq) for seq, _, name, status in self.rows_of.checks if status == "fail" and seq in counted}
        failed_checks: dict[str, int] = {}
        for name, _ in sorted(failed):
            failed_checks[name] = failed_checks.get(name, 0) + 1
        values = [row[_VALUE] for row in rows if row[_COUNTED] and row[_VALUE] is not None]
        return self.counts(cases=len(names), failed_checks=failed_checks, values=len(values), total=sum(values))


def whole_runs(batches: Iterable[PackedBatch]) -> list[WholeRun] | None:
    """The runs in these batches. None where a case has several descriptions, which the database compares."""
    by_id: dict[str, WholeRun] = {}
    unclaimed = []
    for batch in batches:
        for run in batch.runs:
            by_id.setdefault(run.id, WholeRun(run)).run = run
        for run_id, item in batch.unreadables:
            if run_id in by_id:
                by_id[run_id].note(item)
            else:
                unclaimed.append(item)
        for run_id, part in batch.parts.items():
            by_id[run_id].take(part)
    every = list(by_id.values())
    if any(whole.describes_a_case_twice for whole in every):
        return None
    share_unclaimed(every, unclaimed, 0)
    for whole in every:
        whole.close()
    return every


def _as_number(row: tuple[Any, ...]) -> tuple[Any, ...]:
    values = list(row)
    if values[_VALUE] is None:
        values[_VALUE] = {"pass": 1.0, "fail": 0.0}.get(values[_OUTCOME])
    values[_OUTCOME], values[_FAILURE] = "number", False
    return tuple(values)


class NewRun(NamedTuple):
    whole: WholeRun
    result: ImportedRun
    digest: str
    counts: Counts


class RunGroup:
    """Whole runs that wait until there are enough of them for a transaction. It ends with what waits being written."""

    def __init__(self, store: Store, *, replace: bool = False) -> None:
        self._store, self._replace = store, replace
        self.read: Counter[str] = Counter()
        """Runs of this import, each with how many logs have it."""
        self._waiting: dict[str, WholeRun] = {}
        self._size = 0
        self._importer = this_process()

    def __enter__(self) -> Self:
        self._store.refuse_read_only()
        collect_garbage(self._store)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or isinstance(error, ErrataError):  # what was read before a wrong path is kept
            self.flush()
            collect_garbage(self._store)

    def add(self, whole: Sequence[WholeRun]) -> None:
        if any(run.run.id in self._waiting for run in whole):
            self.flush()  # the second one is held against the first
        for run in whole:
            self._waiting[run.run.id] = run
            self._size += run.size
        if len(self._waiting) >= GROUP_RUNS or self._size >= GROUP_BYTES:
            self.flush()

    def flush(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting, self._size = list(self._waiting.values()), {}, 0
        with self._store.writing() as connection:
            results = self._write(connection, waiting)
        results = carry_verdicts(self._store, results)
        for run, result in zip(waiting, results, strict=True):
            run.pending.result = result

    def _write(self, connection: Connection, waiting: list[WholeRun]) -> list[ImportedRun]:
        known = _current(connection, [run.run.id for run in waiting])
        numbers = engine.new_numbers(connection, runs, len(waiting))
        results, new, replaced, moved = [], list[NewRun](), [], []
        for run in waiting:
            old, run_id = known.get(run.run.id), run.run.id
            if old is not None and run.is_same_as(old.digest):
                # the logs may have moved; that is not a change of the run
                moved += [(engine.fitting(run.run.origin), old.pk)] if run.run.origin != old.origin else []
                results.append(ImportedRun(run_id, old.pk, "unchanged", old.revision))
                continue
            if old is not None and not self._replace and not is_log_of(run.run, old.record, old.origin):
                results.append(ImportedRun(run_id, old.pk, "unsettled", old.revision))
                continue
            counts = run.whole_counts()
            if old is not None and not self._replace and is_less(counts, old.counts):
                results.append(ImportedRun(run_id, old.pk, "kept", old.revision))
                continue
            change: Change = "new" if old is None else "grown"
            replaced += [] if old is None else [("stale", old.pk)]
            revision, replaced_pk = (1, 0) if old is None else (old.revision + 1, old.pk)
            results.append(ImportedRun(run_id, next(numbers), change, revision, replaced=replaced_pk))
            new.append(NewRun(run, results[-1], run.digest(), counts))
        engine.set_many(connection, runs.c.origin, moved)
        engine.set_many(connection, runs.c.state, replaced)
        self._insert(connection, new)
        return results

    def _insert(self, connection: Connection, new: list[NewRun]) -> None:
        engine.bulk_insert(connection, runs, [_run_row(run, self._importer) for run in new])
        numbered = [(run.result.pk, run.whole.rows_of) for run in new]
        for table, rows in (
            (attempts, ((run.result.pk, *row) for run in new for row in run.whole.attempts)),
            (checks, ((pk, *row) for pk, part in numbered for row in part.checks)),
            (blocks, ((pk, *row) for pk, part in numbered for row in part.blocks)),
            (cases, ((pk, *row[1:]) for pk, part in numbered for row in part.cases)),
            (blob_uses, ((pk, digest) for pk, part in numbered for digest in dict(part.blobs))),
            (unreadables, _unreadable_rows(new)),
        ):
            engine.bulk_insert(connection, table, list(rows))
        insert_blobs(connection, {digest: data for _, part in numbered for digest, data in part.blobs})


def _current(connection: Connection, ids: list[str]) -> dict[str, Row[Any]]:
    known: dict[str, Row[Any]] = {}
    columns = (runs.c.run_id, runs.c.pk, runs.c.digest, runs.c.revision, runs.c.counts, runs.c.origin, runs.c.record)
    for some in engine.chunks(ids):
        query = select(*columns).where(runs.c.run_id.in_(some), runs.c.state == "current")
        known |= {row.run_id: row for row in connection.execute(query)}
    return known


def _run_row(new: NewRun, importer: str) -> tuple[Any, ...]:
    whole = new.whole
    values = whole.begun(importer) | whole.described() | {
        "pk": new.result.pk, "state": "current", "revision": new.result.revision, "digest": new.digest,
        "record": pack(whole.bare_run()), "counts": json.dumps(msgspec.to_builtins(new.counts)),
    }  # fmt: skip
    return tuple([values.get(name) for name in _RUN_COLUMNS])


def _unreadable_rows(new: list[NewRun]) -> Iterator[tuple[Any, ...]]:
    for run in new:
        for number, item in enumerate(run.whole.unreadables):
            yield run.result.pk, number, pack(item)


def insert_blobs(connection: Connection, files: dict[str, bytes]) -> None:
    for some in engine.chunks(files):
        known = set(connection.execute(select(blobs.c.digest).where(blobs.c.digest.in_(some))).scalars())
        rows = [(digest, len(files[digest]), compress(files[digest])) for digest in some if digest not in known]
        engine.bulk_insert(connection, blobs, rows)
