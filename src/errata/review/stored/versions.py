"""Undoing a verdict: a new version that repeats the one before or takes it back. Nothing is deleted."""

from collections.abc import Sequence
from datetime import datetime

import msgspec

from errata.errors import ConflictError, NotFoundError
from errata.model import Reviewer, Verdict
from errata.model.identity import fingerprint
from errata.model.standing import name_of
from errata.model.times import to_microseconds
from errata.review.material import RunContext
from errata.review.stored.verdicts import identical_failures, keep, take_back_copies, verdicts_on
from errata.store.database import Store
from errata.store.reviews import keep_verdicts


def undo_verdict(
    verdict_id: str, attempt: str, context: RunContext, store: Store, reviewer: Reviewer, *, now: datetime
) -> Verdict:
    """The version that is in force after it: one with the words of the version before, or a withdrawal.

    Only the newest verdict of the same reviewer can be undone. To undo it twice changes nothing.
    """
    every = verdicts_on(store, attempt, withdrawn=True)
    own = [one for one in every if one.inherited_from is None and _is_by(one, reviewer)]
    undone = next((one for one in own if one.id == verdict_id), None)
    if undone is None:
        hint = "only verdicts of your own can be undone"
        raise NotFoundError(f"`{reviewer.name}` has no verdict `{verdict_id}` on this failure", hint=hint)
    later = next((one for one in own if one.supersedes == undone.id), None)
    made = _version_before(undone, own, at=to_microseconds(now))
    if later is not None:
        if later.id == made.id:
            return later
        raise ConflictError("You have saved a later verdict on this failure", hint="undo that one first")
    keep(made, store)
    if made.withdrawn:
        take_back_copies(attempt, store)
    else:
        keep_verdicts(store, identical_failures(context, store).inherit(made, made.at or ""))
    return made


def _is_by(verdict: Verdict, reviewer: Reviewer) -> bool:
    return verdict.reviewer.kind == reviewer.kind and name_of(verdict.reviewer) == name_of(reviewer)


def _version_before(undone: Verdict, own: Sequence[Verdict], *, at: str) -> Verdict:
    """What was in force before the verdict whose words it has: undoing a repetition goes on from its original."""
    by_id = {one.id: one for one in own}
    original = undone
    while original.restores in by_id:
        original = by_id[original.restores]
    before = by_id.get(original.supersedes or "")
    if before is None or before.withdrawn:
        fresh = fingerprint("withdrawn", undone.id)
        return msgspec.structs.replace(
            undone, id=fresh, withdrawn=True, supersedes=undone.id, restores=None, request="", usage=None, at=at
        )
    fresh = fingerprint("restored", before.id, undone.id)
    return msgspec.structs.replace(
        before, id=fresh, supersedes=undone.id, restores=before.id, request="", usage=None, at=at
    )
