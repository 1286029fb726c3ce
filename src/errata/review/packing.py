"""Failures of the store → packets, some at a time; what packets are made of is gathered here."""

from collections.abc import Callable, Collection, Iterable, Iterator

import msgspec

from errata.errors import NotFoundError, SettingsError
from errata.model import Attribution, LabelChoice, Packet, Question, Run, StoredRun
from errata.model.identity import split_attempt_id
from errata.model.run import case_name
from errata.model.taxonomy import Taxonomy
from errata.review.budget import BUDGET
from errata.review.packets import packet_for
from errata.review.question import OWNERS, RULE
from errata.review.surroundings import Surroundings
from errata.runs.bucketing import bucket_of
from errata.runs.failures import Filters
from errata.runs.packet_history import History, Recalling
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import categories_of
from errata.store.database import Store
from errata.store.failures import Listed, attempts_at, listed_failures, loaded, number_of
from errata.store.runs import run_by_id
from errata.text.nearest import did_you_mean
from errata.triage.rulesets import rules_in_use

AT_ONCE = 16


Attributed = tuple[Packet, Attribution | None]


class Packing(msgspec.Struct, frozen=True, kw_only=True):
    """How packets are made."""

    question: Question | None = None
    """None for the taxonomy of the run's own source."""
    budget: int = BUDGET
    blind: bool = False
    raw: bool = False
    """Not redacted: for the eyes of whose log it is, never for a reviewer."""
    history: Callable[[StoredRun, str], History] = lambda _run, _case: ()
    """What reports and recorded gaps say of a case, beside what the store's other runs tell."""


def packets_of(
    stored: StoredRun,
    store: Store,
    filters: Filters | None = None,
    *,
    attempts: Collection[str] | None = None,
    packing: Packing | None = None,
) -> Iterator[Packet]:
    """Of every failure that is wanted, in the order of the conversation or suite, else of the log.

    No transaction is open between two packets: whoever takes them may take hours.
    """
    for packet, _ in attributed_packets(stored, store, filters, attempts=attempts, packing=packing):
        yield packet


def attributed_packets(
    stored: StoredRun,
    store: Store,
    filters: Filters | None = None,
    *,
    attempts: Collection[str] | None = None,
    packing: Packing | None = None,
) -> Iterator[Attributed]:
    """The same, each with what triage says of it."""
    triage_if_needed(stored, store)
    wanted = [one.seq for one in wanted_failures(stored, store, filters or Filters(), attempts)]
    yield from _packets(stored, store, wanted, packing or Packing())


def packets_in_turn(
    stored: StoredRun, store: Store, turns: Iterable[str | None], packing: Packing
) -> Iterator[Packet | None]:
    """Of failures by their ids, in the order they are given; none where `turns` has none to give at the moment."""
    triage_if_needed(stored, store)
    numbers = {one.id: one.seq for one in listed_failures(store, stored.pk, stored.run.id)}
    making = _Making(stored, store, packing)
    for some in _batches(turns):
        if not all(attempt in numbers for attempt in some):
            raise _gone(stored)
        yield from (packet for packet, _ in making.of([numbers[attempt] for attempt in some])) if some else (None,)


def packet_of(attempt_id: str, store: Store, *, packing: Packing | None = None) -> Packet:
    """Of one attempt, also of one that did not fail."""
    try:
        parts = split_attempt_id(attempt_id)
    except ValueError:
        hint = "`errata failures RUN --json` gives ids"
        raise NotFoundError(f"`{attempt_id}` is not the id of an attempt", hint=hint) from None
    stored = run_by_id(store, parts.run)
    triage_if_needed(stored, store)
    seq = number_of(store, stored.pk, parts)
    if seq is None:
        told = f"Run `{stored.run.native_id}` has no attempt `{attempt_id}`"
        raise NotFoundError(told, hint="`errata failures RUN` lists them")
    return next(_packets(stored, store, [seq], packing or Packing()))[0]


