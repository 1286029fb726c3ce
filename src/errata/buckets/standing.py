"""What makes a bucket reviewed or final: members that were read themselves, and whose verdicts support it."""

from collections.abc import Mapping
from typing import NamedTuple

from errata.buckets.failing import Failing
from errata.buckets.opinions import is_read, supports
from errata.model import Bucket
from errata.model.words import BucketStatus

ENOUGH = 3
"""Members that have to be read before a bucket is final; all of a smaller one."""


class Standing(NamedTuple):
    status: BucketStatus
    supported_by: tuple[str, ...]
    """The members that were read and carry it, by attempt id."""


def standing_of(bucket: Bucket, failures: Mapping[str, Failing]) -> Standing:
    """By attempt id; of members that are not among `failures`, what was known before stays true.

    A verdict that was inherited carries nothing. One that lacks its second reader makes a bucket reviewed, never final.
    """
    members = [member.attempt for member in bucket.members]
    known = {attempt for attempt in bucket.supported_by if attempt not in failures}
    carrying = {each for each in members if each in failures and _carries(failures[each], bucket)}
    supported_by = tuple(sorted(known.intersection(members) | {each for each in carrying if failures[each].final}))
    if members and len(supported_by) >= min(ENOUGH, len(members)):
        return Standing("final", supported_by)
    return Standing("reviewed" if carrying or supported_by else "provisional", supported_by)


def _carries(failing: Failing, bucket: Bucket) -> bool:
    return is_read(failing) and supports(failing, bucket)
