"""Whether what verdicts quote still stands where they say, in the failures as they are stored now."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from errata.errors import SettingsError
from errata.model import Packet, Question, StoredRun, Verdict
from errata.review.budget import BUDGET, UNLIMITED
from errata.review.evidence import PlaceIndex
from errata.review.fields import LINE
from errata.review.labels import OWNERS
from errata.review.redaction import packet_hash, redacted
from errata.review.stored.packets import Packing, packets_of, question_for
from errata.runs.standings import may_be_stale
from errata.store.database import Store
from errata.text.clean import one_line


class QuoteCheck(msgspec.Struct, frozen=True, kw_only=True):
    quotes: int
    found: int
    stale: tuple[str, ...] = ()
    """Attempts that were imported anew with another error, or without what their verdict quotes."""
    changed: int = 0
    """Verdicts on a packet that says more or less by now; what they quote is still there."""
    without: int = 0
    """Verdicts that quote nothing; only people may."""


def quotes_found(stored: StoredRun, store: Store, verdicts: Sequence[Verdict]) -> QuoteCheck:
    looked_up = [one for some in _alike(verdicts).values() for one in _looked_up(stored, store, some)]
    stale = [one.verdict for one in looked_up if not one.stands and may_be_stale(one.verdict, stored)]
    return QuoteCheck(
        quotes=sum(len(verdict.evidence) for verdict in verdicts),
        found=sum(one.found for one in looked_up),
        stale=tuple(verdict.attempt for verdict in stale),
        changed=sum(one.changed and one.stands for one in looked_up),
        without=sum(not verdict.evidence for verdict in verdicts),
    )


def is_stale(verdict: Verdict, stored: StoredRun, store: Store) -> bool:
    read = verdict.inherited_from is None
    return read and may_be_stale(verdict, stored) and bool(quotes_found(stored, store, [verdict]).stale)


class _LookedUp(NamedTuple):
    verdict: Verdict
    found: int
    """How many of its quotes are there."""
    stands: bool
    """All of them are, and so is the error that it goes by."""
    changed: bool
    """Its packet says more or less by now."""


def _alike(verdicts: Sequence[Verdict]) -> dict[tuple[str, bool], dict[str, Verdict]]:
    """By how their packets were made; attempt → verdict."""
    found: dict[tuple[str, bool], dict[str, Verdict]] = {}
    for one in verdicts:
        found.setdefault((one.taxonomy, one.blind), {})[one.attempt] = one
    return found


def _looked_up(stored: StoredRun, store: Store, verdicts: dict[str, Verdict]) -> Iterator[_LookedUp]:
    missing = {}
    for packet in _packets(stored, store, verdicts, BUDGET):
        one = _look_up(packet, verdicts[packet.attempt_id])
        if one.stands:
            yield one
        else:
            missing[packet.attempt_id] = one.verdict
    # whoever could read more than the packet may quote more than the packet
    for packet in _packets(stored, store, missing, UNLIMITED) if missing else ():
        yield _look_up(packet, missing[packet.attempt_id])


def _packets(stored: StoredRun, store: Store, verdicts: dict[str, Verdict], budget: int) -> Iterator[Packet]:
    one = next(iter(verdicts.values()))
    packing = Packing(question=_question(stored, one.taxonomy), blind=one.blind, budget=budget)
    return map(redacted, packets_of(stored, store, attempts=frozenset(verdicts), packing=packing))


def _question(stored: StoredRun, taxonomy: str) -> Question:
    try:
        return question_for(stored.run.source.name, taxonomy)
    except SettingsError:  # words that nobody uses any more
        return OWNERS


def _look_up(packet: Packet, verdict: Verdict) -> _LookedUp:
    shelf, changed = PlaceIndex(packet), packet_hash(packet) != verdict.packet_hash
    found = sum(quote.place in shelf.holding(quote.quote) for quote in verdict.evidence)
    same = found == len(verdict.evidence) and (not changed or _has_error(packet, shelf, verdict.error_line))
    return _LookedUp(verdict, found, same, changed)


def _has_error(packet: Packet, shelf: PlaceIndex, line: str) -> bool:
    """What was quoted may still be there where the failure is another one by now."""
    stated = one_line(str(packet.facts.get("error_line") or ""), LINE)
    return line in ("", stated) or bool(shelf.holding(line))
