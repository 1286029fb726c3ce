"""The verb `buckets confirm`: a person says that a bucket is final, where enough of its members were read for that."""

from collections.abc import Sequence
from typing import NamedTuple

from errata.buckets.changes import By, Done, living, signed
from errata.buckets.member_names import short_names
from errata.buckets.opinions import is_read, supports
from errata.buckets.standing import ENOUGH
from errata.buckets.status import read_as, restated
from errata.errors import SettingsError
from errata.model import Bucket, Verdict
from errata.store.bucket_changes import Filing, filing
from errata.store.bucket_events import Place
from errata.store.buckets import Placement
from errata.store.database import Store

NAMED = 5


class Missing(NamedTuple):
    """Why a member does not carry its bucket."""

    attempt: str
    why: str


def confirm(bucket: Bucket, store: Store, by: By) -> Done:
    """Its members stay where they are from now on, whatever is suggested later."""
    with filing(store, keep=not by.tried) as desk:
        (now,) = restated(desk, [living(desk, bucket)])
        members = desk.members(now.id)
        if now.status != "final":
            raise _not_yet(now, members, missing_in(desk, now, members), store)
        desk.move(members, lambda one: Place(one.bucket, by.author, by.at))
        return signed(desk, "confirm", now, by)


def missing_in(desk: Filing, bucket: Bucket, members: Sequence[Placement]) -> list[Missing]:
    """Members that could carry it and do not; those that were read first, then those that stand for themselves."""
    said = desk.verdicts([bucket.id])
    found = [Missing(one.attempt, why) for one in members if (why := _why(bucket, one.attempt, said))]
    follows = {one.attempt for one in members if one.follows}
    return sorted(found, key=lambda one: (one.why == UNREAD, one.attempt in follows, one.attempt))


UNREAD = "nobody has read it"


def _why(bucket: Bucket, attempt: str, said: dict[str, list[Verdict]]) -> str:
    failing = read_as(attempt, said.get(attempt, ()))
    if not is_read(failing) or failing.verdict is None:
        return UNREAD if failing.verdict is None else "its verdict was taken over from another failure"
    if not supports(failing, bucket):
        return f"its verdict names another cause: {failing.verdict.bucket or failing.verdict.cause}"
    return "" if failing.final else "its text talks to the reader: a second reader has to agree"


def _not_yet(bucket: Bucket, members: Sequence[Placement], missing: Sequence[Missing], store: Store) -> SettingsError:
    needed = min(ENOUGH, len(members))
    told = (
        f"`{bucket.slug}` can't be called final: {len(bucket.supported_by)} of its {len(members)} failures were read"
        f" with a verdict that names it as the cause, and it takes {needed}"
    )
    names = short_names([one.attempt for one in missing[:NAMED]], store)
    lines = [f"{names[one.attempt]}: {one.why}" for one in missing[:NAMED]]
    more = [f"and {len(missing) - NAMED} more"] if len(missing) > NAMED else []
    hint = f"`errata review next RUN/CASE` gives you one to read; put `{bucket.slug}` into `bucket` of the verdict"
    return SettingsError(told, hint="\n".join([*lines, *more, hint]))
