"""The verbs `buckets split` and `buckets move`: a person says where failures belong."""

from collections.abc import Collection, Sequence

import msgspec

from errata.buckets.changes import By, Done, living, refuse_other_suites, signed, title_of
from errata.buckets.failing import Failing
from errata.buckets.inputs import failing_in
from errata.buckets.opinions import opinion_of, slug_of
from errata.buckets.slugs import free_slug
from errata.buckets.symptoms import symptom_of
from errata.errors import NotFoundError, SettingsError
from errata.model import Bucket
from errata.model.identity import fingerprint
from errata.store.bucket_changes import filing
from errata.store.bucket_events import Place
from errata.store.buckets import Placement, buckets_of, placements_in, run_of, slips_of
from errata.store.database import Store
from errata.store.runs import run_by_id


def split(bucket: Bucket, attempts: Collection[str], title: str, store: Store, by: By) -> Done:
    """Some members go into a bucket of their own, and with them what only they are recognised by."""
    title = title_of(title)
    failures = _failures_of(bucket, store)
    with filing(store, keep=not by.tried) as desk:
        old = living(desk, bucket)
        members = desk.members(old.id)
        going = with_followers(attempts, failures)
        chosen = [one for one in members if one.attempt in going]
        if not chosen or len(chosen) == len(members):
            told = "all" if chosen else "none"
            raise SettingsError(
                f"A split leaves some members and takes some: {told} of the {len(members)} would go",
                hint="`errata buckets show BUCKET` lists them; `errata buckets rename` gives the whole another title",
            )
        taken = {one.bucket.slug for one in desk.filed(old.suite) if not one.gone}
        made = fingerprint(old.id, title, sorted(one.attempt for one in chosen), by.at)
        new = Bucket(id=made, suite=old.suite, slug=free_slug(slug_of(title) or "bucket", taken), title=title)
        old, new = _shared_out(old, new, failures, going)
        desk.move(chosen, lambda _: Place(new.id, by.author, by.at))
        desk.file(old)
        return signed(desk, "split", new, by, others=[old])


def move(attempts: Collection[str], to: Bucket, store: Store, by: By) -> Done:
    """Failures go into another bucket of their suite, and with them what follows from them."""
    came = {one.id for attempt in attempts for one in slips_of(store, run_of(attempt), [attempt]).values()}
    froms = [one for one in buckets_of(store, gone=True) if one.id in came - {to.id}]
    refuse_other_suites([to, *froms])
    failures = {one.id: _failures_of(one, store) for one in froms}
    going = with_followers(attempts, [one for some in failures.values() for one in some])
    with filing(store, keep=not by.tried) as desk:
        target = living(desk, to)
        members = desk.placements(sorted(going))
        _refuse_unplaced(attempts, members)
        left = []
        for old in froms:
            rest, target = _shared_out(living(desk, old), target, failures[old.id], going)
            left.append(rest)
            desk.file(rest)
        desk.move(members, lambda _: Place(to.id, by.author, by.at))
        return signed(desk, "move", target, by, others=left)


def with_followers(attempts: Collection[str], failures: Sequence[Failing]) -> set[str]:
    """Whoever moves the first failure of a chain moves the chain."""
    going, before = set(attempts), 0
    while len(going) > before:
        before = len(going)
        going |= {one.attempt for one in failures if one.follows in going}
    return going


def _shared_out(old: Bucket, new: Bucket, failures: Sequence[Failing], going: Collection[str]) -> tuple[Bucket, Bucket]:
    """A key goes along where nothing that stays has it."""
    stay = {key for one in failures if one.attempt not in going for key in _keys(one)}
    go = {key for one in failures if one.attempt in going for key in _keys(one)} - stay
    shapes = {symptom_of(one).shape for one in failures if one.attempt in going}
    shapes -= {symptom_of(one).shape for one in failures if one.attempt not in going}
    kept = msgspec.structs.replace(
        old,
        keys=tuple(key for key in old.keys if key not in go),
        words=tuple(word for word in old.words if word not in shapes),
    )
    taken = msgspec.structs.replace(
        new,
        keys=tuple(dict.fromkeys((*new.keys, *(key for key in old.keys if key in go)))),
        words=tuple(dict.fromkeys((*new.words, *(word for word in old.words if word in shapes)))),
        parameters=new.parameters or {name: value for name, value in old.parameters.items() if name == "owner"},
    )
    return kept, taken


def _keys(failing: Failing) -> set[str]:
    """What it shows, and the sentence of its reader; but whoever names a bucket means that one, wherever it is put."""
    opinion = opinion_of(failing)
    return {symptom_of(failing).key, "" if opinion.startswith("verdict:") else opinion} - {""}


def _failures_of(bucket: Bucket, store: Store) -> list[Failing]:
    by_run: dict[str, set[str]] = {}
    for one in placements_in(store, bucket.id):
        by_run.setdefault(one.run, set()).add(one.attempt)
    return [one for run, some in by_run.items() for one in failing_in(run_by_id(store, run), store, some)]


def _refuse_unplaced(attempts: Collection[str], members: Sequence[Placement]) -> None:
    missing = sorted(set(attempts) - {one.attempt for one in members})
    if missing:
        told = f"{len(missing)} of these failures are in no bucket, such as `{missing[0]}`"
        raise NotFoundError(told, hint="`errata buckets suggest RUN` puts them into one first")
