"""Buckets: one with its counts, its members and its history."""

from typing import Any

from errata.buckets.history import HistoryEntry
from errata.model import BucketCounts
from errata.model.output.buckets import (
    BucketDetailsOutput,
    BucketEventOutput,
    BucketMemberOutput,
    BucketOutput,
    MemberVerdictOutput,
    MovedFailureOutput,
)
from errata.model.run import case_name
from errata.verbs.buckets import BucketDetails, BucketMember


def bucket_output(counts: BucketCounts) -> BucketOutput:
    return BucketOutput(**_fields(counts))


def details_output(shown: BucketDetails) -> BucketDetailsOutput:
    members, history = tuple(map(_member_output, shown.members)), tuple(map(event_output, shown.history))
    return BucketDetailsOutput(**_fields(shown.counts), members=members, history=history)


def _fields(counts: BucketCounts) -> dict[str, Any]:
    """The fields of a `BucketOutput`."""
    bucket = counts.bucket
    return {
        "id": bucket.id,
        "slug": bucket.slug,
        "title": bucket.title,
        "description": bucket.description,
        "suite": bucket.suite,
        "status": bucket.status,
        "rows": counts.rows,
        "mistakes": counts.mistakes,
        "followers": counts.followers,
        "elsewhere": counts.elsewhere,
        "cases": counts.cases,
        "reviewed": counts.read,
        "inherited": counts.inherited,
        "assigned": counts.assigned,
        "supported_by": bucket.supported_by,
        "runs": counts.runs,
        "models": counts.models,
        "owner": counts.owner,
        "owners": counts.owners,
        "parameters": {name: value for name, value in bucket.parameters.items() if name != "owner"},
        "first_seen": counts.first_seen,
        "last_seen": counts.last_seen,
    }


def _member_output(member: BucketMember) -> BucketMemberOutput:
    verdict = member.standing.verdict if member.standing else None
    return BucketMemberOutput(
        run=member.run.native_id,
        run_id=member.run.id,
        model=member.run.subject.model,
        case=case_name(member.run, member.placement.case),
        attempt_id=member.placement.attempt,
        role=member.placement.role,
        owner=member.placement.owner,
        follows=member.placement.follows,
        placed_by=member.placement.author or None,
        supports=member.supports,
        verdict=MemberVerdictOutput(id=verdict.id, label=verdict.label, cause=verdict.cause, bucket=verdict.bucket)
        if verdict
        else None,
        quote=member.quote,
    )


def event_output(entry: HistoryEntry) -> BucketEventOutput:
    event = entry.event
    moves = (
        MovedFailureOutput(attempt_id=attempt, old=old or None, new=new or None) for attempt, old, new in entry.moves
    )
    return BucketEventOutput(
        number=event.number,
        at=event.at,
        by=event.by or None,
        what=event.what,
        undone=event.undone,
        suite=event.suite,
        bucket=entry.bucket,
        bucket_id=event.bucket,
        before=entry.before,
        after=entry.after,
        undoes=event.change.undoes,
        confirmed=len(event.change.moves) if event.what == "confirm" else 0,
        failures=tuple(moves),
    )
