"""Records as the plain values that are written: this half needs no database and may run in another process.

Packing has two steps, so that two processes can share it: `pack_items` turns records into rows and raw blocks, `seal`
compresses and hashes the blocks.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from queue import SimpleQueue
from threading import Thread
from typing import Any

import msgspec

from errata.model import Artefact, Attempt, Case, Check, Item, Run, Unreadable
from errata.model.codec import pack
from errata.model.obstacles import conduct_in
from errata.model.usage import NO_USAGE_BY_ROLE
from errata.store.blocks import BlockWriter, compress
from errata.store.content_digest import ContentDigest

BATCH_SIZE = 768 * 1024
BATCH_ROWS = 700
"""A batch fits into the pipe between two processes, so that neither waits for the other to take it."""
SEALED_AHEAD = 4
NOTEWORTHY = ("fail", "error", "unscored")
CHECKS_KNOWN = 512
CASES_KNOWN = 20_000

Blob = tuple[str, bytes]
Tally = dict[str, dict[str, int]]
"""Check → status → how often."""


class RunPart(msgspec.Struct, array_like=True):
    """What a batch holds of one run. The rows lack only the run's number."""

    cases: list[tuple[Any, ...]] = []
    attempts: list[tuple[Any, ...]] = []
    checks: list[tuple[Any, ...]] = []
    blocks: list[tuple[int, bytes]] = []
    blobs: list[Blob] = []
    tally: Tally = {}
    digest: str = ""
    """Over all cases and attempts; given once, after the last of them."""


class PackedBatch(msgspec.Struct, array_like=True):
    """What is written in one transaction, and what one process sends to the other."""

    runs: list[Run] = []
    parts: dict[str, RunPart] = {}
    unreadables: list[tuple[str, Unreadable]] = []
    """Each with the id of the run it belongs to; empty where nobody can tell."""
    items: int = 0


def pack_items(items: Iterable[Item]) -> Iterator[PackedBatch]:
    """Whatever a source yields, in batches of less than a megabyte. Their blocks are not sealed yet."""
    packers: dict[str, _RunPacker] = {}
    batch = PackedBatch()
    for item in items:
        batch.items += 1
        if type(item) is Attempt or type(item) is Case:
            packer = packers.get(item.run)
            if packer is None:
                batch.unreadables.append(("", _orphan(item)))
                continue
            if packer.add(item):
                yield _with_parts(batch, packers)
                batch = PackedBatch()
        elif type(item) is Run:
            packers.setdefault(item.id, _RunPacker())
            batch.runs.append(item)
        elif type(item) is Unreadable:
            batch.unreadables.append((item.run, item))
            if len(batch.unreadables) >= BATCH_ROWS:
                yield _with_parts(batch, packers)
                batch = PackedBatch()
    for packer in packers.values():
        packer.close()
    yield _with_parts(batch, packers)


def seal(batches: Iterable[PackedBatch]) -> Iterator[PackedBatch]:
    """Compress the blocks and take the digest of what is in them; at the end one more batch with the digests."""
    digests: dict[str, ContentDigest] = {}
    for batch in batches:
        yield _sealed(batch, digests)
    yield _with_digests(digests)


def seal_beside(batches: Iterable[PackedBatch]) -> Iterator[PackedBatch]:
    """The same in a thread of its own, while this one makes the next batches: neither holds the interpreter long."""
    digests: dict[str, ContentDigest] = {}
    open_batches: SimpleQueue[PackedBatch | None] = SimpleQueue()
    sealed: SimpleQueue[PackedBatch | None] = SimpleQueue()
    thread = Thread(target=_seal_each, args=(open_batches, sealed, digests), daemon=True)
    thread.start()
    waiting = 0
    try:
        for batch in batches:
            open_batches.put(batch)
            waiting += 1
            if waiting > SEALED_AHEAD:
                waiting -= 1
                yield _take_sealed(sealed)
        for _ in range(waiting):
            yield _take_sealed(sealed)
    finally:
        open_batches.put(None)
        thread.join()
    yield _with_digests(digests)


