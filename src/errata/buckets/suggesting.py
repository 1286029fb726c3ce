"""Failures → suggested buckets: the known ones recognised, the others grouped, named and given their standing."""

from collections.abc import Iterable, Sequence

from errata.buckets.failing import Failing
from errata.model import Bucket


def suggest(failures: Iterable[Failing], known: Sequence[Bucket] = ()) -> list[Bucket]:
    """Every known bucket, with what was found to belong to it, then the new ones; the largest first in each.

    Members of `known` stay where they are, and its ids, slugs and titles are kept: pass only those members that are
    not to be thought over again. Each failure ends up in exactly one bucket, alone in it where nothing is like it.
    The order of the failures does not matter.
    """
    raise NotImplementedError
