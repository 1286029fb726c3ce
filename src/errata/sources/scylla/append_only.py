"""Batch summaries of the second generation: entries are only appended, and the last one of a test is what holds.

`success` means that the process came to its end; whether the test was passed is in the experiment's folder alone.
"""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

from errata.model import Attempt, ErrorInfo, Reported, SourceRef, case_key, times
from errata.model.words import Phase
from errata.sources.scylla.facts import CANCELLED, NOT_SCORED, PASS_ABOVE
from errata.sources.scylla.log_errors import typed
from errata.sources.scylla.summary_rows import SummaryRow
from errata.sources.scylla.tests_of_batch import SUITE
from errata.sources.scylla.thread_log import Block, Logs
from errata.sources.shared.facts import NOT_MADE, UNFINISHED, Facts
from errata.sources.shared.values import known, mapping, moment, sequence, text
from errata.text.redact import redact

_NEAR = timedelta(seconds=60)
_FIRST_GENERATION = ("test_name", "exit_code", "thread_id", "result_dir")


def is_append_only(summary: dict[str, Any]) -> bool:
    if "config" in summary or "threads" in summary:
        return False
    rows = [mapping(row) for row in sequence(summary.get("results"))]
    return bool(rows) and not any(name in row for row in rows for name in _FIRST_GENERATION)


class Entry(NamedTuple):
    row: SummaryRow
    session: int
    """Which entry of its test this is."""
    block: Block | None

    def attempt(self, run: str) -> Attempt:
        error = text(self.row.data.get("error"))
        status = text(self.row.data.get("status"))
        facts = _facts(status, error)
        logged = self.block.errors.infos(self.block.file) if self.block else ()
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
            errors=(*_stated_error(self.row, error, facts), *logged),
            started_at=moment(self.row.data.get("started_at")),
            exit_code=self.block.exit_code if self.block else None,
            ref=self.row.ref,
            extra=_further(self.row.data),
        )


def entries_told(rows: list[SummaryRow], logs: Logs) -> Iterator[Entry]:
    seen: Counter[str] = Counter()
    for row in rows:
        seen[row.test] += 1
        yield Entry(row, seen[row.test], _block_of(row, logs))


def success_count(results: list[Any], ref: SourceRef) -> tuple[Reported, ...]:
    """How many tests came to their end: a number of the harness, but no pass rate."""
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
    if typed(error)[0] in ("KeyboardInterrupt", "CancelledError"):
        return CANCELLED
    return NOT_MADE if status == "error" or error else UNFINISHED


def _stated_error(row: SummaryRow, error: str, facts: Facts) -> tuple[ErrorInfo, ...]:
    if not error and facts.execution != "error":
        return ()
    kind, message = typed(error)
    stated = redact(message) or (kind and error) or "the harness gives no reason"
    phase: Phase = "subject" if "RateLimit" in kind else "setup"
    return (ErrorInfo(type=kind or "Error", message=stated, phase=phase, ref=row.ref),)


def _further(data: dict[str, Any]) -> dict[str, Any]:
    named = ("test_id", "status", "started_at", "error")
    return known(**{text(name): value for name, value in data.items() if name not in named})


def _block_of(row: SummaryRow, logs: Logs) -> Block | None:
    started = moment(row.data.get("started_at"))
    if not started or times.is_local(started):
        return None
    near = (one for one in logs.of_test(row.test) if abs(times.parse(one.started_at) - times.parse(started)) <= _NEAR)
    return next(near, None)
