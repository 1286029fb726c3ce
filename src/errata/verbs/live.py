"""Runs that are reported while in progress: start, add, finish; publish reports; notice silence."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from errata.errors import NotFoundError, SettingsError
from errata.model import Attempt, Case, Item, Run, SourceInfo, Subject, attempt_id, case_key
from errata.model.live import (
    ArtefactsReport,
    AttemptReport,
    AttemptsReport,
    ChecksReport,
    FinishReport,
    LiveAnswer,
    LiveRunState,
    LiveStatus,
    StartReport,
    StepsReport,
)
from errata.model.record import SourceRef
from errata.model.times import moment_of, to_microseconds
from errata.store.database import Store
from errata.store.importing import Importing
from errata.store.packing import as_sent, pack_items, seal
from errata.store.server import (
    JournalItem,
    add_to_journal,
    attempts_in_journal,
    journal_of,
    journal_place,
    keep_published,
    live_run,
    live_runs_in,
    set_live_state,
    start_live_run,
    unpublished_runs,
)

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
        steps=(*last.steps, *_parts_in(journal, "steps")),
        checks=tuple({check.name: check for check in (*last.checks, *_parts_in(journal, "checks"))}.values()),
        artefacts=tuple({file.path: file for file in (*last.artefacts, *_parts_in(journal, "artefacts"))}.values()),
    )


def _parts_in(journal: Sequence[JournalItem], kind: str) -> Iterator[Any]:
    """Steps, checks or files."""
    for item in journal:
        if item.kind == kind:
            yield from getattr(_read(item, _PARTS[kind]), kind)


_PARTS: dict[str, type[StepsReport] | type[ChecksReport] | type[ArtefactsReport]] = {
    "steps": StepsReport,
    "checks": ChecksReport,
    "artefacts": ArtefactsReport,
}


def _read(item: JournalItem, kind: type[T]) -> T:
    return msgspec.json.decode(item.data, type=kind)


__all__ = ["publish", "unpublished_runs"]
LONGEST_KEY = 200


def start_live(report: StartReport, store: Store, *, token: str, now: datetime) -> LiveAnswer:
    """Begin a run, or go on with the one of this key, subject and variant."""
    at = to_microseconds(now)
    if report.started_at is None:
        report = msgspec.structs.replace(report, started_at=at)
    run_id = run_of(report).id
    state = LiveRunState(run=run_id, state="running", started_at=report.started_at or at, heard_at=at, token=token)
    item = _item("start", f"start:{_checked(report.key)}", report)
    known, is_new = start_live_run(store, state, report.key, item, silence=report.stuck_after)
    return _answer(known, accepted=int(is_new), total=1)


def add_attempts(report: AttemptsReport, store: Store, *, now: datetime) -> LiveAnswer:
    suite = _suite(report.run, store)
    items = [
        _item(
            "attempt",
            attempt.key,
            attempt,
            attempt=id_of_attempt(report.run, suite, attempt.case, session=attempt.session, index=attempt.index),
        )
        for attempt in report.attempts
    ]
    return _add(report.run, items, store, now)


def add_part(report: StepsReport | ChecksReport | ArtefactsReport, store: Store, *, now: datetime) -> LiveAnswer:
    kind = {StepsReport: "steps", ChecksReport: "checks", ArtefactsReport: "artefacts"}[type(report)]
    attempt = id_of_attempt(
        report.run, _suite(report.run, store), report.case, session=report.session, index=report.index
    )
    return _add(report.run, [_item(kind, report.key, report, attempt=attempt)], store, now)


def finish_live(report: FinishReport, store: Store, *, now: datetime) -> LiveAnswer:
    """End a run. What was reported is not published here."""
    item = _item("finish", report.key, report)
    if report.finished_at is None:
        # a repeated report is the same report whenever it comes
        timed = msgspec.structs.replace(report, finished_at=to_microseconds(now))
        item = msgspec.structs.replace(item, data=msgspec.json.encode(timed))
    return _add(report.run, [item], store, now, finishes=True)


def mark_stuck(store: Store, *, silence: float, now: datetime) -> list[str]:
    """The runs that were not heard of for longer than they may; each is marked once."""
    stuck = [
        state.run
        for state, own in live_runs_in(store, "running")
        if (now - moment_of(state.heard_at)).total_seconds() > (own if own is not None else silence)
    ]
    for run_id in stuck:
        set_live_state(store, run_id, "stuck", only_from="running")
    return stuck


def _suite(run_id: str, store: Store) -> str:
    if live_run(store, run_id) is None:
        raise NotFoundError(f"No run `{run_id}` was started", hint="start it: `POST /api/live/runs`")
    return suite_of(run_id, store)


def _add(run_id: str, items: list[JournalItem], store: Store, now: datetime, *, finishes: bool = False) -> LiveAnswer:
    state, new = add_to_journal(store, run_id, items, now=to_microseconds(now), finishes=finishes)
    return _answer(state, accepted=new, total=len(items))


def _answer(state: LiveRunState, *, accepted: int, total: int) -> LiveAnswer:
    return LiveAnswer(**msgspec.structs.asdict(state), accepted=accepted, repeated=total - accepted)


def _item(kind: str, key: str, report: msgspec.Struct, *, attempt: str = "") -> JournalItem:
    data = msgspec.json.encode(report)
    return JournalItem(kind, _checked(key), blake2b(data, digest_size=16).hexdigest(), data, attempt)


def _checked(key: str) -> str:
    if not key.strip() or len(key) > LONGEST_KEY or not key.isprintable():
        hint = f"use an id of your own with up to {LONGEST_KEY} printable characters"
        raise SettingsError("A report needs a key", hint=hint)
    return key
