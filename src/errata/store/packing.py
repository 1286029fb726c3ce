"""Records as the plain values that are written: this half needs no database and may run in another process.

Packing has two steps, so that two processes can share it: `pack_items` turns records into rows and raw blocks, `seal`
compresses and hashes the blocks.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from errata.model import Artefact, Attempt, Case, Item, Run, Unreadable
from errata.model.codec import fitting, pack, storable
from errata.model.obstacles import conduct_in
from errata.model.usage import NO_USAGE_BY_ROLE
from errata.store.blocks import BlockWriter, ContentDigest, compress

BATCH_SIZE = 768 * 1024
BATCH_ROWS = 700
"""A batch fits into the pipe between two processes, so that neither waits for the other to take it."""
NOTEWORTHY = ("fail", "error", "unscored")
CASES_KNOWN = 20_000

Blob = tuple[str, bytes]
Tally = dict[str, dict[str, int]]


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
    labels: dict[str, int] = {}


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
    yield PackedBatch(parts={run: RunPart(digest=known.hexdigest()) for run, known in digests.items()})


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


class _RunPacker:
    def __init__(self) -> None:
        self._part = RunPart()
        self._rows: list[tuple[Any, ...]] = []
        self._size = 0
        self._seq = self._number = 0
        self._records = BlockWriter(self._take_number, self._take_block)
        self._steps = BlockWriter(self._take_number, self._take_block)
        self._described: dict[int, int] = {}
        """Case → its last description, as far as it is remembered: one that is repeated is written once."""

    def add(self, item: Attempt | Case) -> bool:
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
        value = attempt.value if attempt.outcome in ("number", "partial") else None
        self._rows.append((seq, *facts_of(attempt), *self._records.add(kept), *steps, value))
        if attempt.outcome == "none" and (label := attempt.label) and attempt.counted:
            self._part.labels[label] = self._part.labels.get(label, 0) + 1
        for place, check in enumerate(attempt.checks):
            statuses = self._part.tally.setdefault(check.name, {})
            status: str = check.status
            if status == "fail" and (type(check.given) is float or not attempt.counted):
                status = "number" if attempt.counted else "below"
            statuses[status] = statuses.get(status, 0) + 1
            if check.status in NOTEWORTHY and check.counts:
                self._part.checks.append((seq, place, check.name, check.status))

    def _add_case(self, case: Case) -> None:
        name, facts = hash(case.key), hash(case.digest)
        if self._described.get(name) == facts:
            return
        if len(self._described) >= CASES_KNOWN:
            self._described.clear()
        self._described[name] = facts
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


_encoder = msgspec.msgpack.Encoder()
batch_decoder = msgspec.msgpack.Decoder(PackedBatch)


def as_sent(batch: PackedBatch) -> PackedBatch:
    """Whichever process reads a log, its records are the same to the last bit."""
    return batch_decoder.decode(encoded(batch))


def encoded(batch: PackedBatch) -> bytes:
    try:
        return _encoder.encode(batch)
    except (OverflowError, UnicodeEncodeError):
        batch.runs = [storable(run) for run in batch.runs]
        batch.unreadables = [(run, storable(item)) for run, item in batch.unreadables]
        for part in batch.parts.values():
            part.cases, part.checks, part.attempts = map(_fitting_rows, (part.cases, part.checks, part.attempts))
            part.tally = {fitting(check): counts for check, counts in part.tally.items()}
        return _encoder.encode(batch)


def _fitting_rows(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(map(fitting, row)) for row in rows]
