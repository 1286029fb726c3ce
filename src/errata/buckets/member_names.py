"""Which failures are meant: RUN and CASE, a CASE alone, or an attempt's id, among those that lie in buckets."""

from collections.abc import Iterable, Iterator

from errata.buckets.names import bucket_named
from errata.buckets.suggest import bucket_if_needed
from errata.errors import NotFoundError, SettingsError
from errata.model import Bucket, StoredRun
from errata.model.identity import split_attempt_id
from errata.model.run import case_name
from errata.runs.names import handles_of
from errata.runs.show import ShownAttempt, find_shown
from errata.store.buckets import Placement, placements_in, placements_of_run
from errata.store.database import Store
from errata.store.runs import all_runs
from errata.text.nearest import did_you_mean


def failures_named(things: Iterable[str], store: Store) -> list[str]:
    """Attempts; all that failed at a case, unless one of them is named with its number."""
    found: dict[str, None] = {}
    for thing in things:
        shown = find_shown(thing, store)
        if not isinstance(shown, ShownAttempt):
            hint = f"name a failure of it: `errata failures {thing}` lists them"
            raise SettingsError(f"`{thing}` is a run, and a bucket holds failures", hint=hint)
        bucket_if_needed([shown.stored], store)
        placed = placements_of_run(store, shown.stored.run.id)
        same = [each for each, one in placed.items() if one.case == shown.attempt.case]
        chosen = [each for each in same if each == shown.attempt.id] if _is_exact(thing, shown) else same
        if not chosen:
            told = f"`{thing}` did not fail"
            raise NotFoundError(told, hint=f"`errata failures {shown.handle}` lists what did")
        found |= dict.fromkeys(chosen)
    return list(found)


def _is_exact(thing: str, shown: ShownAttempt) -> bool:
    return thing == shown.attempt.id or (thing.rpartition("#")[2].isdecimal() and not shown.case_name.endswith(thing))


def short_names(attempts: Iterable[str], store: Store) -> dict[str, str]:
    """Attempt → RUN/CASE, as commands take it; the id itself where its run is not there any more."""
    known = {one.run.id: one for one in all_runs(store)}
    handles = handles_of(known.values())
    named = {}
    for attempt in attempts:
        parts = split_attempt_id(attempt)
        run = known[parts.run].run if parts.run in known else None
        number = f"#{parts.index}" if parts.index > 1 else ""
        named[attempt] = f"{handles[parts.run]}/{case_name(run, parts.case)}{number}" if run else attempt
    return named


def members_of(name: str, store: Store) -> frozenset[str]:
    """The attempts in a bucket, for a queue that goes bucket by bucket."""
    return frozenset(one.attempt for one in placements_in(store, bucket_named(name, store).id))


def members_named(bucket: Bucket, things: Iterable[str], store: Store) -> list[str]:
    """Of one bucket: a CASE means it in every run."""
    known = {one.run.id: one for one in all_runs(store)}
    handles = handles_of(known.values())
    by_name: dict[str, list[str]] = {}
    members = placements_in(store, bucket.id)
    for one in members:
        for name in _names(one, known[one.run], handles[one.run]):
            by_name.setdefault(name, []).append(one.attempt)
    found: dict[str, None] = {}
    for thing in things:
        if thing not in by_name:
            cases = {case_name(known[one.run].run, one.case) for one in members}
            hints = (did_you_mean(thing, cases), f"`errata buckets show {bucket.slug}` lists its members")
            raise NotFoundError(f"`{thing}` is not in `{bucket.slug}`", hint="\n".join(hint for hint in hints if hint))
        found |= dict.fromkeys(by_name[thing])
    return list(found)


def _names(one: Placement, stored: StoredRun, handle: str) -> Iterator[str]:
    parts = split_attempt_id(one.attempt)
    name = case_name(stored.run, parts.case)
    yield from dict.fromkeys((one.attempt, parts.case, name, f"{handle}/{name}", f"{stored.run.native_id}/{name}"))
    yield from dict.fromkeys((f"{name}#{parts.index}", f"{handle}/{name}#{parts.index}"))
