"""A log → its run, cases and attempts, including planned samples that are not in the log."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from msgspec.structs import replace

from errata.model import Attempt, Case, Item, SourceRef, Unreadable, attempt_id, case_key
from errata.model.identity import fingerprint
from errata.sources.base import Row, convert_each, describe, small_file, unreadable
from errata.sources.inspect_ai import NAME, ZIP, is_archive
from errata.sources.inspect_ai.logs import CAPS, InspectLog, log_of_archive, read_json_log
from errata.sources.inspect_ai.runs import judges_of, run_of, scorers_of
from errata.sources.inspect_ai.samples import LogContext, attempt_of, case_content, case_of, sample_id
from errata.sources.inspect_ai.scores import primary_of, scorers_without_verdict
from errata.sources.inspect_ai.values import words
from errata.sources.shared.archives import open_archive
from errata.sources.shared.json_rows import SMALL
from errata.sources.shared.row_groups import Copies, copied_row
from errata.sources.shared.values import count, mapping, plain, sequence

PLAN_CAP = 1_000_000
"""A larger plan is a damaged number."""
MEASURED = ("completed", "limit")
"""Executions of samples that Inspect counts as completed."""
_FINISHED = ("completed", "completed_at", "scores", "error", "limit")


def read_log(path: Path) -> Iterator[Item]:
    data = small_file(path, SMALL)
    if data.startswith(ZIP) if data is not None else is_archive(path):
        yield from _read_archive(path)
    else:
        log = read_json_log(path, data)
        yield from (log,) if isinstance(log, Unreadable) else _items_of(log, path)


def _read_archive(path: Path) -> Iterator[Item]:
    try:
        with open_archive(path, CAPS) as archive:
            if archive.problem:
                yield unreadable(NAME, SourceRef(file=path.name), f"damaged archive: {archive.problem}")
            yield from _items_of(log_of_archive(archive, path.name), path)
    except (BadZipFile, OSError) as error:
        yield unreadable(NAME, SourceRef(file=path.name), f"damaged archive: {describe(error)}")


def _items_of(log: InspectLog, path: Path) -> Iterator[Item]:
    yield from log.problems
    if not mapping(log.header.get("eval")):
        if not log.problems:
            yield unreadable(NAME, log.ref, "`eval` is missing")
        return
    header = log.header
    scorers, judges = scorers_of(header), judges_of(header)
    run = run_of(log, str(path.parent), scorers, judges)
    yield run
    silent = scorers_without_verdict(header, list(scorers), log.samples)
    context = LogContext(run, primary_of(header, silent), scorers, judges, bool(header.get("results")))
    yield from _Samples(context, log).items()


_CONTENT = ("uuid", "input", "target", "output", "scores", "error", "model_usage", "total_time", "started_at")
"""What two samples of one id and epoch have in common only if one is a copy."""


class _Samples:
    """Converts the samples in one pass and remembers which ones it saw."""

    def __init__(self, context: LogContext, log: InspectLog) -> None:
        self._context = context
        self._log = log
        self._cases: dict[str, str] = {}
        self._varying: set[str] = set()
        """Samples whose epochs differ in what they ask."""
        self._seen: set[tuple[str, int]] = set()
        self._measured = 0
        self._copies = Copies()
        spec = mapping(log.header.get("eval"))
        self._epochs = max(1, count(mapping(spec.get("config")).get("epochs")) or 1)
        self._plan = log.ref.below("eval", "dataset", "sample_ids")
        self._planned = [words(ident) for ident in sequence(mapping(spec.get("dataset")).get("sample_ids"))]

    def items(self) -> Iterator[Item]:
        yield from convert_each(self._log.samples(), self._of_sample, source=NAME)
        yield from convert_each(self._unseen(), self._of_summary, source=NAME)
        yield from self._without_row()

    def _of_sample(self, row: Row) -> list[Item]:
        sample = row.data
        ident, epoch = sample_id(sample), count(sample.get("epoch")) or 1
        if self._copies.includes((ident, epoch), [sample.get(name) for name in _CONTENT]):
            return [copied_row(NAME, row.ref, ident)]
        index = self._free(ident, epoch)
        attempt = attempt_of(self._context, sample, row.ref, index)
        if index != epoch:
            attempt = replace(attempt, duplicate_of=attempt_id(attempt.run, attempt.case, index=epoch))
        content = case_content(sample)
        digest = fingerprint(content)
        first = self._cases.get(ident)
        is_news = first != digest or ident in self._varying
        made: list[Item] = [case_of(self._context, sample, row.ref)] if is_news else []
        if first not in (None, digest):
            # the input may differ between epochs: with choices in another order
            self._varying.add(ident)
            attempt = replace(attempt, extra=attempt.extra | {"asked": content})
        self._cases.setdefault(ident, digest)
        self._note(ident, attempt)
        return [*made, attempt]

    def _free(self, ident: str, epoch: int) -> int:
        """The epoch, or for a repeated sample the next number that no epoch has."""
        index = epoch
        while (ident, index) in self._seen:
            index += self._epochs
        return index

    def _unseen(self) -> Iterator[Row | Unreadable]:
        for row in self._log.summaries:
            data = mapping(row.data) if type(row) is Row else {}
            if type(row) is Unreadable or (words(data.get("id")), count(data.get("epoch")) or 1) not in self._seen:
                yield row

    def _of_summary(self, row: Row) -> list[Item]:
        attempt, case = from_summary(self._context, row.data, row.ref)
        ident = sample_id(row.data)
        made: list[Item] = [case] if ident not in self._cases else []
        self._cases.setdefault(ident, "")
        self._note(ident, attempt)
        return [*made, attempt]

    def _note(self, ident: str, attempt: Attempt) -> None:
        self._seen.add((ident, attempt.index))
        self._measured += attempt.execution in MEASURED

    def _without_row(self) -> Iterator[Item]:
        """Planned samples without a row: never run, stopped early, or measured but not in the log."""
        if len(self._planned) * self._epochs > PLAN_CAP:
            return
        results = mapping(self._log.header.get("results"))
        stops = [mapping(stop) for stop in sequence(mapping(results.get("early_stopping")).get("early_stops"))]
        stopped = {(words(stop.get("id")), count(stop.get("epoch"))): stop for stop in stops}
        # if measured samples are missing from the log, it is unknown which ones were never run
        untold = (self._context.run.measured_attempts or 0) > self._measured
        for ident, epoch in product(dict.fromkeys(self._planned), range(1, self._epochs + 1)):
            if (ident, epoch) in self._seen:
                continue
            stop = stopped.get((ident, epoch))
            if stop is not None or not untold:
                yield self._never_made(ident, epoch, stop)
            elif ident not in self._cases:
                yield self._case_by_id(ident)

    def _never_made(self, ident: str, epoch: int, stop: dict[str, Any] | None) -> Attempt:
        run = self._context.run
        return Attempt(
            run=run.id,
            case=case_key(run.suite, ident),
            index=epoch,
            execution="missing" if stop is None else "skipped",
            measurement="not_run",
            outcome="none",
            stop_reason=words(mapping(stop).get("reason")),
            extra=plain(stop) if stop else {},
            ref=self._plan,
        )

    def _case_by_id(self, ident: str) -> Case:
        run = self._context.run
        self._cases[ident] = ""
        return Case(run=run.id, suite=run.suite, native_id=ident, ref=self._plan)


def from_summary(context: LogContext, summary: dict[str, Any], ref: SourceRef) -> tuple[Attempt, Case]:
    """In a summary, error and limit are plain texts. A sample with none of the final fields was unfinished."""
    sample = {**summary, **_widened(summary)}
    attempt = attempt_of(context, sample, ref, count(summary.get("epoch")) or 1)
    if not any(summary.get(name) for name in _FINISHED):
        attempt = replace(attempt, execution="unfinished", measurement="not_run", outcome="none")
    return replace(attempt, extra=attempt.extra | {"read_from": "summary"}), case_of(context, summary, ref)


def _widened(summary: dict[str, Any]) -> dict[str, Any]:
    error, limit = summary.get("error"), summary.get("limit")
    return {
        "error": {"message": error} if type(error) is str and error else mapping(error),
        "limit": {"type": limit, "reason": summary.get("limit_reason")} if type(limit) is str and limit else {},
    }
