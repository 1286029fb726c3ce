"""Records as the plain values that are written: this half needs no database and may run in another process."""

from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec

from errata.model import Artefact, Attempt, Case, Check, Item, Run, Unreadable
from errata.model.codec import pack

BATCH_SIZE = 4 * 1024 * 1024
BATCH_ITEMS = 5_000

NOTEWORTHY = ("fail", "error", "unscored")

Blob = tuple[str, bytes]


class PackedAttempt(msgspec.Struct, array_like=True, gc=False):
    run: str
    columns: tuple[Any, ...]
    """case_key … duration, in the order of the table."""
    record: bytes
    steps: bytes
    """Empty where there are none."""
    checks: tuple[tuple[int, str, str], ...]
    blobs: list[Blob]


class PackedCase(msgspec.Struct, array_like=True, gc=False):
    run: str
    key: str
    digest: str
    category: str
    record: bytes
    blobs: list[Blob]


class Batch(msgspec.Struct, array_like=True):
    """What is written in one transaction, and what one process sends to the other."""

    runs: list[Run] = []
    cases: list[PackedCase] = []
    attempts: list[PackedAttempt] = []
    unreadables: list[tuple[str, Unreadable]] = []
    """Each with the id of the run that was being read; empty before the first."""
    checks: dict[str, dict[str, dict[str, int]]] = {}
    """Run → check → status → how often."""

    def __len__(self) -> int:
        return len(self.runs) + len(self.cases) + len(self.attempts) + len(self.unreadables)


def pack_items(items: Iterable[Item]) -> Iterator[Batch]:
    """Whatever a source yields, in batches of a few megabytes."""
    batch, size, run, tally = Batch(), 0, "", Counter[tuple[str, str, str]]()
    for item in items:
        kind = type(item)
        if kind is Attempt:
            packed = pack_attempt(item)  # type: ignore[arg-type]
            batch.attempts.append(packed)
            size += len(packed.record) + len(packed.steps) + sum(len(blob[1]) for blob in packed.blobs)
            run = packed.run
            for check in item.checks:  # type: ignore[union-attr]
                tally[run, check.name, check.status] += 1
        elif kind is Case:
            case = pack_case(item)  # type: ignore[arg-type]
            batch.cases.append(case)
            size += len(case.record) + sum(len(blob[1]) for blob in case.blobs)
        elif kind is Run:
            run = item.id  # type: ignore[union-attr]
            batch.runs.append(item)  # type: ignore[arg-type]
        else:
            batch.unreadables.append((run, item))  # type: ignore[arg-type]
        if size >= BATCH_SIZE or len(batch.attempts) >= BATCH_ITEMS:
            yield _closed(batch, tally)
            batch, size, tally = Batch(), 0, Counter()
    if len(batch):
        yield _closed(batch, tally)


def pack_attempt(attempt: Attempt) -> PackedAttempt:
    usage = attempt.usage
    blobs: list[Blob] = []
    steps = b""
    checks = attempt.checks
    kept = attempt
    if attempt.steps:
        steps = pack(attempt.steps)
        kept = msgspec.structs.replace(kept, steps=())
    if attempt.artefacts:
        kept = msgspec.structs.replace(kept, artefacts=without_texts(attempt.artefacts, blobs))
    return PackedAttempt(
        attempt.run,
        (
            attempt.case,
            attempt.index,
            attempt.session,
            attempt.path,
            attempt.position,
            attempt.parent is None and attempt.superseded_by is None,
            attempt.is_failure,
            attempt.execution,
            attempt.measurement,
            attempt.outcome,
            usage.subject.tokens,
            usage.cost,
            attempt.duration,
        ),
        pack(kept),
        steps,
        _noteworthy(checks),
        blobs,
    )


def pack_case(case: Case) -> PackedCase:
    blobs: list[Blob] = []
    kept = msgspec.structs.replace(case, artefacts=without_texts(case.artefacts, blobs)) if case.artefacts else case
    return PackedCase(case.run, case.key, case.digest, case.category, pack(kept), blobs)


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


def _noteworthy(checks: tuple[Check, ...]) -> tuple[tuple[int, str, str], ...]:
    return tuple(
        [(place, check.name, check.status) for place, check in enumerate(checks) if check.status in NOTEWORTHY]
    )


def _closed(batch: Batch, tally: Counter[tuple[str, str, str]]) -> Batch:
    for (run, name, status), count in tally.items():
        batch.checks.setdefault(run, {}).setdefault(name, {})[status] = count
    return batch
