"""Failures → suggested buckets: the known ones recognised, the others grouped, named and given their status."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from errata.buckets.failure import FailureToGroup
from errata.buckets.grouping import FailureGroup, group_failures
from errata.buckets.naming import Names, description_of
from errata.buckets.opinions import agrees, is_opinion, is_owner, is_read, opinion_of, slug_of, support_of
from errata.buckets.symptoms import pair_key
from errata.model import Bucket
from errata.model.identity import fingerprint
from errata.text.outgoing import line_for_user

KEYS, WORDS = 500, 20
"""What a bucket remembers of how its members look."""
NEARLY_ALL = 0.9
USUAL, CHANCE = 0.75, 0.25
"""A parameter that is also common among other failures is not distinctive, nor one that few members share by chance."""
SEVERAL = 2
LONGEST_PARAMETER = 80


class Suggestion(msgspec.Struct, frozen=True):
    buckets: list[Bucket]
    places: dict[str, str]
    """Attempt → the id of its bucket."""


def suggest(
    failures: Iterable[FailureToGroup],
    known: Sequence[Bucket] = (),
    fixed: Mapping[str, str] | None = None,
    in_other_runs: Collection[str] = (),
) -> Suggestion:
    """Every known bucket, in its order, with what was found to belong to it; then the new ones, the largest first.

    `fixed` names the attempts that stay in a known bucket, by its id; ids, slugs and titles of known buckets are kept.
    `in_other_runs` are the ids of known buckets that have members beside these failures.
    Each failure ends up in exactly one bucket, alone in it where nothing is like it. The order of the failures does
    not matter.
    """
    reviews = {failure.attempt: failure for failure in sorted(failures, key=lambda failure: failure.attempt)}
    given, fixed = with_common_answers(reviews.values(), known), fixed or {}
    agreeing: dict[str, str] = {}
    if any(failure.verdict for failure in given):
        known, agreeing = _formed_by_rules(given, known, fixed, in_other_runs)
    groups = _gathered(given, known, fixed, agreeing)
    usual, names, ids = UsualParameters(given), Names(known), _Ids(known)
    groups[len(known) :] = sorted(
        groups[len(known) :], key=lambda group: (-_size(group), _first_key(group), group.owner)
    )
    places = dict(fixed)
    members: dict[str, list[str]] = {}
    for attempt, bucket_id in fixed.items():
        members.setdefault(bucket_id, []).append(attempt)
    followers = {attempt for attempt, failure in reviews.items() if failure.follows}
    buckets = []
    for group in groups:
        bucket = group.bucket or _bucket_for(group, [given[at] for at in group.failures], names, ids)
        stay = members.get(bucket.id, [])
        bucket = _described(bucket, group, given, usual, is_complete=all(each in reviews for each in stay))
        attempts = {given[at].attempt for at in (*group.failures, *group.followers)}
        support = support_of(bucket, attempts.union(stay), reviews, followers)
        buckets.append(msgspec.structs.replace(bucket, status=support.status, supported_by=support.supported_by))
        places |= dict.fromkeys(sorted(attempts), bucket.id)
    return Suggestion(buckets, places)


def with_common_answers(failures: Iterable[FailureToGroup], known: Sequence[Bucket]) -> list[FailureToGroup]:
    """Marked where several of them, or a known bucket, have the same answer in place of the same expected one."""
    given = list(failures)
    often = Counter((one.suite, one.answer.pair) for one in given if one.answer)
    keys = {(bucket.suite, key) for bucket in known for key in bucket.keys if ":answered:" in key}

    def is_common(failure: FailureToGroup) -> bool:
        pair = failure.answer.pair if failure.answer else ""
        return bool(pair) and (often[failure.suite, pair] >= SEVERAL or (failure.suite, pair_key(failure)) in keys)

    return [msgspec.structs.replace(each, is_common=True) if is_common(each) else each for each in given]


def _formed_by_rules(
    given: Sequence[FailureToGroup],
    known: Sequence[Bucket],
    fixed: Mapping[str, str],
    in_other_runs: Collection[str],
) -> tuple[list[Bucket], dict[str, str]]:
    """The known buckets and those that rules form, whatever was reviewed; and the attempts whose verdicts agree.

    Of the buckets that rules form those that hold an unreviewed failure, that a verdict names, or that one agrees with.
    """
    unread = [msgspec.structs.replace(one, verdict=None, owner=one.rule_owner or one.owner) for one in given]
    formed = suggest(unread, known, fixed)
    buckets, sizes = {bucket.id: bucket for bucket in formed.buckets}, Counter(formed.places.values())
    # a sentence that reviewers gave a bucket of their own names it
    by_verdicts = [bucket for bucket in known if any(map(is_opinion, bucket.keys[:1]))]
    named_by_sentence = {(bucket.suite, key) for bucket in by_verdicts for key in bucket.keys}
    agreeing = {
        failure.attempt: place
        for failure in given
        if failure.attempt not in fixed
        and (sizes[place := formed.places[failure.attempt]] > 1 or place in in_other_runs)
        and agrees(failure, buckets[place])
        and (
            (failure.suite, opinion_of(failure)) not in named_by_sentence or opinion_of(failure) in buckets[place].keys
        )
    }
    used = {bucket.id for bucket in known} | {formed.places[one.attempt] for one in given if one.verdict is None}
    named = {(one.suite, slug_of(one.verdict.bucket)): one for one in given if one.verdict and one.verdict.bucket}
    used |= {
        bucket.id
        for bucket in formed.buckets
        if (named_by := named.get((bucket.suite, bucket.slug))) and is_owner(named_by.owner, bucket)
    }
    used.update(agreeing.values())
    return [bucket for bucket in formed.buckets if bucket.id in used], agreeing


def _gathered(
    given: Sequence[FailureToGroup], known: Sequence[Bucket], fixed: Mapping[str, str], agreeing: Mapping[str, str]
) -> list[FailureGroup]:
    position = {failure.attempt: at for at, failure in enumerate(given)}
    roots = roots_of({failure.attempt: failure for failure in given}, fixed.keys())
    free = [at for at, one in enumerate(given) if one.attempt not in fixed and one.attempt not in roots]
    by_id = {bucket.id: place for place, bucket in enumerate(known)}
    staying = {position[attempt]: by_id[bucket] for attempt, bucket in agreeing.items() if attempt not in roots}
    groups = group_failures(given, free, known, Counter(fixed.values()), staying)
    places = {given[at].attempt: place for place, group in enumerate(groups) for at in group.failures}
    places |= {attempt: by_id[bucket] for attempt, bucket in fixed.items()}
    for attempt in fixed:
        if attempt in position:
            groups[places[attempt]].failures.append(position[attempt])
    for attempt, root in roots.items():
        groups[places[root]].followers.append(position[attempt])
    return groups


def _described(
    bucket: Bucket, group: FailureGroup, given: Sequence[FailureToGroup], usual: "UsualParameters", *, is_complete: bool
) -> Bucket:
    """With what its members share and look like.

    Where all members are at hand, their parameters are compared again; else known ones stay, unless the new members
    contradict them.
    """
    members = [given[at] for at in group.failures]
    if is_complete:
        shared = usual.shared(group.suite, members)
    else:
        shared = {name: value for name, value in bucket.parameters.items() if is_shared(name, value, members)}
    return msgspec.structs.replace(
        bucket,
        parameters={"owner": group.owner} | shared,
        keys=_most(bucket.keys, group.keys, KEYS),
        words=_most(bucket.words, group.shapes, WORDS),
    )


def _bucket_for(group: FailureGroup, members: Sequence[FailureToGroup], names: Names, ids: "_Ids") -> Bucket:
    name = names.of(group, members)
    description = description_of(members)
    if description.rstrip("…") in name.title:
        description = ""
    return Bucket(
        id=ids.of(group),
        suite=group.suite,
        slug=name.slug,
        title=name.title,
        description=description,
        named_by="reviewer" if any(map(is_read, members)) else "rule",
    )


class _Ids:
    """Made of the suite, the owner and the first key, and none twice."""

    def __init__(self, known: Sequence[Bucket]) -> None:
        self._taken = {bucket.id for bucket in known}

    def of(self, group: FailureGroup) -> str:
        number, made = 0, ""
        while not made or made in self._taken:
            made = fingerprint(group.suite, group.owner, _first_key(group), *([number] if number else []))
            number += 1
        self._taken.add(made)
        return made


def _most(before: Sequence[str], counted: Counter[str], most: int) -> tuple[str, ...]:
    """Keys of the bucket stay; then those of reviewers, then the most frequent."""
    often = sorted(counted, key=lambda each: (not is_opinion(each), -counted[each], each))
    return tuple(dict.fromkeys((*before, *often)))[:most]


def _first_key(group: FailureGroup) -> str:
    return next(iter(_most((), group.keys, 1)), "")


def _size(group: FailureGroup) -> int:
    return len(group.failures) + len(group.followers)


# knock-on failures


def roots_of(failures: Mapping[str, FailureToGroup], known: Collection[str]) -> dict[str, str]:
    """Follower → the failure at the beginning of its chain, which is among `failures` or `known`.

    Not a follower: one whose beginning nobody knows, one in a circle, and one that was read and given a cause itself.
    """
    roots = {}
    for attempt, failure in failures.items():
        if failure.follows and attempt not in known and not _has_its_own(failure):
            *_, last = _chain(attempt, failures, known)
            if last != attempt and (last in failures or last in known):
                roots[attempt] = last
    return roots


def _chain(attempt: str, failures: Mapping[str, FailureToGroup], known: Collection[str]) -> Iterator[str]:
    passed = set[str]()
    first = attempt
    while attempt not in passed:
        yield attempt
        passed.add(attempt)
        failure = failures.get(attempt)
        if failure is None or not failure.follows or (attempt != first and (attempt in known or _has_its_own(failure))):
            return
        attempt = failure.follows
    yield first  # a circle has no beginning


def _has_its_own(failure: FailureToGroup) -> bool:
    return is_read(failure) and bool(failure.verdict and failure.verdict.bucket)


# symptoms hide causes: what the members of a bucket share besides how they fail


class UsualParameters:
    """How often each parameter has each value in a suite, to see what is unusual."""

    def __init__(self, failures: Iterable[FailureToGroup]) -> None:
        self._usual: dict[str, Counter[tuple[str, str]]] = {}
        self._totals: Counter[str] = Counter()
        by_suite: dict[str, list[FailureToGroup]] = {}
        for failure in failures:
            by_suite.setdefault(failure.suite, []).append(failure)
        for suite, those in by_suite.items():
            self._totals[suite], self._usual[suite] = len(those), count_parameters(those)

    def add(self, suite: str, parameters: Mapping[str, str], often: int) -> None:
        self._totals[suite] += often
        counted = self._usual.setdefault(suite, Counter())
        for pair in parameters.items():
            counted[pair] += often

    def shared(self, suite: str, members: Sequence[FailureToGroup]) -> dict[str, str]:
        return self.unusual(suite, count_parameters(members), len(members))

    def unusual(self, suite: str, counted: Counter[tuple[str, str]], size: int) -> dict[str, str]:
        """Of two members or more, and only where the suite has other failures to compare with."""
        others = self._totals[suite] - size
        if size < SEVERAL or others <= 0:
            return {}
        unusual_values = {}
        for (name, value), often in sorted(counted.items()):
            outside = (self._usual[suite][name, value] - often) / others
            if often / size >= NEARLY_ALL and outside <= USUAL and outside**size <= CHANCE:
                unusual_values[name] = _cleaned(value)
        return unusual_values


def count_parameters(failures: Iterable[FailureToGroup]) -> Counter[tuple[str, str]]:
    """Failures of a run share the record of equal parameters: each is counted once, with how many have it."""
    often: Counter[int] = Counter()
    known: dict[int, Mapping[str, str]] = {}
    for failure in failures:
        parameters = failure.parameters
        often[id(parameters)] += 1
        known[id(parameters)] = parameters
    counted: Counter[tuple[str, str]] = Counter()
    for each, parameters in known.items():
        for pair in parameters.items():
            counted[pair] += often[each]
    return counted


def is_shared(name: str, value: str, members: Sequence[FailureToGroup]) -> bool:
    """Whether nearly all have it; nobody contradicts where there are none."""
    return sum(_cleaned(one.parameters.get(name, "")) == value for one in members) >= NEARLY_ALL * len(members)


def _cleaned(value: str) -> str:
    return line_for_user(value, LONGEST_PARAMETER)


class EqualMembers(NamedTuple):
    """Members of a bucket that have the same parameters, and how many they are."""

    bucket: str
    parameters: Mapping[str, str]
    follows: bool
    often: int


def shared_parameters(suite: str, members: Iterable[EqualMembers], buckets: Iterable[Bucket]) -> list[Bucket]:
    """The buckets of a suite whose shared parameters change, given the members of all its runs.

    Followers are compared with, but are not members to go by.
    """
    usual = UsualParameters(())
    sizes: Counter[str] = Counter()
    counted: dict[str, Counter[tuple[str, str]]] = {}
    for bucket, parameters, follows, often in members:
        usual.add(suite, parameters, often)
        counts = counted.setdefault(bucket, Counter())
        if not follows:
            sizes[bucket] += often
            for pair in parameters.items():
                counts[pair] += often
    changed = []
    for known in buckets:
        if known.id in counted:
            owner = {name: value for name, value in known.parameters.items() if name == "owner"}
            parameters = owner | usual.unusual(known.suite, counted[known.id], sizes[known.id])
            if parameters != known.parameters:
                changed.append(msgspec.structs.replace(known, parameters=parameters))
    return changed
