"""Runs that are reported while in progress: start, add, finish; publish reports; notice silence."""

from datetime import datetime
from hashlib import blake2b

import msgspec

from errata.errors import NotFoundError, SettingsError
from errata.model.live import (
    ArtefactsReport,
    AttemptsReport,
    ChecksReport,
    FinishReport,
    LiveAnswer,
    LiveRunState,
    StartReport,
    StepsReport,
)
from errata.model.times import moment_of, to_microseconds
from errata.runs.live import id_of_attempt, publish, run_of, suite_of
from errata.store.database import Store
from errata.store.server import (
    JournalItem,
    add_to_journal,
    live_run,
    live_runs_in,
    set_live_state,
    start_live_run,
    unpublished_runs,
)

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
