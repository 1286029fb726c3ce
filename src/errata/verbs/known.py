"""`known`: record, list and remove accepted gaps of a case, or of all that match a pattern."""

from datetime import datetime

import msgspec

from errata.errors import NotFoundError, SettingsError, did_you_mean
from errata.memory import stored as stored_memory
from errata.memory.entries import safe
from errata.memory.known_gaps import GapRecord, GapRequest, gap_by_name, gap_by_pattern, gap_id, is_pattern
from errata.model import KnownGap, StoredRun
from errata.model.action import RecordedGap
from errata.model.times import to_text
from errata.runs.addresses import not_found, resolve_case
from errata.runs.reports import recorded_gaps
from errata.store.database import Store
from errata.store.memory import (
    forget_gap,
    gap_by_id,
    keep_gap,
    known_gaps,
)
from errata.store.runs import all_runs
from errata.verbs.action import newest_of_each_subject

DAY = len("2026-03-04")


def add_gap(request: GapRequest, store: Store, *, now: datetime, dry_run: bool = False) -> GapRecord:
    """A case by its name, or all that a pattern fits. Recorded again, it has the new words."""
    text = safe(request.text)
    if not text:
        raise SettingsError("`--text` is empty", hint="describe the limitation in a sentence")
    target = _gap_target(request, store)
    name = gap_id(target)
    previous = next((gap for gap in known_gaps(store) if gap.id == name), None)
    since = previous.since if previous else to_text(now)[:DAY]
    gap = msgspec.structs.replace(target, id=name, text=text, since=since, author=safe(request.author))
    if not dry_run:
        keep_gap(store, gap)
    return msgspec.structs.replace(_with_runs(gap, store), previous=previous)


def list_gaps(store: Store, *, suite: str = "") -> list[GapRecord]:
    return list(stored_memory.gap_records(known_gaps(store, suite), store))


def gaps_in_reports(store: Store, *, suite: str = "") -> list[tuple[StoredRun, str, RecordedGap]]:
    """Known gaps that only reports record, each once, with a run that it applies to and its case's key."""
    records: dict[tuple[str, str], tuple[StoredRun, str, RecordedGap]] = {}
    for run in newest_of_each_subject(all_runs(store, suite=suite) if suite else all_runs(store)):
        for key, gaps in recorded_gaps(run, store).items():
            for gap in gaps:
                if gap.ref is not None:
                    records.setdefault((key, gap.ref.file), (run, key, gap))
    return list(records.values())


def remove_gap(name: str, store: Store, *, suite: str = "", dry_run: bool = False) -> GapRecord:
    """By its id, its case or its pattern."""
    records = list_gaps(store, suite=suite)
    gap = gap_by_name(name, records) or _gap_by_id(name, records, store)
    if not dry_run:
        forget_gap(store, gap.id)
    return _with_runs(gap, store)


def _gap_target(request: GapRequest, store: Store) -> KnownGap:
    """The case or pattern that is meant, as a gap that has no text yet."""
    case = resolve_case(request.case, store, suite=request.suite)
    if case is not None:
        return KnownGap(suite=case.suite, case_key=case.key, text="")
    if not is_pattern(request.case):
        raise not_found(request.case, store, suite=request.suite)
    return gap_by_pattern(request.case, stored_memory.keys_by_suite(store, request.suite))


def _gap_by_id(name: str, records: list[GapRecord], store: Store) -> KnownGap:
    try:
        return gap_by_id(store, name)
    except NotFoundError as error:
        nearest = did_you_mean(name, [record.name for record in records])
        hint = "\n".join(filter(None, (nearest, error.hint)))
        raise NotFoundError(f"No known gap is named `{name}`", hint=hint) from None


def _with_runs(gap: KnownGap, store: Store) -> GapRecord:
    (record,) = stored_memory.gap_records([gap], store)
    return msgspec.structs.replace(record, runs=stored_memory.failing_runs(record.cases, store))
