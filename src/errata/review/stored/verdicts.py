"""Verdicts and refusals in the store: earlier verdicts on an attempt, storing new ones, and inheritance."""

from errata.model import Packet, Verdict
from errata.model.identity import split_attempt_id
from errata.model.verdict import Refusal, word_for
from errata.review.inherit import IdenticalFailures
from errata.review.material import RunContext
from errata.review.redaction import packet_hash
from errata.review.verdicts import AnswerInfo, KeptVerdict
from errata.store.database import Store
from errata.store.reviews import keep_refusal, keep_verdicts, refusals_on, verdicts_of


def verdicts_on(store: Store, attempt: str) -> list[Verdict]:
    """Of all reviewers, oldest first."""
    return verdicts_of(store, split_attempt_id(attempt).run, attempt=attempt)


def keep(verdict: Verdict, store: Store) -> KeptVerdict:
    """Committed when this returns."""
    replaced = [one.label for one in verdicts_on(store, verdict.attempt) if one.id == verdict.supersedes]
    if not keep_verdicts(store, [verdict]):
        return KeptVerdict(verdict=verdict, state="unchanged")
    return KeptVerdict(verdict=verdict, state="changed" if replaced else "new", old_label="".join(replaced))


def keep_refused(answer: str, reasons: tuple[str, ...], packet: Packet, by: AnswerInfo, store: Store) -> None:
    """Counted once: an answer out of the ledger that is refused again is no second refusal."""
    refusal = refusal_of(answer, reasons, packet, by)
    before = refusals_on(store, packet.attempt_id)
    if not any(one[:3] == refusal[:3] and one.answer == answer for one in before):
        keep_refusal(store, refusal)


def refusal_of(answer: str, reasons: tuple[str, ...], packet: Packet, by: AnswerInfo) -> Refusal:
    return Refusal(packet.attempt_id, word_for(by.reviewer), packet_hash(packet), reasons, answer, by.at)


def identical_failures(context: RunContext, store: Store) -> IdenticalFailures:
    reviewed = {verdict.attempt for verdict in verdicts_of(store, context.stored.run.id)}
    return IdenticalFailures(context.attributions.values(), reviewed)
