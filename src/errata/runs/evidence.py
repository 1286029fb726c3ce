"""What triage needs beside each failure: its case and, where calls are to be compared, its transcript."""

from collections.abc import Iterator
from functools import lru_cache

from errata.model import Attempt, Case, StoredRun
from errata.model.codec import unpack
from errata.store.attempts import attempts_of, case_of, failures_to_triage
from errata.store.database import Store
from errata.triage.strictness import compares_calls

CASES_HELD = 256


def failures_with_evidence(stored: StoredRun, store: Store) -> Iterator[tuple[int, Attempt, Case | None]]:
    """Each failure's number, the attempt, and its case, where the log tells of it; in the order of the log."""
    with_files = lru_cache(CASES_HELD)(lambda key: case_of(store, stored.pk, key))
    for seq, attempt, packed in failures_to_triage(store, stored.pk):
        case = unpack(packed, Case) if packed is not None and _wants_its_case(attempt) else None
        if case is not None and case.artefacts:
            case = with_files(attempt.case)
        if compares_calls(attempt, case):
            yield seq, _with_transcript(attempt, stored, store), case
        else:
            yield seq, attempt, case


def _wants_its_case(attempt: Attempt) -> bool:
    """What crashed while the subject was asked says nothing about its task."""
    if attempt.outcome in ("fail", "partial") or attempt.artefacts:
        return True
    return any(error.phase not in ("subject", "tool", "simulator") for error in attempt.errors)


def _with_transcript(attempt: Attempt, stored: StoredRun, store: Store) -> Attempt:
    found = attempts_of(store, stored.pk, case=attempt.case, steps=True)
    return next((one for one in found if one.id == attempt.id), attempt)
