"""The verbs `buckets merge` and `buckets rename`, and what every change of a person has in common."""

from collections.abc import Sequence

import msgspec

from errata.buckets.opinions import slug_of
from errata.buckets.slugs import free_slug
from errata.buckets.status import restated
from errata.errors import NotFoundError, SettingsError
from errata.model import Bucket
from errata.store.bucket_changes import Filing, Signed, filing
from errata.store.bucket_events import Change, Place
from errata.store.database import Store
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
    refuse_other_suites([into, *others])
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
    title = title_of(title)
    with filing(store, keep=not by.tried) as desk:
        old = living(desk, bucket)
        taken = {one.bucket.slug for one in desk.filed(old.suite) if not one.gone and one.bucket.id != old.id}
        wanted = slug_of(slug or title) or old.slug
        if slug and wanted in taken:
            raise SettingsError(f"Another bucket is called `{wanted}`", hint="`errata buckets merge` makes them one")
        keys = tuple(dict.fromkeys((*old.keys, f"verdict:{slug_of(old.slug)}")))
        new = msgspec.structs.replace(old, title=title, slug=free_slug(wanted, taken), keys=keys)
        return signed(desk, "rename", new, by)


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


def title_of(title: str) -> str:
    told = one_line(title, TITLE)
    if not told:
        raise SettingsError("A bucket needs a title", hint="a few words that name the cause")
    return told


def refuse_other_suites(buckets: Sequence[Bucket]) -> None:
    suites = sorted({one.suite for one in buckets})
    if len(suites) > 1:
        listed = ", ".join(f"`{suite}`" for suite in suites)
        raise SettingsError(f"These belong to several suites: {listed}", hint="a bucket holds failures of one suite")
