"""The verbs `buckets merge`, `split`, `rename`, `move` and `confirm`: what a person says of buckets."""

from collections.abc import Collection, Sequence

import msgspec

from errata.buckets.failing import Failing
from errata.buckets.opinions import opinion_of, slug_of
from errata.buckets.symptoms import symptom_of
from errata.errors import NotFoundError, SettingsError
from errata.model import Bucket
from errata.model.identity import fingerprint
from errata.pipeline.bucketing_failures import failing_in
from errata.pipeline.bucketing_keeping import free_slug
from errata.pipeline.bucketing_status import restated
from errata.store.bucket_changes import Filing, Signed, filing
from errata.store.bucket_events import Change, Place
from errata.store.buckets import Placement, buckets_of, placements_in, run_of, slips_of
from errata.store.database import Store
from errata.store.runs import run_by_id
from errata.text.clean import one_line

TITLE = 120


class By(msgspec.Struct, frozen=True, kw_only=True):
    """Who changes something, when, and whether it is only tried."""

    author: str
    at: str
    tried: bool = False


class Done(msgspec.Struct, frozen=True, kw_only=True):
    what: str
    bucket: Bucket
    """As it is after the change."""
    members: int
    event: int
    """Its number; by it the change can be named."""
    change: Change


def merge(buckets: Sequence[Bucket], into: Bucket, store: Store, by: By) -> Done:
    """All members of the others go into one; they are gone, and whoever asks for them is led there."""
    others = [one for one in {one.id: one for one in buckets}.values() if one.id != into.id]
    _refuse_other_suites([into, *others])
    if not others:
        raise SettingsError(
            "A merge needs two buckets or more", hint="`errata buckets merge A B…`; `--into` says which one stays"
        )
    with filing(store, keep=not by.tried) as desk:
        target, place = living(desk, into), Place(into.id, by.author, by.at)
        for one in (living(desk, other) for other in others):
            desk.move(desk.members(one.id), lambda _: place)
            desk.file(one, gone=True)
            target = _absorbed(target, one)
        return signed(desk, "merge", target, by)


def _absorbed(target: Bucket, other: Bucket) -> Bucket:
    shared = {name: value for name, value in target.parameters.items() if other.parameters.get(name) == value}
    owner = {name: value for name, value in target.parameters.items() if name == "owner"}
    return msgspec.structs.replace(
        target,
        # what readers called the other leads here from now on
        keys=tuple(dict.fromkeys((*target.keys, *other.keys, f"verdict:{slug_of(other.slug)}"))),
        words=tuple(dict.fromkeys((*target.words, *other.words))),
        parameters=owner | shared,
    )


def rename(bucket: Bucket, title: str, store: Store, by: By, *, slug: str = "") -> Done:
    """The id stays, and readers who used the old slug still mean this one."""
    title = _title(title)
    with filing(store, keep=not by.tried) as desk:
        old = living(desk, bucket)
        taken = {one.bucket.slug for one in desk.filed(old.suite) if not one.gone and one.bucket.id != old.id}
        wanted = slug_of(slug or title) or old.slug
        if slug and wanted in taken:
            raise SettingsError(f"Another bucket is called `{wanted}`", hint="`errata buckets merge` makes them one")
        keys = tuple(dict.fromkeys((*old.keys, f"verdict:{slug_of(old.slug)}")))
        new = msgspec.structs.replace(old, title=title, slug=free_slug(wanted, taken), keys=keys)
        return signed(desk, "rename", new, by)


