"""The queue of a run and the state of its review, read from the store."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from errata.errors import SettingsError
from errata.model import Packet, Question, Reviewer, StoredRun, Verdict
from errata.model.bucket import RunBuckets
from errata.model.filters import Filters
from errata.model.output.review import QuoteCheckOutput
from errata.model.standing import may_be_stale
from errata.review.evidence import PlaceIndex
from errata.review.fields import LINE
from errata.review.labels import OWNERS
from errata.review.material import RunContext
from errata.review.packet import PacketOptions
from errata.review.packet_size import BUDGET, UNLIMITED
from errata.review.queue import Queue, QueueKind, build_queue, by_attempt, perhaps_returned
from errata.review.redaction import packet_hash, redacted
from errata.review.status import Status, build_status
from errata.review.stored.packets import packets_of, wanted_failures
from errata.store.database import Store
from errata.store.ledger import OPEN, batches_of, calls_of
from errata.store.reviews import leases_of, refusals_of, verdicts_of
from errata.store.thinning import thinned_attempts
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


def queue_of(context: RunContext, store: Store, reviewer: Reviewer, filters: Filters, wanted: QueueKind) -> Queue:
    failures = list(wanted_failures(context, store, filters))
    verdicts = by_attempt(verdicts_of(store, context.stored.run.id))
    given = {failure.id: verdicts[failure.id] for failure in failures if failure.id in verdicts}
    stale = frozenset() if wanted in ("second", "disputed") else returned_to(reviewer, given, context, store)
    queue = build_queue(failures, given, context.attributions, stale, reviewer, wanted)
    incomplete = thinned_attempts(store, context.stored.pk, context.stored.run.id)
    return queue._replace(waiting=tuple(one for one in queue.waiting if one.attempt not in incomplete))


def returned_to(
    reviewer: Reviewer, given: dict[str, list[Verdict]], context: RunContext, store: Store
) -> frozenset[str]:
    """Attempts whose standing verdict goes by what is there no more, and that nobody has reviewed again since."""
    perhaps = perhaps_returned(reviewer, given, context.stored)
    return frozenset(quotes_found(context, store, perhaps).stale) if perhaps else frozenset()


def review_status(context: RunContext, store: Store, buckets: RunBuckets, *, now: str) -> Status:
    run_id = context.stored.run.id
    return build_status(
        context.stored,
        failures={failure.id for failure in wanted_failures(context, store, Filters())},
        attributions=context.attributions,
        verdicts=by_attempt(verdicts_of(store, run_id)),
        refusals=refusals_of(store, run_id),
        leased=leases_of(store, run_id, now=now),
        calls=calls_of(store, run_id),
        batches=batches_of(store, [run_id], states=OPEN),
        buckets=buckets,
        check_quotes=lambda verdicts: quotes_found(context, store, verdicts),
    )


# --- whether the quotes of verdicts are still in the places they name, in the failures as stored now


def quotes_found(context: RunContext, store: Store, verdicts: Sequence[Verdict]) -> QuoteCheckOutput:
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