def wanted_failures(
    stored: StoredRun, store: Store, filters: Filters, attempts: Collection[str] | None = None
) -> Iterator[Listed]:
    """Without their texts: what there is to be read, in the order it will be."""
    chosen = None if attempts is None else frozenset(attempts)
    if filters.bucket:
        members = frozenset(
            one for one, slip in bucket_of(stored, store).items() if slip.slug.startswith(filters.bucket)
        )
        chosen = members if chosen is None else chosen & members
    categories = categories_of(store, stored.pk) if filters.category else {}
    for one in listed_failures(store, stored.pk, stored.run.id, failed_check=filters.failed_check):
        if (chosen is None or one.id in chosen) and _fits(stored.run, one, filters, categories):
            yield one


def question_for(source: str, taxonomy: str = "") -> Question:
    """The labels of a taxonomy by name; else the source's own, else the owners."""
    known = {one.name: one for one in rules_in_use().taxonomies}
    if taxonomy and taxonomy not in known and taxonomy != OWNERS.taxonomy:
        names = [*known, OWNERS.taxonomy]
        hints = [did_you_mean(taxonomy, names), f"known are: {', '.join(names)}"]
        raise SettingsError(f"No taxonomy is named `{taxonomy}`", hint="\n".join(one for one in hints if one))
    found = known.get(taxonomy or source)
    return OWNERS if found is None else as_question(found)


def as_question(taxonomy: Taxonomy) -> Question:
    labels = tuple(LabelChoice(label=one.name, owner=one.owner, meaning=one.meaning) for one in taxonomy.label)
    return Question(taxonomy=taxonomy.name, version=taxonomy.version, labels=labels, rule=RULE)


def _fits(run: Run, one: Listed, filters: Filters, categories: dict[str, str]) -> bool:
    return (
        filters.case in case_name(run, one.case)
        and filters.category in ("", categories.get(one.case, ""))
        and filters.execution in ("", one.execution)
        and filters.measurement in ("", one.measurement)
        and filters.outcome in ("", one.outcome)
        and filters.owner in ("", one.owner)
    )


def _packets(stored: StoredRun, store: Store, seqs: list[int], packing: Packing) -> Iterator[Attributed]:
    making = _Making(stored, store, packing)
    for at in range(0, len(seqs), AT_ONCE):
        yield from making.of(seqs[at : at + AT_ONCE])


class _Making:
    """Packets of one run; what they share is read once."""

    def __init__(self, stored: StoredRun, store: Store, packing: Packing) -> None:
        self._stored, self._store, self._packing = stored, store, packing
        self._question = packing.question or question_for(stored.run.source.name)
        self._surroundings, self._recalling = Surroundings(stored, store), Recalling(stored, store)
        self._several = stored.counts.attempts > stored.counts.cases

    def of(self, seqs: list[int]) -> Iterator[Attributed]:
        """Read together: not too many."""
        stored, store, packing = self._stored, self._store, self._packing
        failures = loaded(store, stored.pk, seqs)
        if len(failures) < len(seqs):
            raise _gone(stored)
        keys = {one.attempt.case for one in failures}
        known = self._recalling.of([one.case for one in failures], keys)
        kin = attempts_at(store, stored.pk, keys) if self._several else {}
        for one in failures:
            history = (*packing.history(stored, one.attempt.case), *known.get(one.attempt.case, ()))
            beside = [other for other in kin.get(one.attempt.case, ()) if other.id != one.attempt.id]
            material = self._surroundings.of(one, beside, history)
            packet = packet_for(material, self._question, budget=packing.budget, blind=packing.blind, raw=packing.raw)
            yield packet, one.attribution


def _gone(stored: StoredRun) -> NotFoundError:
    told = f"Run `{stored.run.native_id}` was replaced or forgotten while its failures were read"
    return NotFoundError(told, hint="start again: what was stored so far is kept")


def _batches(turns: Iterable[str | None]) -> Iterator[list[str]]:
    """Some at a time; an empty one where nothing can be given at the moment."""
    some: list[str] = []
    for attempt in turns:
        if attempt is not None:
            some.append(attempt)
        if attempt is None or len(some) == AT_ONCE:
            yield some
            some = []
    if some:
        yield some
