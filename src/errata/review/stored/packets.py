"""Failures of the store → packets, some at a time; what packets are made of is gathered here."""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import lru_cache, partial

from errata.errors import NotFoundError
from errata.model import Attempt, Attribution, Packet, StoredRun
from errata.model.attempt import ListedFailure
from errata.model.filters import Filters
from errata.model.identity import split_attempt_id
from errata.review.material import History, Material, RunContext
from errata.review.packet import PacketOptions, packet_for
from errata.store.attempts import categories_of, run_with_texts
from errata.store.database import Store
from errata.store.failures import Loaded, attempts_at, listed_failures, loaded, number_of, turns_between

AT_ONCE = 16
PAGE = 50
"""Turns of a conversation that are read together."""
PAGES = 8
BEFORE = 100
AFTER = 100

AttributedPacket = tuple[Packet, Attribution | None]


def packets_of(
    context: RunContext,
    store: Store,
    filters: Filters | None = None,
    *,
    attempts: Collection[str] | None = None,
    options: PacketOptions | None = None,
) -> Iterator[Packet]:
    """Of every failure that is wanted, in the order of the conversation or suite, else of the log.

    No transaction is open between two packets: whoever takes them may take hours.
    """
    for packet, _ in attributed_packets(context, store, filters, attempts=attempts, options=options):
        yield packet


def attributed_packets(
    context: RunContext,
    store: Store,
    filters: Filters | None = None,
    *,
    attempts: Collection[str] | None = None,
    options: PacketOptions | None = None,
) -> Iterator[AttributedPacket]:
    """The same, each with its attribution."""
    wanted = [failure.seq for failure in wanted_failures(context, store, filters or Filters(), attempts)]
    yield from _packets(context, store, wanted, options or PacketOptions())


def packets_in_turn(
    context: RunContext, store: Store, turns: Iterable[str | None], options: PacketOptions
) -> Iterator[Packet | None]:
    """Of failures by their ids, in the order they are given; none where `turns` has none to give at the moment."""
    stored = context.stored
    numbers = {failure.id: failure.seq for failure in listed_failures(store, stored.pk, stored.run.id)}
    builder = _PacketBuilder(context, store, options)
    for batch in _batches(turns):
        if not all(attempt in numbers for attempt in batch):
            raise _log_is_gone(stored)
        yield from (packet for packet, _ in builder.of([numbers[each] for each in batch])) if batch else (None,)


def packet_of(attempt: str, context: RunContext, store: Store, *, options: PacketOptions | None = None) -> Packet:
    """Of one attempt of the run, also of one that did not fail."""
    return packet_maker(attempt, context, store)(options or PacketOptions())


def packet_maker(attempt: str, context: RunContext, store: Store) -> Callable[[PacketOptions], Packet]:
    """Makes packets of one attempt; what they are made of is read once."""
    seq = number_of(store, context.stored.pk, split_attempt_id(attempt))
    if seq is None:
        problem = f"Run `{context.stored.run.native_id}` has no attempt `{attempt}`"
        raise NotFoundError(problem, hint="`errata failures RUN` lists them")
    ((material, _),) = _MaterialReader(context, store).of([seq])
    return partial(_packet, material, context)


def wanted_failures(
    context: RunContext, store: Store, filters: Filters, attempts: Collection[str] | None = None
) -> Iterator[ListedFailure]:
    """Without their texts: what there is to review, in the order it will be."""
    stored = context.stored
    chosen = None if attempts is None else frozenset(attempts)
    if filters.bucket:
        members = frozenset(attempt for attempt, slug in context.buckets().items() if slug.startswith(filters.bucket))
        chosen = members if chosen is None else chosen & members
    categories = categories_of(store, stored.pk) if filters.category else {}
    for failure in listed_failures(store, stored.pk, stored.run.id, failed_check=filters.failed_check):
        is_chosen = (chosen is None or failure.id in chosen) and filters.owner in ("", failure.owner)
        if is_chosen and filters.fits(stored.run, failure, categories):
            yield failure


