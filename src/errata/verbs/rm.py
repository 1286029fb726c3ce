"""`rm`: remove runs by name or age; which of the old ones are kept, and why."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.times import parse
from errata.store.database import Store
from errata.store.removal import free_space, remove_run, runs_with_opinions
from errata.store.runs import all_runs
from errata.text.lazy_regex import lazy_regex

Reason = Literal["verdicts", "actions", "baseline", "running", "newest"]
REASONS: tuple[Reason, ...] = ("verdicts", "actions", "baseline", "running", "newest")
_AGE = lazy_regex(r"(\d{1,5})\s*([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class OldRun(msgspec.Struct, frozen=True):
    """A run that is old enough to be removed, and why it is kept all the same."""

    stored: StoredRun
    kept_for: tuple[Reason, ...]


class OldRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs are meant."""

    older_than: timedelta
    suite: str = ""
    keep_last: int = 0
    """The newest of each suite and model are kept."""


def age_of(text: str) -> timedelta:
    """`90d`, `12w`, `6m` (of 30 days) or `1y`."""
    match = _AGE.fullmatch(text.strip().lower())
    if match is None:
        raise SettingsError(f"`{text}` is not an age", hint="a number and d, w, m or y: `90d`, `12w`, `6m`, `1y`")
    return timedelta(days=int(match[1]) * _DAYS[match[2]])


def old_runs(store: Store, wanted: OldRuns, *, now: datetime, keep_opinions: bool = True) -> list[OldRun]:
    """Oldest first. The time of a run is when it started; if its log does not have that, when it was imported."""
    stored = [one for one in all_runs(store) if wanted.suite in ("", one.run.suite)]
    needed = runs_with_opinions(store) if keep_opinions else {}
    newest = _newest(stored, wanted.keep_last)
    old = []
    for listed in sorted(stored, key=_time_of):
        if _time_of(listed) > now - wanted.older_than:
            continue
        reasons = needed.get(listed.run.id, set()) | needed.get(listed.run.native_id, set())
        reasons |= {"newest"} if listed.run.id in newest else set()
        old.append(OldRun(listed, tuple(reason for reason in REASONS if reason in reasons)))
    return old


def _time_of(stored: StoredRun) -> datetime:
    for text in (stored.run.started_at, stored.imported_at):
        try:
            moment = parse(text) if text else None
        except ValueError:
            continue
        if moment is not None:
            return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return datetime.now(UTC)


def _newest(stored: Sequence[StoredRun], count: int) -> set[str]:
    groups: dict[tuple[str, str], list[StoredRun]] = {}
    for listed in sorted(stored, key=_time_of, reverse=True):
        groups.setdefault((listed.run.suite, listed.run.subject.model), []).append(listed)
    return {one.run.id for group in groups.values() for one in group[:count]}


def forget(meant: Iterable[StoredRun], store: Store) -> bool:
    """Remove runs and free their space; false where the space could not be freed yet."""
    for stored in meant:
        remove_run(store, stored.run.id)
    return free_space(store)
