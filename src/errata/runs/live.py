"""Runs that are reported while they go on: the journal becomes the records of an import, again and again."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

import msgspec

from errata.model import Artefact, Attempt, Case, Check, Item, Run, SourceInfo, Subject, attempt_id, case_key
from errata.model.live import (
    ArtefactsReport,
    AttemptReport,
    ChecksReport,
    FinishReport,
    LiveStatus,
    StartReport,
    StepsReport,
)
from errata.model.record import SourceRef
from errata.model.step import Step
from errata.store.database import Store
from errata.store.importing import Importing
from errata.store.packing import as_sent, pack_items, seal
from errata.store.server import JournalItem, attempts_in_journal, journal_of, journal_place, keep_published, live_run

T = TypeVar("T")
SOURCE = SourceInfo(name="errata-jsonl", format_version="live")
FILE = "live"
"""What refs name in the place of a file: the journal of the server."""
_OF_CASE = ("category", "input", "expected")
_OF_ATTEMPT = tuple(
    field.name for field in msgspec.structs.fields(AttemptReport) if field.name not in (*_OF_CASE, "key", "case")
)


def run_of(start: StartReport, *, status: str = "running", finish: FinishReport | None = None) -> Run:
    subject = Subject(
        model=start.model,
        provider=start.provider,
        agent=start.agent,
        agent_version=start.agent_version,
        params=start.params,
    )
    return Run(
        native_id=start.key,
        source=SOURCE,
        name=start.name,
        subject=subject,
        variant=start.variant,
        suite=start.suite,
        suite_version=start.suite_version,
        expected_cases=start.expected_cases,
        started_at=start.started_at,
        finished_at=finish.finished_at if finish else None,
        native_status=finish.status if finish else status,
        reported=finish.reported if finish else (),
        code=start.code,
        environment=start.environment,
        extra=start.extra,
        ref=SourceRef(file=FILE),
    )


def id_of_attempt(run_id: str, suite: str, case: str, *, session: int | None, index: int) -> str:
    return attempt_id(run_id, case_key(suite, case), session=session, index=index)


def publish(run_id: str, store: Store) -> None:
    """Import what was reported so far: whoever looks sees the run with all of it."""
    number, published = journal_place(store, run_id)
    state = live_run(store, run_id)
    if state is None or (state.state == "finished" and number == published):
        return
    with store.kept_open(), Importing(store) as importing:
        for batch in seal(map(as_sent, pack_items(_items(run_id, state.state, store)))):
            importing.add(batch)
        importing.finish()
    keep_published(store, run_id, number)


def suite_of(run_id: str, store: Store) -> str:
    """Needed for the names of its cases."""
    return next(
        (_read(item, StartReport).suite for item in journal_of(store, run_id) if item.kind == "start" and item.data), ""
    )


def _items(run_id: str, state: LiveStatus, store: Store) -> Iterator[Item]:
    about_run = journal_of(store, run_id)
    start = next(_read(item, StartReport) for item in about_run if item.kind == "start")
    finish = next((_read(item, FinishReport) for item in about_run if item.kind == "finish"), None)
    run = run_of(start, status=state, finish=finish)
    yield run
    described: set[str] = set()
    for attempt in attempts_in_journal(store, run_id):
        yield from _attempt(run, journal_of(store, run_id, attempt), described)


def _attempt(run: Run, journal: Sequence[JournalItem], described: set[str]) -> Iterator[Item]:
    """The last report of an attempt, with all that was reported about it besides."""
    ref = SourceRef(file=FILE, line=journal[0].number)
    reports = [_read(item, AttemptReport) for item in journal if item.kind == "attempt"]
    if not reports:
        # something about it came first: it has begun
        first = _read(journal[0], _PARTS[journal[0].kind])
        begun = AttemptReport(
            key="",
            case=first.case,
            index=first.index,
            session=first.session,
            execution="unfinished",
            measurement="not_run",
        )
        reports = [begun]
    last = reports[-1]
    key = case_key(run.suite, last.case)
    if key not in described:
        described.add(key)
        about = next((one for one in reversed(reports) if one.input is not None or one.expected is not None), last)
        yield Case(
            run=run.id,
            suite=run.suite,
            native_id=last.case,
            category=about.category,
            input=about.input,
            expected=about.expected,
            ref=ref,
        )
    facts = {name: getattr(last, name) for name in _OF_ATTEMPT}
    attempt = Attempt(run=run.id, case=key, ref=ref, **facts)
    yield msgspec.structs.replace(
        attempt,
        steps=(*last.steps, *_steps(journal)),
        checks=tuple({check.name: check for check in (*last.checks, *_checks(journal))}.values()),
        artefacts=tuple({file.path: file for file in (*last.artefacts, *_artefacts(journal))}.values()),
    )


def _steps(journal: Sequence[JournalItem]) -> Iterator[Step]:
    for item in journal:
        if item.kind == "steps":
            yield from _read(item, StepsReport).steps


def _checks(journal: Sequence[JournalItem]) -> Iterator[Check]:
    for item in journal:
        if item.kind == "checks":
            yield from _read(item, ChecksReport).checks


def _artefacts(journal: Sequence[JournalItem]) -> Iterator[Artefact]:
    for item in journal:
        if item.kind == "artefacts":
            yield from _read(item, ArtefactsReport).artefacts


_PARTS: dict[str, type[StepsReport] | type[ChecksReport] | type[ArtefactsReport]] = {
    "steps": StepsReport,
    "checks": ChecksReport,
    "artefacts": ArtefactsReport,
}


def _read(item: JournalItem, kind: type[T]) -> T:
    return msgspec.json.decode(item.data, type=kind)
