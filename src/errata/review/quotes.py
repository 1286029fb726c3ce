"""Verdicts looked up again in a packet as it is now: which quotes are still there, and which verdicts are stale."""

from collections.abc import Sequence
from typing import NamedTuple

from errata.model import Packet, StoredRun, Verdict
from errata.model.output.review import QuoteCheckOutput
from errata.model.standing import may_be_stale
from errata.review.evidence import PlaceIndex
from errata.review.fields import LINE
from errata.review.redaction import packet_hash
from errata.text.clean import one_line


class LookedUpVerdict(NamedTuple):
    verdict: Verdict
    verified: int
    """How many of its quotes are in the packet."""
    stands: bool
    """All of them are, and so is the error that it goes by."""
    changed: bool
    """Its packet has changed since."""


def by_packet_form(verdicts: Sequence[Verdict]) -> dict[tuple[str, bool], dict[str, Verdict]]:
    """By how their packets were made; attempt → verdict."""
    forms: dict[tuple[str, bool], dict[str, Verdict]] = {}
    for verdict in verdicts:
        forms.setdefault((verdict.taxonomy, verdict.blind), {})[verdict.attempt] = verdict
    return forms


def look_up(packet: Packet, verdict: Verdict) -> LookedUpVerdict:
    places, changed = PlaceIndex(packet), packet_hash(packet) != verdict.packet_hash
    verified = sum(quote.place in places.holding(quote.quote) for quote in verdict.evidence)
    same = verified == len(verdict.evidence) and (not changed or _has_error(packet, places, verdict.error_line))
    return LookedUpVerdict(verdict, verified, same, changed)


def _has_error(packet: Packet, places: PlaceIndex, line: str) -> bool:
    """The quotes may still be there although the failure is now a different one."""
    stated = one_line(str(packet.facts.get("error_line") or ""), LINE)
    return line in ("", stated) or bool(places.holding(line))


def check_of(verdicts: Sequence[Verdict], looked_up: Sequence[LookedUpVerdict], stored: StoredRun) -> QuoteCheckOutput:
    stale = [one.verdict for one in looked_up if not one.stands and may_be_stale(one.verdict, stored)]
    return QuoteCheckOutput(
        quotes=sum(len(verdict.evidence) for verdict in verdicts),
        verified=sum(one.verified for one in looked_up),
        stale=tuple(verdict.attempt for verdict in stale),
        changed=sum(one.changed and one.stands for one in looked_up),
        without=sum(not verdict.evidence for verdict in verdicts),
    )
