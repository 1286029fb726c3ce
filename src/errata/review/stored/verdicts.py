"""Verdicts and refusals in the store: earlier verdicts on an attempt, storing new ones, and inheritance."""

from collections.abc import Collection, Sequence
from datetime import datetime

import msgspec

from errata.errors import ConflictError, NotFoundError
from errata.model import Packet, Reviewer, Verdict
from errata.model.identity import fingerprint, split_attempt_id
from errata.model.standing import is_same, standing, without_withdrawn
from errata.model.times import to_microseconds
from errata.model.verdict import Refusal, word_for
from errata.review.inherit import MACHINERY, IdenticalFailures
from errata.review.material import RunContext
from errata.review.redaction import packet_hash
from errata.review.verdicts import AnswerInfo, KeptVerdict
from errata.store.database import Store
from errata.store.reviews import keep_refusal, keep_verdicts, refusals_on, remove_verdicts, verdicts_of


def verdicts_on(store: Store, attempt: str, *, withdrawn: bool = False) -> list[Verdict]:
    """Of all reviewers, oldest first. Whoever makes a new version needs those that were withdrawn, too."""
    return verdicts_of(store, split_attempt_id(attempt).run, attempt=attempt, withdrawn=withdrawn)


def keep(verdict: Verdict, store: Store, *, seen: Collection[str] | None = None) -> KeptVerdict:
    """Committed when this returns. `seen`: the verdicts on the attempt that its reviewer knew."""
    replaced = [one.label for one in verdicts_on(store, verdict.attempt) if one.id == verdict.supersedes]
    if not keep_verdicts(store, [verdict], seen=seen):
        return KeptVerdict(verdict=verdict, state="unchanged")
    take_back_copies(verdict.attempt, store)
    return KeptVerdict(verdict=verdict, state="changed" if replaced else "new", old_label="".join(replaced))


def take_back_copies(attempt: str, store: Store) -> None:
    """Other failures inherit a verdict until another replaces it."""
    verdicts = verdicts_on(store, attempt, withdrawn=True)
    stood = standing(without_withdrawn(verdicts))
    passed_on = [one.id for one in verdicts if one.inherited_from is None and one.owner in MACHINERY]
    replaced = {each for each in passed_on if stood is None or each != stood.verdict.id}
    if replaced:
        others = verdicts_of(store, split_attempt_id(attempt).run)
        remove_verdicts(store, [one.id for one in others if one.inherited_from in replaced])


def keep_refused(answer: str, reasons: tuple[str, ...], packet: Packet, by: AnswerInfo, store: Store) -> None:
    """Counted once: an answer out of the ledger that is refused again is not a second refusal."""
    refusal = refusal_of(answer, reasons, packet, by)
    before = refusals_on(store, packet.attempt_id)
    if not any(one[:3] == refusal[:3] and one.answer == answer for one in before):
        keep_refusal(store, refusal)


def refusal_of(answer: str, reasons: tuple[str, ...], packet: Packet, by: AnswerInfo) -> Refusal:
    return Refusal(packet.attempt_id, word_for(by.reviewer), packet_hash(packet), reasons, answer, by.at)


def identical_failures(context: RunContext, store: Store) -> IdenticalFailures:
    reviewed = {verdict.attempt for verdict in verdicts_of(store, context.stored.run.id)}
    return IdenticalFailures(context.attributions.values(), reviewed)


# --- undoing a verdict: a new version that repeats the one before or takes it back. Nothing is deleted


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
    return verdict.reviewer.kind == reviewer.kind and is_same(verdict.reviewer, reviewer)


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
