"""Old runs removed, old transcripts thinned, and how much space each run takes."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from errata.errors import SettingsError, StoreError
from errata.model import StoredRun
from errata.model.output.store import StoreSizeOutput, StoreThinOutput
from errata.model.times import parse
from errata.store.database import Store
from errata.store.removal import free_space
from errata.store.runs import all_runs
from errata.store.sizes import runs_with_opinions, size_of_texts, sizes_of
from errata.store.thinning import ThinningResult, thin_run, thinned_runs
from errata.text.lazy_regex import lazy_regex
from errata.verbs.doctor import read_run_again
from errata.verbs.store import store_size

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


def thin_transcripts(store: Store, stored: StoredRun, *, now: str, dry_run: bool) -> StoreThinOutput:
    store.refuse_read_only()
    result = thin_run(store, stored.pk, stored.run.id, at=now, dry_run=dry_run)
    change: Literal["thinned", "would_thin", "nothing_to_thin"] = "would_thin" if dry_run else "thinned"
    return _thin_output(stored, result, change if result.thinned else "nothing_to_thin")


def restore_transcripts(store: Store, stored: StoredRun) -> StoreThinOutput:
    """Read the run again from its logs, if these have the content that was imported."""
    if stored.pk not in thinned_runs(store, [stored.pk]):
        return _thin_output(stored, ThinningResult(), "nothing_to_thin")
    if obstacle := read_run_again(store, stored.pk):
        message = f"The transcripts of `{stored.run.native_id}` can't be restored"
        raise StoreError(message, hint=obstacle)
    return _thin_output(stored, ThinningResult(), "restored")


def _thin_output(
    stored: StoredRun,
    result: ThinningResult,
    change: Literal["thinned", "would_thin", "nothing_to_thin", "restored"],
) -> StoreThinOutput:
    return StoreThinOutput(
        run=stored.run.native_id, run_id=stored.run.id, change=change, **msgspec.structs.asdict(result)
    )


def release_space(store: Store) -> bool:
    """Give freed space back to the disk; false where another process uses the store."""
    return free_space(store)


def measure_store(store: Store) -> StoreSizeOutput:
    return StoreSizeOutput(
        path=str(store.path),
        size=store_size(store),
        files=size_of_texts(store),
        runs=tuple(sizes_of(store, all_runs(store))),
    )