def has_failures(context: RunContext, store: Store, filters: Filters) -> bool:
    """Whether any fits the filters, reviewed or not."""
    return next(wanted_failures(context, store, filters), None) is not None


def _packets(context: RunContext, store: Store, seqs: list[int], options: PacketOptions) -> Iterator[AttributedPacket]:
    builder = _PacketBuilder(context, store, options)
    for at in range(0, len(seqs), AT_ONCE):
        yield from builder.of(seqs[at : at + AT_ONCE])


def _batches(turns: Iterable[str | None]) -> Iterator[list[str]]:
    """Some at a time; an empty one where nothing can be given at the moment."""
    batch: list[str] = []
    for attempt in turns:
        if attempt is not None:
            batch.append(attempt)
        if attempt is None or len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


class _PacketBuilder:
    """Packets of one run; what they share is read once."""

    def __init__(self, context: RunContext, store: Store, options: PacketOptions) -> None:
        self._context, self._options = context, options
        self._reader = _MaterialReader(context, store)

    def of(self, seqs: list[int]) -> Iterator[AttributedPacket]:
        """Read together: not too many."""
        for material, attribution in self._reader.of(seqs):
            yield _packet(material, self._context, self._options), attribution


def _packet(material: Material, context: RunContext, options: PacketOptions) -> Packet:
    question = options.question or context.question("")
    return packet_for(material, question, budget=options.budget, blind=options.blind, raw=options.raw)


class _MaterialReader:
    """Loads failures with their context: turns before and after, and the texts that they share."""

    def __init__(self, context: RunContext, store: Store) -> None:
        self._context, self._store = context, store
        self._run = run_with_texts(store, context.stored)
        self._page = lru_cache(PAGES)(self._read_page)
        counts = context.stored.counts
        self._has_repeats = counts.attempts > counts.cases

    def of(self, seqs: list[int]) -> Iterator[tuple[Material, Attribution | None]]:
        stored, store = self._context.stored, self._store
        failures = loaded(store, stored.pk, seqs)
        if len(failures) < len(seqs):
            raise _log_is_gone(stored)
        keys = {failure.attempt.case for failure in failures}
        history = self._context.history(keys)
        kin = attempts_at(store, stored.pk, keys) if self._has_repeats else {}
        for failure in failures:
            case = failure.attempt.case
            others = [other for other in kin.get(case, ()) if other.id != failure.attempt.id]
            yield self.material(failure, others, history.get(case, ())), failure.attribution

    def material(self, failure: Loaded, kin: list[Attempt], history: History) -> Material:
        attempt = failure.attempt
        before, after = self._turns(attempt)
        return Material(
            run=self._run,
            handle=self._context.handle,
            attempt=attempt,
            case=failure.case,
            attribution=failure.attribution,
            before=before,
            after=after,
            kin=tuple(kin),
            history=history,
        )

    def _turns(self, attempt: Attempt) -> tuple[tuple[Attempt, ...], tuple[Attempt, ...]]:
        """The turns before, and those after that only follow from this turn."""
        place = attempt.position
        if place is None:
            return (), ()
        before = self._between(max(place - BEFORE, 0), place - 1)
        after = self._between(place + 1, place + AFTER) if attempt.outcome != "pass" else ()
        return before, tuple(turn for turn in after if turn.follows == attempt.id)

    def _between(self, first: int, last: int) -> tuple[Attempt, ...]:
        pages = (self._page(number) for number in range(first // PAGE, last // PAGE + 1))
        return tuple(turn for page in pages for turn in page if first <= (turn.position or 0) <= last)

    def _read_page(self, number: int) -> list[Attempt]:
        return turns_between(self._store, self._context.stored.pk, number * PAGE, number * PAGE + PAGE - 1)


def _log_is_gone(stored: StoredRun) -> NotFoundError:
    problem = f"Run `{stored.run.native_id}` was replaced or forgotten while its failures were read"
    return NotFoundError(problem, hint="start again: what was stored so far is kept")