def _seal_each(
    open_batches: "SimpleQueue[PackedBatch | None]",
    sealed: "SimpleQueue[PackedBatch | None]",
    digests: dict[str, ContentDigest],
) -> None:
    try:
        while (batch := open_batches.get()) is not None:
            sealed.put(_sealed(batch, digests))
    finally:
        sealed.put(None)


def _take_sealed(sealed: "SimpleQueue[PackedBatch | None]") -> PackedBatch:
    batch = sealed.get()
    if batch is None:
        raise MemoryError("batches could not be compressed")
    return batch


def _sealed(batch: PackedBatch, digests: dict[str, ContentDigest]) -> PackedBatch:
    for run, part in batch.parts.items():
        known = digests.get(run)
        if known is None:
            known = digests[run] = ContentDigest()
        known.add_cases([case[-1] for case in part.cases])
        for number, data in part.blocks:
            known.add_block(number, data)
        part.blocks = [(number, compress(data)) for number, data in part.blocks]
    return batch


def _with_digests(digests: dict[str, ContentDigest]) -> PackedBatch:
    return PackedBatch(parts={run: RunPart(digest=known.hexdigest()) for run, known in digests.items()})


class _KnownChecks(msgspec.Struct):
    checks: tuple[Check, ...]
    noteworthy: tuple[tuple[int, str, str], ...]
    count: int = 0


class CheckCounter:
    """Sources share the checks of equal rows; what is made of them is made once."""

    def __init__(self) -> None:
        self._known: dict[int, _KnownChecks] = {}

    def add(self, checks: tuple[Check, ...], tally: Tally) -> tuple[tuple[int, str, str], ...]:
        """The noteworthy ones: place, name and status."""
        known = self._known.get(id(checks))
        if known is None or known.checks is not checks:
            known = _KnownChecks(checks, noteworthy_checks(checks))
            if len(self._known) < CHECKS_KNOWN:
                self._known[id(checks)] = known
            else:
                count_checks(tally, checks, 1)
        known.count += 1
        return known.noteworthy

    def count(self, tally: Tally) -> None:
        """Add what was not counted yet."""
        for known in self._known.values():
            count_checks(tally, known.checks, known.count)
        self._known = {}


class DescribedCases:
    """Case → its last description, as far as it is remembered: one that is repeated is written once."""

    def __init__(self) -> None:
        self._known: dict[int, int] = {}

    def is_known(self, key: str, digest: str) -> bool:
        """Whether this is its last description; from now on it is."""
        case, facts = hash(key), hash(digest)
        if self._known.get(case) == facts:
            return True
        if len(self._known) >= CASES_KNOWN:
            self._known.clear()
        self._known[case] = facts
        return False


class _RunPacker:
    """The open part of one run."""

    def __init__(self) -> None:
        self._part = RunPart()
        self._rows: list[tuple[Any, ...]] = []
        self._size = 0
        self._seq = self._number = 0
        self._records = BlockWriter(self._take_number, self._take_block)
        self._steps = BlockWriter(self._take_number, self._take_block)
        self._checks = CheckCounter()
        self._described = DescribedCases()

    def add(self, item: Attempt | Case) -> bool:
        """True where the part has become large enough to be written."""
        if type(item) is Attempt:
            self._add_attempt(item)
        elif type(item) is Case:
            self._add_case(item)
        return len(self._rows) >= BATCH_ROWS or self._size >= BATCH_SIZE

    def _add_attempt(self, attempt: Attempt) -> None:
        seq = self._seq
        self._seq = seq + 1
        steps = self._steps.add(attempt.steps) if attempt.steps else _NO_STEPS
        kept, size = stored_attempt(attempt, self._part.blobs)
        self._size += size
        self._rows.append((seq, *facts_of(attempt), *self._records.add(kept), *steps))
        if attempt.checks:
            for noteworthy in self._checks.add(attempt.checks, self._part.tally):
                self._part.checks.append((seq, *noteworthy))

    def _add_case(self, case: Case) -> None:
        if self._described.is_known(case.key, case.digest):
            return
        kept, size = stored_case(case, self._part.blobs)
        record = pack(kept)
        self._part.cases.append((self._seq, case.key, case.digest, case.category, record))
        self._size += size + len(record)

    def close(self) -> None:
        self._records.flush()
        self._steps.flush()

    def take(self) -> RunPart:
        part = self._part
        part.attempts = self._rows
        self._checks.count(part.tally)
        self._part, self._rows, self._size = RunPart(), [], 0
        return part

    def _take_number(self) -> int:
        self._number += 1
        return self._number

    def _take_block(self, number: int, data: bytes) -> None:
        self._part.blocks.append((number, data))
        self._size += len(data)


