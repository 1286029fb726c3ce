"""Whether buckets are provisional, reviewed or final, told anew from the verdicts on their members."""

from collections.abc import Iterable

import msgspec

from errata.buckets.failing import Failing
from errata.buckets.standing import Standing, standing_of
from errata.model import Bucket, Member, Verdict
from errata.model.standing import standing
from errata.store.bucket_changes import Filing
from errata.store.buckets import Placement

NOTHING = Standing("provisional", ())


def restated(desk: Filing, buckets: Iterable[Bucket]) -> list[Bucket]:
    """Each as the verdicts have it now; nothing is kept by this."""
    known = {bucket.id: bucket for bucket in buckets}
    said = desk.verdicts(sorted(known))
    read = {one.bucket for one in desk.placements(sorted(said))}
    return [
        _restated(bucket, _standing(bucket, desk.members(bucket.id), said) if bucket.id in read else NOTHING)
        for bucket in known.values()
    ]


def _restated(bucket: Bucket, found: Standing) -> Bucket:
    return msgspec.structs.replace(bucket, status=found.status, supported_by=found.supported_by)


def _standing(bucket: Bucket, members: list[Placement], said: dict[str, list[Verdict]]) -> Standing:
    whole = msgspec.structs.replace(
        bucket, members=tuple(Member(attempt=one.attempt, role=one.role) for one in members), supported_by=()
    )
    return standing_of(whole, {one.attempt: read_as(one.attempt, said.get(one.attempt, ())) for one in members})


def read_as(attempt: str, verdicts: Iterable[Verdict]) -> Failing:
    """As far as it matters to the standing of its bucket: what was said of it."""
    stood = standing(verdicts)
    return Failing(attempt=attempt, verdict=stood.verdict if stood else None, final=stood.final if stood else False)
