"""What triage needs beside each failure: its case and, where calls are to be compared, its transcript."""

from collections.abc import Iterator
from functools import lru_cache

from errata.model import Attempt, Case, StoredRun
from errata.store.attempts import attempts_of, case_of, failures_to_triage
from errata.store.case_outcomes import cases_named
from errata.store.database import Store
from errata.triage.strictness import compares_calls

HELD = 200
HELD_BYTES = 8_000_000
CASES_HELD = 256


def failures_with_evidence(stored: StoredRun, store: Store) -> Iterator[tuple[int, Attempt, Case | None]]:
    """Each failure's number, the attempt, and its case, where the log tells of it; in the order of the log."""
    with_files = lru_cache(CASES_HELD)(lambda key: case_of(store, stored.pk, key))
    # cases are looked up for many failures at once: one by one would take longer than triage itself
    for chunk in _chunks(failures_to_triage(store, stored.pk)):
        wanted = {attempt.case for _, attempt in chunk if _wants_its_case(attempt)}
        cases = {case.key: case for case in cases_named(store, stored.pk, wanted)}
        for seq, attempt in chunk:
            case = cases.get(attempt.case)
            if case is not None and case.artefacts:
                case = with_files(attempt.case)
            if compares_calls(attempt, case):
                attempt = _with_transcript(attempt, stored, store)
            yield seq, attempt, case


def _wants_its_case(attempt: Attempt) -> bool:
    """What crashed while the subject was asked says nothing about its task."""
    if attempt.outcome in ("fail", "partial") or attempt.artefacts:
        return True
    return any(error.phase not in ("subject", "tool", "simulator") for error in attempt.errors)


def _with_transcript(attempt: Attempt, stored: StoredRun, store: Store) -> Attempt:
    found = attempts_of(store, stored.pk, case=attempt.case, steps=True)
    return next((one for one in found if one.id == attempt.id), attempt)


def _chunks(failures: Iterator[tuple[int, Attempt]]) -> Iterator[list[tuple[int, Attempt]]]:
    """As many as are looked up at once, and fewer where their files are large."""
    chunk: list[tuple[int, Attempt]] = []
    size = 0
    for one in failures:
        chunk.append(one)
        size += sum(len(artefact.text or "") for artefact in one[1].artefacts)
        if len(chunk) == HELD or size > HELD_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
