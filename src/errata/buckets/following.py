"""Who only follows from whom: a follower goes where the first failure of its chain goes."""

from collections.abc import Collection, Iterator, Mapping

from errata.buckets.failing import Failing
from errata.buckets.opinions import is_read


def roots_of(failures: Mapping[str, Failing], known: Collection[str]) -> dict[str, str]:
    """Follower → the failure at the beginning of its chain, which is among `failures` or `known`.

    Not a follower: one whose beginning nobody knows, one in a circle, and one that was read and given a cause itself.
    """
    found = {}
    for attempt, failing in failures.items():
        if failing.follows and attempt not in known and not _has_its_own(failing):
            *_, last = _chain(attempt, failures, known)
            if last != attempt and (last in failures or last in known):
                found[attempt] = last
    return found


def _chain(attempt: str, failures: Mapping[str, Failing], known: Collection[str]) -> Iterator[str]:
    passed = set[str]()
    first = attempt
    while attempt not in passed:
        yield attempt
        passed.add(attempt)
        failing = failures.get(attempt)
        if failing is None or not failing.follows or (attempt != first and (attempt in known or _has_its_own(failing))):
            return
        attempt = failing.follows
    yield first  # a circle has no beginning


def _has_its_own(failing: Failing) -> bool:
    return is_read(failing) and bool(failing.verdict and failing.verdict.bucket)
