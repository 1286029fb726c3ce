"""The verb `action add`: keep what was done about failures, and write it where people read it."""

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import msgspec

from errata.errors import ReportError, SettingsError
from errata.memory.actions_section import Edited, NoPlaceError, has_section, with_entry
from errata.memory.entries import entry_for, safe
from errata.memory.report_file import edit_report
from errata.memory.spelling import same_run
from errata.model import Action, StoredRun
from errata.model.times import from_iso, moment_of, to_iso
from errata.runs.addresses import Addressed, addressed
from errata.runs.names import run_named
from errata.runs.report_of_run import FindReport, Found, report_of
from errata.store.database import Store
from errata.store.memory import action_id, all_actions, keep_action
from errata.store.named_cases import tries_of
from errata.store.runs import all_runs

SHORTEST = 6
DAY = len("2026-03-04")

Written = Literal["written", "there", "reworded", "no report"]


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What the user says about an action."""

    what: str
    path: str
    addresses: tuple[str, ...]
    date: str = ""
    author: str = ""
    expected: str = ""
    run: str = ""
    report: Path | None = None


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    action: Action
    is_new: bool
    meant: tuple[Addressed, ...]
    run: StoredRun | None = None
    """Whose report it belongs into."""
    report: Path | None = None
    written: Written = "no report"
    line: int | None = None
    text: str = ""
    """The line of the report."""


def add_action(
    told: Told, store: Store, *, now: datetime, dry_run: bool = False, find: FindReport = report_of
) -> Recorded:
    """Into the store, and into the report of the run that it is about. Told twice, it changes nothing."""
    given = run_named(told.run, store) if told.run else None
    meant = tuple(addressed(text, store, run=given) for text in told.addresses)
    action = _action(told, meant, now)
    known = next((one for one in all_actions(store) if one.id == action.id), None)
    run = given or _run_of(meant, action, store)
    recorded = Recorded(action=known or action, is_new=known is None, meant=meant, run=run)
    found = Found(told.report, told.report.parent) if told.report else find(run, store) if run else None
    if found is not None:
        # tried first: a report that can't be edited leaves the store as it was
        recorded = _into_report(recorded, found, dry_run=True)
    if not dry_run:
        keep_action(store, recorded.action)
        if found is not None:
            recorded = _into_report(recorded, found)
            keep_action(store, recorded.action)
    return recorded


def _action(told: Told, meant: Sequence[Addressed], now: datetime) -> Action:
    what, path = safe(told.what).rstrip("."), safe(told.path)
    for name, text in (("what", what), ("path", path)):
        if not text:
            raise SettingsError(f"`--{name}` says nothing", hint="`--what` was changed, and in which file: `--path`")
    date = _date(told.date, now)
    keys = tuple(dict.fromkeys(one.key for one in meant))
    return Action(
        id=action_id(date, path, what, keys),
        what=what,
        path=path,
        addresses=keys,
        date=date,
        at=to_iso(now) if date == to_iso(now)[:DAY] else None,
        author=safe(told.author),
        expected_effect=safe(told.expected),
    )


def _date(text: str, now: datetime) -> str:
    """A day, or a time as UTC; today where nothing is said."""
    if not text:
        return to_iso(now)[:DAY]
    try:
        date = from_iso(text) if len(text) > DAY else datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        raise SettingsError(
            f"`{text}` is no date", hint="`--date 2026-03-04`, or a time: `2026-03-04T10:30Z`"
        ) from None
    if moment_of(date) > now + timedelta(days=1):
        raise SettingsError(f"`{text}` lies in the future", hint="`--date` is the day on which it was done")
    return date


def _run_of(meant: Sequence[Addressed], action: Action, store: Store) -> StoredRun | None:
    """The newest one that was named; else the newest that failed on one of the cases before the action."""
    runs = all_runs(store)
    named = {one.run.run.id for one in meant if one.run}
    if not named:
        tries = tries_of(store, [case for one in meant for case in one.cases])
        named = {one.run_id for one in tries if one.is_failure}
        runs = [one for one in runs if (one.run.started_at or "")[:DAY] <= action.date[:DAY]]
    return next((one for one in runs if one.run.id in named), None)


def _into_report(recorded: Recorded, found: Found, *, dry_run: bool = False) -> Recorded:
    action, place = recorded.action, str(found.path.absolute())
    suites = {one.suite for one in recorded.meant if one.suite}
    entry = entry_for(action, recorded.run.run.suite if recorded.run else min(suites, default=""))

    def edit(data: bytes) -> Edited:
        _refuse_no_report(found.path, data, recorded)
        try:
            return with_entry(data, entry, was_written=action.report == place)
        except NoPlaceError:
            hint = "add a heading `Actions taken` to it"
            raise ReportError(f"`{found.path}` has no place for an action", hint=hint) from None

    edited = edit_report(found.path, edit, folder=found.folder, dry_run=dry_run)
    kept = action if dry_run else msgspec.structs.replace(action, report=place)
    told = {"report": found.path, "written": edited.state, "line": edited.line, "text": edited.text}
    return msgspec.structs.replace(recorded, action=kept, **told)


def _refuse_no_report(path: Path, data: bytes, recorded: Recorded) -> None:
    """Nothing but reports is edited: a file that has the section, or tells of the run or of one of the cases."""
    run = recorded.run.run if recorded.run else None
    ids = [one for one in (run.native_id, run.external_id) if one] if run else []
    names = [one.name for one in recorded.meant]
    told = data.decode("utf-8", "replace")
    by_name = any(same_run(part, *ids) for part in re.split(r"[_. ]", path.stem))
    by_text = any(one in told for one in (*ids, *names) if len(one) >= SHORTEST)
    if not (by_name or by_text or has_section(data)):
        raise ReportError(
            f"`{path}` does not look like a report: it tells neither of the run nor of {names[0]}",
            hint="only reports are edited; a heading `Actions taken` makes it one",
        )
