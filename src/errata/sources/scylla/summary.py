"""The rows of a batch summary, joined with the log blocks of their tests.

The first generation has one row per test, from the latest session. The second generation only appends entries, and the
last entry of a test counts. There, `success` means that the process ended; only the experiment's folder shows whether
the test passed.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from errata.model import Attempt, ErrorInfo, Reported, Session, SourceRef, case_key, times
from errata.model.words import ErrorText, Phase
from errata.sources.scylla.batch_tests import CANCELLED, NOT_SCORED, PASS_ABOVE, SUITE, SessionTest
from errata.sources.scylla.log_errors import split_exception
from errata.sources.scylla.thread_log import LogBlock, Logs
from errata.sources.shared.documents import Documents
from errata.sources.shared.facts import NOT_MADE, UNFINISHED, Facts
from errata.sources.shared.values import mapping, moment, non_empty, sequence, text
from errata.text.redact import redact

_NEAR = timedelta(seconds=60)
_FIRST_GENERATION = ("test_name", "exit_code", "thread_id", "result_dir")


class SummaryRow(NamedTuple):
    test: str
    data: dict[str, Any]
    ref: SourceRef


class SummaryEntry(NamedTuple):
    row: SummaryRow
    session: int
    """Counted up whenever a test comes again."""
    block: LogBlock | None

    def attempt(self, run: str) -> Attempt:
        error = text(self.row.data.get("error"))
        status = text(self.row.data.get("status"))
        facts = _facts(status, error)
        logged_errors = self.block.errors.infos(self.block.file) if self.block else ()
        return Attempt(
            run=run,
            case=case_key(SUITE, self.row.test),
            session=self.session,
            execution=facts.execution,
            measurement=facts.measurement,
            outcome=facts.outcome,
            threshold=PASS_ABOVE,
            native_status=status,
            native_reason=redact(error),
            reported_counted=False,
            errors=(*_error_in_row(self.row, error, facts), *logged_errors),
            started_at=moment(self.row.data.get("started_at")),
            exit_code=self.block.exit_code if self.block else None,
            ref=self.row.ref,
            extra=_further(self.row.data),
        )


def summary_rows(summary: dict[str, Any], ref: SourceRef, documents: Documents) -> list[SummaryRow]:
    rows = []
    if summary and not isinstance(summary.get("results"), list):
        documents.refuse(ref, "field missing: 'results'")
    for place, data in enumerate(sequence(summary.get("results"))):
        pointer = ref.below("results", place)
        test = text(data.get("test_id")).strip() if isinstance(data, dict) else ""
        if test:
            rows.append(SummaryRow(test, data, pointer))
        else:
            documents.refuse(pointer, "field missing: 'test_id'")
    return rows


def tests_of(rows: list[SummaryRow], logs: Logs, *, planned: list[str], completed_at: Any) -> Iterator[SessionTest]:
    """The summary only has the latest session; earlier results of a test are in the logs."""
    by_test: dict[str, list[SummaryRow]] = {}
    for row in rows:
        by_test.setdefault(row.test, []).append(row)
    last_session = max((block.session for block in logs.blocks), default=1)
    logged_tests = (block.test for block in logs.blocks)
    for test in dict.fromkeys([*sorted(by_test), *sorted(planned), *logged_tests]):
        blocks, of_test = logs.of_test(test), by_test.get(test, [])
        owner = _owner(blocks, moment(completed_at)) if of_test else None
        for block in blocks:
            of_block = of_test[0] if block is owner else None
            yield SessionTest(test, block.session, block, of_block and of_block.data, of_block and of_block.ref)
        if of_test and owner is None:
            yield SessionTest(test, last_session, None, of_test[0].data, of_test[0].ref)
        elif not of_test and not blocks:
            yield SessionTest(test, last_session)
        session = owner.session if owner else last_session
        for index, row in enumerate(of_test[1:], 2):
            yield SessionTest(test, session, None, row.data, row.ref, index=index)


def _owner(blocks: list[LogBlock], completed_at: str | None) -> LogBlock | None:
    """The block whose result the summary has: the last one that began before the summary was finished."""
    if completed_at is None or times.is_local(completed_at):
        return blocks[-1] if blocks else None
    until = times.parse(completed_at)
    before = [block for block in blocks if times.parse(block.started_at) <= until]
    candidates = before or blocks
    return candidates[-1] if candidates else None


def is_append_only(summary: dict[str, Any]) -> bool:
    if "config" in summary or "threads" in summary:
        return False
    rows = [mapping(row) for row in sequence(summary.get("results"))]
    return bool(rows) and not any(name in row for row in rows for name in _FIRST_GENERATION)


def entries_of(rows: list[SummaryRow], logs: Logs) -> list[SummaryEntry]:
    """A session ends where a test comes again: the runner goes through all tests before it repeats one."""
    session, seen, entries = 1, set[str](), []
    for row in rows:
        if row.test in seen:
            session, seen = session + 1, set()
        seen.add(row.test)
        entries.append(SummaryEntry(row, session, _block_of(row, logs)))
    return entries


def sessions_of(entries: list[SummaryEntry]) -> tuple[Session, ...]:
    """Of a summary without costs and ends; only the experiments show what was passed."""
    by_number: dict[int, list[SummaryRow]] = {}
    for entry in entries:
        by_number.setdefault(entry.session, []).append(entry.row)
    return tuple(_session(number, of_it) for number, of_it in by_number.items())


def _session(number: int, rows: list[SummaryRow]) -> Session:
    starts = [start for row in rows if (start := moment(row.data.get("started_at"))) and not times.is_local(start)]
    ended = Counter(text(row.data.get("status")) or "no status" for row in rows)
    return Session(
        number=number,
        started_at=min(starts, key=times.parse, default=None),
        pattern=", ".join(f"{often} ended as `{word}`" for word, often in ended.most_common()),
        extra=non_empty(tests_started=len(rows), statuses=dict(ended)),
    )


def success_count(results: list[Any], ref: SourceRef) -> tuple[Reported, ...]:
    """How many tests ended: a number of the harness, but not a pass rate."""
    last = {text(mapping(row).get("test_id")): text(mapping(row).get("status")) for row in results}
    last.pop("", None)
    count = sum(status == "success" for status in last.values())
    return (
        Reported(
            name="success", metric="finished", filter="last entry per test", value=float(count), n=len(last), ref=ref
        ),
        Reported(name="entries", metric="count", value=float(len(results)), ref=ref),
    )


def _facts(status: str, error: str) -> Facts:
    if status == "success":
        return NOT_SCORED
    if split_exception(error)[0] in ("KeyboardInterrupt", "CancelledError"):
        return CANCELLED
    return NOT_MADE if status == "error" or error else UNFINISHED


def _error_in_row(row: SummaryRow, error: str, facts: Facts) -> tuple[ErrorInfo, ...]:
    if not error and facts.execution != "error":
        return ()
    kind, message = split_exception(error)
    shown_message = redact(message) or (kind and error) or "the harness gives no reason"
    phase: Phase = "" if "RateLimit" in kind else "aggregation"
    derived: tuple[ErrorText, ...] = () if kind else ("type",) if error else ("type", "message")
    return (ErrorInfo(type=kind or "Error", message=shown_message, phase=phase, derived=derived, ref=row.ref),)


def _further(data: dict[str, Any]) -> dict[str, Any]:
    known_fields = ("test_id", "status", "started_at", "error")
    return non_empty(**{text(name): value for name, value in data.items() if name not in known_fields})


def _block_of(row: SummaryRow, logs: Logs) -> LogBlock | None:
    started = moment(row.data.get("started_at"))
    if not started or times.is_local(started):
        return None
    near = (one for one in logs.of_test(row.test) if abs(times.parse(one.started_at) - times.parse(started)) <= _NEAR)
    return next(near, None)
