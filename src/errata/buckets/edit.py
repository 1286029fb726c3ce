"""What a person does to buckets: merge, rename, split, move, confirm. Decided here, written by `stored`."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import msgspec

from errata.buckets.failure import FailureToGroup
from errata.buckets.naming import free_slug
from errata.buckets.opinions import Review, is_owner, is_read, needed, opinion_of, slug_of, supports, with_status
from errata.buckets.restate import restated
from errata.buckets.symptoms import symptom_of
from errata.errors import NotFoundError, SettingsError
from errata.model import Bucket, BucketChange, BucketVersion, Location, Placement, Verdict
from errata.model.identity import fingerprint
from errata.model.record import Struct
from errata.text.clean import one_line

TITLE = 120
NAMED = 5
"""Members that a refusal names."""
UNREAD = "nobody has read it"


class Author(Struct):
    """Who changes something, when, and whether it is only tried."""

    name: str
    at: str
    dry_run: bool = False


class BucketState(Struct):
    """The buckets of a suite at this moment, with the members of those that an edit is about."""

    versions: dict[str, BucketVersion]
    members: dict[str, list[Placement]] = {}
    reviews: Mapping[str, Review] = {}
    """Attempt → its standing verdict, of these members."""

    @property
    def followers(self) -> set[str]:
        """Attempts whose failure only repeats another one."""
        return {member.attempt for members in self.members.values() for member in members if member.follows}

    def living(self, bucket: Bucket) -> Bucket:
        """As it is now."""
        version = self.versions.get(bucket.id)
        if version is None or version.gone:
            raise NotFoundError(
                f"`{bucket.slug}` was merged or removed in the meantime", hint="`errata buckets history` shows by whom"
            )
        return version.bucket

    def slugs(self, *, without: str = "") -> set[str]:
        """That are taken."""
        return {one.bucket.slug for one in self.versions.values() if not one.gone and one.bucket.id != without}


class BucketEdit(Struct):
    """What changes: buckets as they are afterwards, and where failures lie from now on."""

    what: str
    bucket: str
    """The id of the one that it is about."""
    versions: tuple[BucketVersion, ...] = ()
    moves: dict[str, Location] = {}
    """By attempt."""
    members: int = 0
    """Of the bucket, afterwards."""
    undoes: tuple[int, ...] = ()


class EditResult(Struct):
    what: str
    bucket: Bucket
    """As it is after the change."""
    members: int
    event: int
    """Its number; by it the change can be named."""
    change: BucketChange


def merge(state: BucketState, buckets: Sequence[Bucket], into: Bucket, author: Author) -> BucketEdit:
    """All members of the others go into one; the others are retired, and their names lead to it."""
    others = [bucket for bucket in {bucket.id: bucket for bucket in buckets}.values() if bucket.id != into.id]
    refuse_other_suites([into, *others])
    if not others:
        raise SettingsError(
            "A merge needs at least two buckets", hint="`errata buckets merge A B…`; `--into` names the one to keep"
        )
    target, place = state.living(into), Location(into.id, author.name, author.at)
    retired: list[BucketVersion] = []
    moves: dict[str, Location] = {}
    for bucket in (state.living(other) for other in others):
        moves |= {member.attempt: place for member in state.members.get(bucket.id, ())}
        retired.append(BucketVersion(bucket, gone=True))
        target = _absorb(target, bucket)
    return _edited(state, "merge", target, moves, retired=retired)


def _absorb(target: Bucket, other: Bucket) -> Bucket:
    shared = {name: value for name, value in target.parameters.items() if other.parameters.get(name) == value}
    owner = {name: value for name, value in target.parameters.items() if name == "owner"}
    return msgspec.structs.replace(
        target,
        # what readers called the other leads here from now on
        keys=tuple(dict.fromkeys((*target.keys, *other.keys, f"verdict:{slug_of(other.slug)}"))),
        words=tuple(dict.fromkeys((*target.words, *other.words))),
        parameters=owner | shared,
        named_by="person",
    )


def rename(state: BucketState, bucket: Bucket, title: str, *, slug: str = "") -> BucketEdit:
    """The id stays, and readers who used the old slug still mean this one."""
    title = title_of(title)
    old = state.living(bucket)
    taken = state.slugs(without=old.id)
    wanted = slug_of(slug or title) or old.slug
    if slug and wanted in taken:
        raise SettingsError(f"Another bucket is called `{wanted}`", hint="`errata buckets merge` makes them one")
    keys = tuple(dict.fromkeys((*old.keys, f"verdict:{slug_of(old.slug)}")))
    new = msgspec.structs.replace(old, title=title, slug=free_slug(wanted, taken), keys=keys, named_by="person")
    return _edited(state, "rename", new, {})


def split(
    state: BucketState,
    bucket: Bucket,
    attempts: Collection[str],
    title: str,
    failures: Sequence[FailureToGroup],
    author: Author,
) -> BucketEdit:
    """Some members go into a bucket of their own, with the keys that only they have. `failures` are all its members."""
    title = title_of(title)
    old = state.living(bucket)
    members = state.members.get(old.id, [])
    going = with_followers(attempts, failures)
    chosen = [one.attempt for one in members if one.attempt in going]
    if not chosen or len(chosen) == len(members):
        raise SettingsError(
            f"A split takes some members and leaves some: {'all' if chosen else 'none'} of {len(members)} were named",
            hint="`errata buckets show BUCKET` lists them; `errata buckets rename` changes the title of the whole",
        )
    made = fingerprint(old.id, title, sorted(chosen), author.at)
    slug = free_slug(slug_of(title) or "bucket", state.slugs())
    new = Bucket(id=made, suite=old.suite, slug=slug, title=title, named_by="person")
    old, new = _share_out(old, new, failures, going)
    return _edited(state, "split", new, dict.fromkeys(chosen, Location(new.id, author.name, author.at)), others=[old])


def move(
    state: BucketState,
    attempts: Collection[str],
    to: Bucket,
    failures: Mapping[str, Sequence[FailureToGroup]],
    author: Author,
) -> BucketEdit:
    """Failures go into another bucket of their suite, with their followers.

    `failures` are all members of the buckets that they leave, by bucket.
    """
    going = with_followers(attempts, [one for some in failures.values() for one in some])
    target = state.living(to)
    lying = {one.attempt for some in state.members.values() for one in some}
    _refuse_unplaced(sorted(set(attempts) - lying))
    left = []
    for old in failures:
        rest, target = _share_out(state.living(state.versions[old].bucket), target, failures[old], going)
        left.append(rest)
    place = Location(to.id, author.name, author.at)
    return _edited(state, "move", target, dict.fromkeys(sorted(going & lying), place), others=left)


def confirm(state: BucketState, bucket: Bucket, author: Author, name_of: Callable[[str], str]) -> BucketEdit:
    """Its members stay where they are from now on, whatever is suggested later. `name_of` names an attempt."""
    members = [one.attempt for one in state.members.get(bucket.id, ())]
    now = with_status(state.living(bucket), members, state.reviews, state.followers)
    if now.status != "final":
        raise _not_yet(now, state, name_of)
    return _edited(state, "confirm", now, dict.fromkeys(members, Location(now.id, author.name, author.at)))


def _edited(
    state: BucketState,
    what: str,
    bucket: Bucket,
    moves: dict[str, Location],
    *,
    others: Sequence[Bucket] = (),
    retired: Sequence[BucketVersion] = (),
) -> BucketEdit:
    """With the status that the members give each bucket afterwards."""
    members = members_after(state, moves)
    living = (
        restated(
            changed,
            members.get(changed.id, ()),
            state.reviews,
            followers=state.followers,
            taken=state.slugs(without=changed.id),
        )
        for changed in (*others, bucket)
    )
    return BucketEdit(
        what=what,
        bucket=bucket.id,
        versions=(*retired, *map(BucketVersion, living)),
        moves=moves,
        members=len(members.get(bucket.id, ())),
    )


def members_after(state: BucketState, moves: Mapping[str, Location]) -> dict[str, list[str]]:
    members_by_bucket: dict[str, list[str]] = {}
    for bucket, members in state.members.items():
        for member in members:
            place = moves[member.attempt].bucket if member.attempt in moves else bucket
            members_by_bucket.setdefault(place, []).append(member.attempt)
    return members_by_bucket


def with_followers(attempts: Collection[str], failures: Sequence[FailureToGroup]) -> set[str]:
    """Whoever moves the first failure of a chain moves the chain."""
    going, before = set(attempts), 0
    while len(going) > before:
        before = len(going)
        going |= {one.attempt for one in failures if one.follows in going}
    return going


def _share_out(
    old: Bucket, new: Bucket, failures: Sequence[FailureToGroup], going: Collection[str]
) -> tuple[Bucket, Bucket]:
    """A key goes along where nothing that stays has it."""
    stay = {key for one in failures if one.attempt not in going for key in _keys(one)}
    go = {key for one in failures if one.attempt in going for key in _keys(one)} - stay
    shapes = {symptom_of(one).shape for one in failures if one.attempt in going}
    shapes -= {symptom_of(one).shape for one in failures if one.attempt not in going}
    rest = msgspec.structs.replace(
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
    return rest, taken


def _keys(failure: FailureToGroup) -> set[str]:
    """What it shows, and the sentence of its reader; but whoever names a bucket means that one, wherever it is put."""
    opinion = opinion_of(failure)
    common = msgspec.structs.replace(failure, is_common=True)
    return {symptom_of(failure).key, symptom_of(common).key, "" if opinion.startswith("verdict:") else opinion} - {""}


def title_of(title: str) -> str:
    line = one_line(title, TITLE)
    if not line:
        raise SettingsError("A bucket needs a title", hint="a few words that name the cause")
    return line


def refuse_other_suites(buckets: Iterable[Bucket]) -> None:
    suites = sorted({one.suite for one in buckets})
    if len(suites) > 1:
        listed = ", ".join(f"`{suite}`" for suite in suites)
        raise SettingsError(f"These belong to several suites: {listed}", hint="a bucket holds failures of one suite")


def _refuse_unplaced(missing: Sequence[str]) -> None:
    if missing:
        raise NotFoundError(
            f"{len(missing)} of these failures are not in a bucket, such as `{missing[0]}`",
            hint="`errata buckets suggest RUN` puts them into one first",
        )


def _not_yet(bucket: Bucket, state: BucketState, name_of: Callable[[str], str]) -> SettingsError:
    """With the members that could support it and do not; those that were reviewed first."""
    members = state.members.get(bucket.id, ())
    own = [one.attempt for one in members if not one.follows]
    if not own:
        return SettingsError(
            f"`{bucket.slug}` can't be called final: it holds only knock-on failures",
            hint="review the failures that they follow from",
        )
    missing = {each: why for each in own if (why := _why_not(bucket, state.reviews.get(each)))}
    order = sorted(missing, key=lambda each: (missing[each] == UNREAD, each))
    lines = [f"{name_of(each)}: {missing[each]}" for each in order[:NAMED]]
    more = [f"and {len(order) - NAMED} more"] if len(order) > NAMED else []
    hint = f"`errata review next RUN/CASE` gives you one to read; put `{bucket.slug}` into `bucket` of the verdict"
    knock_on = " (knock-on failures do not count)" if len(own) < len(members) else ""
    return SettingsError(
        f"`{bucket.slug}` can't be called final: {len(bucket.supported_by)} of its {len(own)} failures were read"
        f" with a verdict that names it as the cause, and it takes {needed(len(own))}{knock_on}",
        hint="\n".join([*lines, *more, hint]),
    )


def _why_not(bucket: Bucket, review: Review | None) -> str:
    verdict: Verdict | None = review.verdict if review else None
    if review is None or verdict is None:
        return UNREAD
    if not is_read(review):
        return "its verdict was taken over from another failure"
    if not supports(review, bucket):
        if not is_owner(verdict.owner, bucket):
            return f"its verdict names another owner: {verdict.owner}"
        return f"its verdict names another cause: {verdict.bucket or verdict.cause}"
    return "" if review.final else "the log may have asked for its verdict: a second reviewer has to agree"
