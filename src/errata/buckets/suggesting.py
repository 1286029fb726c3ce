"""Failures → suggested buckets: the known ones recognised, the others grouped, named and given their standing."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from errata.buckets.failing import Failing
from errata.buckets.following import roots_of
from errata.buckets.grouping import grouped
from errata.buckets.groups import Group
from errata.buckets.naming import Names, description_of
from errata.buckets.opinions import is_opinion, is_read
from errata.buckets.parameters import Parameters, is_shared
from errata.buckets.standing import standing_of
from errata.model import Bucket, Member
from errata.model.identity import fingerprint
from errata.model.words import MemberRole

KEYS, WORDS = 500, 20
"""What a bucket remembers of how its members look."""


def suggest(failures: Iterable[Failing], known: Sequence[Bucket] = ()) -> list[Bucket]:
    """Every known bucket, in its order, with what was found to belong to it; then the new ones, the largest first.

    Members of `known` stay where they are, and its ids, slugs and titles are kept: pass only those members that are
    not to be thought over again. Each failure ends up in exactly one bucket, alone in it where nothing is like it.
    The order of the failures does not matter.
    """
    given = {failing.attempt: failing for failing in sorted(failures, key=lambda failing: failing.attempt)}
    groups = _gathered(given, known)
    parameters, names, ids = Parameters(given.values()), Names(known), _Ids(known)
    groups[len(known) :] = sorted(
        groups[len(known) :], key=lambda group: (-_size(group), _first_key(group), group.owner)
    )
    return [_bucket(group, names, ids, parameters, given) for group in groups]


def _gathered(given: Mapping[str, Failing], known: Sequence[Bucket]) -> list[Group]:
    fixed = {member.attempt: place for place, bucket in enumerate(known) for member in bucket.members}
    roots = roots_of(given, fixed.keys())
    free = [failing for attempt, failing in given.items() if attempt not in fixed and attempt not in roots]
    groups = grouped([one for one in free if one.verdict], [one for one in free if not one.verdict], known)
    places = {failing.attempt: place for place, group in enumerate(groups) for failing in group.failures} | fixed
    for attempt, place in fixed.items():
        if attempt in given:
            groups[place].failures.append(given[attempt])
    for attempt, root in roots.items():
        groups[places[root]].followers.append(given[attempt])
    return groups


class _Ids:
    """Made of the suite, the owner and the first key, and none twice."""

    def __init__(self, known: Sequence[Bucket]) -> None:
        self._taken = {bucket.id for bucket in known}

    def of(self, group: Group) -> str:
        number, made = 0, ""
        while not made or made in self._taken:
            made = fingerprint(group.suite, group.owner, _first_key(group), *([number] if number else []))
            number += 1
        self._taken.add(made)
        return made


def _bucket(group: Group, names: Names, ids: _Ids, parameters: Parameters, given: Mapping[str, Failing]) -> Bucket:
    made = group.bucket or _named(group, names, ids)
    found = (*group.failures, *group.followers)
    kept = {member.attempt: member for member in made.members}
    kept |= {failing.attempt: Member(attempt=failing.attempt, role=_role(failing)) for failing in found}
    bucket = msgspec.structs.replace(
        made,
        members=tuple(kept[attempt] for attempt in sorted(kept)),
        parameters={"owner": group.owner} | _parameters(made, group, parameters, given),
        keys=_most(made.keys, group.keys, KEYS),
        words=_most(made.words, group.shapes, WORDS),
    )
    standing = standing_of(bucket, given)
    return msgspec.structs.replace(bucket, status=standing.status, supported_by=standing.supported_by)


def _parameters(made: Bucket, group: Group, parameters: Parameters, given: Mapping[str, Failing]) -> dict[str, str]:
    """Found anew where all members are at hand; else what was known, as long as the new ones do not contradict it."""
    if all(member.attempt in given for member in made.members):
        return parameters.shared(group.suite, group.failures)
    return {name: value for name, value in made.parameters.items() if is_shared(name, value, group.failures)}


def _named(group: Group, names: Names, ids: _Ids) -> Bucket:
    name = names.of(group)
    told = description_of(group)
    described = "" if told.rstrip("…") in name.title else told
    return Bucket(id=ids.of(group), suite=group.suite, slug=name.slug, title=name.title, description=described)


def _role(failing: Failing) -> MemberRole:
    if is_read(failing):
        return "reviewed"
    return "inherited" if failing.verdict else "assigned"


def _most(before: Sequence[str], counted: Counter[str], most: int) -> tuple[str, ...]:
    """What was remembered before stays; then what readers said, then the most frequent."""
    often = sorted(counted, key=lambda each: (not is_opinion(each), -counted[each], each))
    return tuple(dict.fromkeys((*before, *often)))[:most]


def _first_key(group: Group) -> str:
    return next(iter(_most((), group.keys, 1)), "")


def _size(group: Group) -> int:
    return len(group.failures) + len(group.followers)
