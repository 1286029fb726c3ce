"""Whether what verdicts quote still stands where they say, in the failures as they are stored now."""

from collections.abc import Iterator, Sequence

import msgspec

from errata.errors import SettingsError
from errata.model import Packet, Question, StoredRun, Verdict
from errata.pipeline.packeting import Packing, packets_of, question_for
from errata.review.budget import BUDGET, UNLIMITED
from errata.review.hashing import packet_hash
from errata.review.question import OWNERS
from errata.review.redaction import redacted
from errata.review.shelf import Shelf
from errata.store.database import Store


class Found(msgspec.Struct, frozen=True, kw_only=True):
    quotes: int
    found: int
    stale: tuple[str, ...] = ()
    """Attempts whose verdict quotes what is there no more: it has to be read again."""
    changed: int = 0
    """Verdicts on a packet that says more or less by now; what they quote is still there."""
    without: int = 0
    """Verdicts that quote nothing; only people may."""


def quotes_found(stored: StoredRun, store: Store, verdicts: Sequence[Verdict]) -> Found:
    looked_up = [one for some in _alike(verdicts).values() for one in _looked_up(stored, store, some)]
    return Found(
        quotes=sum(len(verdict.evidence) for verdict in verdicts),
        found=sum(count for _, count, _ in looked_up),
        stale=tuple(one.attempt for one, count, _ in looked_up if count < len(one.evidence)),
        changed=sum(changed and count == len(one.evidence) for one, count, changed in looked_up),
        without=sum(not verdict.evidence for verdict in verdicts),
    )


def _alike(verdicts: Sequence[Verdict]) -> dict[tuple[str, bool], dict[str, Verdict]]:
    """By how their packets were made; attempt → verdict."""
    found: dict[tuple[str, bool], dict[str, Verdict]] = {}
    for one in verdicts:
        found.setdefault((one.taxonomy, one.blind), {})[one.attempt] = one
    return found


def _looked_up(stored: StoredRun, store: Store, verdicts: dict[str, Verdict]) -> Iterator[tuple[Verdict, int, bool]]:
    """How many quotes of each are there, and whether its packet has changed."""
    missing = {}
    for packet in _packets(stored, store, verdicts, BUDGET):
        verdict = verdicts[packet.attempt_id]
        count, changed = _standing_in(packet, verdict), packet_hash(packet) != verdict.packet_hash
        if count < len(verdict.evidence):
            missing[packet.attempt_id] = verdict
        else:
            yield verdict, count, changed
    # whoever could read more than the packet may quote more than the packet
    for packet in _packets(stored, store, missing, UNLIMITED) if missing else ():
        yield missing[packet.attempt_id], _standing_in(packet, missing[packet.attempt_id]), True


def _packets(stored: StoredRun, store: Store, verdicts: dict[str, Verdict], budget: int) -> Iterator[Packet]:
    one = next(iter(verdicts.values()))
    packing = Packing(question=_question(stored, one.taxonomy), blind=one.blind, budget=budget)
    return map(redacted, packets_of(stored, store, attempts=frozenset(verdicts), packing=packing))


def _question(stored: StoredRun, taxonomy: str) -> Question:
    try:
        return question_for(stored.run.source.name, taxonomy)
    except SettingsError:  # words that nobody uses any more
        return OWNERS


def _standing_in(packet: Packet, verdict: Verdict) -> int:
    shelf = Shelf(packet)
    return sum(quote.place in shelf.holding(quote.quote) for quote in verdict.evidence)
