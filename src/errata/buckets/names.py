"""What a user means by BUCKET: a slug, the beginning of one, or an id; a merged one leads to what took its place."""

from collections.abc import Iterable, Sequence

from errata.buckets.suggest import bucket_if_needed
from errata.errors import NotFoundError
from errata.model import Bucket
from errata.store.bucket_events import events_of, heirs
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.store.runs import all_runs
from errata.text.nearest import did_you_mean

LISTED = 10
SHORTEST = 3
"""Characters of an id that may stand for the whole."""


def bucket_named(name: str, store: Store, *, suite: str | None = None) -> Bucket:
    """What was not suggested yet is suggested first, so that the newest verdicts have their say."""
    bucket_if_needed(all_runs(store), store)
    living = buckets_of(store, suite)
    found = _meant(name, living)
    if len(found) == 1:
        return found[0]
    if found:
        told = f"`{name}` names {len(found)} buckets"
        raise NotFoundError(told, hint=f"name one of them:\n{candidates(found)}")
    merged = _merged(name, living, store, suite)
    if merged is not None:
        return merged
    if not living:
        hint = "`errata buckets suggest` puts failures into some"
        raise NotFoundError("There are no buckets yet", hint=hint)
    hints = (did_you_mean(name, (one.slug for one in living)), "`errata buckets list` names them")
    raise NotFoundError(f"No bucket is named `{name}`", hint="\n".join(hint for hint in hints if hint))


def candidates(found: Sequence[Bucket]) -> str:
    lines = [f"{one.slug} · {one.suite} · id {one.id}" for one in found[:LISTED]]
    more = [f"and {len(found) - LISTED} more: `errata buckets list --all`"] if len(found) > LISTED else []
    return "\n".join([*lines, *more])


def _meant(name: str, known: Iterable[Bucket]) -> list[Bucket]:
    """Exactly so, else by how it begins."""
    buckets = list(known)
    exactly = [one for one in buckets if name in (one.id, one.slug, one.title)]
    # what its readers call it, or what it was called once
    called = exactly or [one for one in buckets if f"verdict:{name}" in one.keys]
    return called or [
        one
        for one in buckets
        if name and (one.slug.startswith(name) or (len(name) >= SHORTEST and one.id.startswith(name)))
    ]


def _merged(name: str, living: Iterable[Bucket], store: Store, suite: str | None) -> Bucket | None:
    into = heirs(events_of(store, suite))
    gone = [one for one in buckets_of(store, suite, gone=True) if one.id in into and name in (one.id, one.slug)]
    led = {into[one.id] for one in gone}
    return next((one for one in living if one.id in led), None) if len(led) == 1 else None