def split(bucket: Bucket, attempts: Collection[str], title: str, store: Store, by: By) -> Done:
    """Some members go into a bucket of their own, and with them what only they are recognised by."""
    title = _title(title)
    failures = _failures_of(bucket, store)
    with filing(store, keep=not by.tried) as desk:
        old = living(desk, bucket)
        members = desk.members(old.id)
        chosen = [one for one in members if one.attempt in attempts]
        if not chosen or len(chosen) == len(members):
            told = "all" if chosen else "none"
            raise SettingsError(
                f"A split leaves some members and takes some: {told} of the {len(members)} would go",
                hint="`errata buckets show BUCKET` lists them; `errata buckets rename` gives the whole another title",
            )
        taken = {one.bucket.slug for one in desk.filed(old.suite) if not one.gone}
        made = fingerprint(old.id, title, sorted(one.attempt for one in chosen), by.at)
        new = Bucket(id=made, suite=old.suite, slug=free_slug(slug_of(title) or "bucket", taken), title=title)
        old, new = _shared_out(old, new, failures, {one.attempt for one in chosen})
        desk.move(chosen, lambda _: Place(new.id, by.author, by.at))
        desk.file(old)
        return signed(desk, "split", new, by, others=[old])


def move(attempts: Collection[str], to: Bucket, store: Store, by: By) -> Done:
    """Failures go into another bucket of their suite."""
    came = {one.id for attempt in attempts for one in slips_of(store, run_of(attempt), [attempt]).values()}
    froms = [one for one in buckets_of(store, gone=True) if one.id in came - {to.id}]
    failures = {one.id: _failures_of(one, store) for one in froms}
    _refuse_other_suites([to, *froms])
    with filing(store, keep=not by.tried) as desk:
        target = living(desk, to)
        members = desk.placements(sorted(attempts))
        _refuse_unplaced(attempts, members)
        left = []
        for old in froms:
            gone, target = _shared_out(living(desk, old), target, failures[old.id], attempts)
            left.append(gone)
            desk.file(gone)
        desk.move(members, lambda _: Place(to.id, by.author, by.at))
        return signed(desk, "move", target, by, others=left)


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
    return {symptom_of(failing).key, opinion_of(failing)} - {""}


def _failures_of(bucket: Bucket, store: Store) -> list[Failing]:
    by_run: dict[str, set[str]] = {}
    for one in placements_in(store, bucket.id):
        by_run.setdefault(one.run, set()).add(one.attempt)
    return [one for run, some in by_run.items() for one in failing_in(run_by_id(store, run), store, some)]


def living(desk: Filing, bucket: Bucket) -> Bucket:
    """As it is now."""
    filed = desk.find(bucket.id)
    if filed is None or filed.gone:
        raise NotFoundError(
            f"`{bucket.slug}` was merged or taken back meanwhile", hint="`errata buckets history` tells by whom"
        )
    return filed.bucket


def signed(desk: Filing, what: str, bucket: Bucket, by: By, *, others: Sequence[Bucket] = ()) -> Done:
    """Keep it with the status that its members give it, and note who did it."""
    desk.file(bucket)
    for one in restated(desk, [bucket, *others]):
        desk.file(one)
    now = desk.find(bucket.id)
    assert now is not None
    change = desk.change
    event = desk.note(Signed(what=what, by=by.author, at=by.at), bucket.id, change)
    members = len(desk.members(bucket.id))
    return Done(what=what, bucket=now.bucket, members=members, event=event, change=change)


def _title(title: str) -> str:
    told = one_line(title, TITLE)
    if not told:
        raise SettingsError("A bucket needs a title", hint="a few words that name the cause")
    return told


def _refuse_other_suites(buckets: Sequence[Bucket]) -> None:
    suites = sorted({one.suite for one in buckets})
    if len(suites) > 1:
        listed = ", ".join(f"`{suite}`" for suite in suites)
        raise SettingsError(f"These belong to several suites: {listed}", hint="a bucket holds failures of one suite")


def _refuse_unplaced(attempts: Collection[str], members: Sequence[Placement]) -> None:
    missing = sorted(set(attempts) - {one.attempt for one in members})
    if missing:
        told = f"{len(missing)} of these failures are in no bucket, such as `{missing[0]}`"
        raise NotFoundError(told, hint="`errata buckets suggest RUN` puts them into one first")