_NO_STEPS = (None, None)


def facts_of(attempt: Attempt) -> tuple[Any, ...]:
    """Its columns between its number in the run and the addresses of its record and steps."""
    usage, outcome, measurement = attempt.usage, attempt.outcome, attempt.measurement
    has_usage = usage is not NO_USAGE_BY_ROLE
    return (
        attempt.case, attempt.index, attempt.session, attempt.path, attempt.position,
        attempt.parent is None and attempt.superseded_by is None,
        # what was scored as a pass is not a failure, whatever else is known of it
        not (outcome == "pass" and measurement == "scored") and attempt.is_failure,
        attempt.execution, measurement, outcome,
        usage.subject.tokens if has_usage else None, usage.cost if has_usage else None, attempt.duration,
    )  # fmt: skip


def stored_attempt(attempt: Attempt, blobs: list[Blob]) -> tuple[Attempt, int]:
    """The record as it is kept, without steps and texts of files, and the size of the files."""
    if not attempt.steps and not attempt.artefacts:
        return attempt, 0
    kept = msgspec.structs.replace(attempt, steps=(), conduct=conduct_in(attempt))
    if not attempt.artefacts:
        return kept, 0
    kept = msgspec.structs.replace(kept, artefacts=without_texts(attempt.artefacts, blobs))
    return kept, sum(artefact.size or 0 for artefact in attempt.artefacts)


def stored_case(case: Case, blobs: list[Blob]) -> tuple[Case, int]:
    if not case.artefacts:
        return case, 0
    kept = msgspec.structs.replace(case, artefacts=without_texts(case.artefacts, blobs))
    return kept, sum(artefact.size or 0 for artefact in case.artefacts)


def without_texts(artefacts: tuple[Artefact, ...], blobs: list[Blob]) -> tuple[Artefact, ...]:
    """The artefacts with their texts moved to blobs, named by content."""
    kept = []
    for artefact in artefacts:
        if artefact.text is None:
            kept.append(artefact)
            continue
        data = artefact.text.encode("utf-8", "surrogatepass")
        digest = blake2b(data, digest_size=16).hexdigest()
        blobs.append((digest, data))
        kept.append(msgspec.structs.replace(artefact, text=None, blob=digest))
    return tuple(kept)


def _with_parts(batch: PackedBatch, packers: dict[str, _RunPacker]) -> PackedBatch:
    batch.parts = {run: packer.take() for run, packer in packers.items()}
    return batch


def _orphan(item: Attempt | Case) -> Unreadable:
    where = str(item.ref) if item.ref else getattr(item, "id", "")
    return Unreadable(source="", where=where, why="belongs to a run that the log does not describe", ref=item.ref)


def noteworthy_checks(checks: tuple[Check, ...]) -> tuple[tuple[int, str, str], ...]:
    return tuple(
        [
            (place, check.name, check.status)
            for place, check in enumerate(checks)
            if check.status in NOTEWORTHY and check.counts
        ]
    )


def count_checks(tally: Tally, checks: tuple[Check, ...], often: int) -> None:
    for check in checks:
        statuses = tally.setdefault(check.name, {})
        statuses[check.status] = statuses.get(check.status, 0) + often
