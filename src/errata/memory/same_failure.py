"""Whether two failures of a case are the same failure: by the checks that failed and by their failure keys."""

from collections.abc import Iterable, Sequence

import msgspec

from errata.memory.reading.words import canonical_step
from errata.model import FailureKey
from errata.text.lazy_regex import lazy_regex

ALIKE = 0.6
"""The share of words that two keys need in common: the same rule, but another name in the message."""
_WORD = lazy_regex(r"[^\W\d_]{3,}")


class FailureSign(msgspec.Struct, frozen=True, kw_only=True):
    """What failed in one attempt, or what failed by a report; empty where that is unknown."""

    checks: frozenset[str] = frozenset()
    key: str = ""


def sign_of_key(key: FailureKey) -> FailureSign:
    """The coarse part of a key names the checks."""
    checks = (canonical_step(name) or name for name in key.coarse.split("+"))
    return FailureSign(checks=frozenset(filter(None, checks)), key=key.exact.removeprefix(f"{key.coarse}:"))


def sign_of_check(check: str) -> FailureSign:
    name = canonical_step(check) or check.strip()
    return FailureSign(checks=frozenset((name,)) if name else frozenset())


def recurs(now: Iterable[FailureSign], before: Iterable[FailureSign]) -> bool:
    """Whether any of the failures came before; what is unknown on one side does not differ."""
    here, there = list(now), list(before)
    return not here or not there or any(is_same(one, other) for one in here for other in there)


def same_signs(now: Sequence[FailureSign], before: Sequence[FailureSign]) -> bool | None:
    """Whether any of the failures came before; none where one side is unknown."""
    return recurs(now, before) if now and before else None


def same_check(now: Sequence[FailureSign], check: str) -> bool | None:
    """The same by the check that a report names; none where it does not name a check of the harness."""
    step, checks = canonical_step(check), {name for sign in now for name in sign.checks}
    if not step or not checks or not all(map(canonical_step, checks)):
        return None
    return step in checks


def is_same(left: FailureSign, right: FailureSign) -> bool:
    if left.checks and right.checks and left.checks.isdisjoint(right.checks):
        return False
    return not left.key or not right.key or same_key(left.key, right.key)


def same_key(left: str, right: str) -> bool:
    here, there = set(_WORD.findall(left.casefold())), set(_WORD.findall(right.casefold()))
    if left == right or not here or not there:
        return left == right
    return len(here & there) / min(len(here), len(there)) >= ALIKE
