"""Whether the quotes of verdicts are still in the places they name, in the failures as stored now."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from errata.errors import SettingsError
from errata.model import Packet, Question, Verdict
from errata.review.budget import BUDGET, UNLIMITED
from errata.review.labels import OWNERS
from errata.review.material import RunContext
from errata.review.packet import PacketOptions
from errata.review.quotes import LookedUpVerdict, QuoteCheck, by_packet_form, check_of, look_up
from errata.review.redaction import redacted
from errata.review.stored.packets import packets_of
from errata.store.database import Store


def quotes_found(context: RunContext, store: Store, verdicts: Sequence[Verdict]) -> QuoteCheck:
    forms = by_packet_form(verdicts).values()
    return check_of(verdicts, [one for same in forms for one in _looked_up(context, store, same)], context.stored)


def _looked_up(context: RunContext, store: Store, verdicts: Mapping[str, Verdict]) -> Iterator[LookedUpVerdict]:
    missing = {}
    for packet in _packets(context, store, verdicts, BUDGET):
        result = look_up(packet, verdicts[packet.attempt_id])
        if result.stands:
            yield result
        else:
            missing[packet.attempt_id] = result.verdict
    # whoever could read more than the packet may quote more than the packet
    for packet in _packets(context, store, missing, UNLIMITED) if missing else ():
        yield look_up(packet, missing[packet.attempt_id])


def _packets(context: RunContext, store: Store, verdicts: Mapping[str, Verdict], budget: int) -> Iterator[Packet]:
    first = next(iter(verdicts.values()))
    options = PacketOptions(question=_question(context, first.taxonomy), blind=first.blind, budget=budget)
    return map(redacted, packets_of(context, store, attempts=frozenset(verdicts), options=options))


def _question(context: RunContext, taxonomy: str) -> Question:
    try:
        return context.question(taxonomy)
    except SettingsError:  # a taxonomy that nobody uses any more
        return msgspec.structs.replace(OWNERS, taxonomy=taxonomy)
