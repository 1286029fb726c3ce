"""The verb `failures`: which attempts failed, and what is known of each."""

from collections.abc import Iterator
from typing import Any

import msgspec

from errata.model import Attempt, Attribution, Run, StoredRun
from errata.pipeline.triaging import triage_if_needed
from errata.store.attempts import attempts_of, attempts_with_failed_check, categories_of
from errata.store.attributions import attributions_of
from errata.store.database import Store
from errata.text.clean import one_line


class Filters(msgspec.Struct, frozen=True, kw_only=True):
    case: str = ""
    category: str = ""
    failed_check: str = ""
    execution: str = ""
    measurement: str = ""
    outcome: str = ""
    owner: str = ""


class Failure(msgspec.Struct, frozen=True):
    run: Run
    attempt: Attempt
    attribution: Attribution | None = None

    @property
    def case_name(self) -> str:
        return case_name(self.run, self.attempt.case)

    @property
    def reason(self) -> str:
        """In one line, what the log itself says: the error, the harness's word, or the judge's."""
        attempt = self.attempt
        if attempt.errors:
            return one_line(attempt.errors[0].message)
        explained = next((check.explanation for check in attempt.checks if check.failed and check.explanation), "")
        judged = attempt.judgements[0].reasoning if attempt.judgements else ""
        return one_line(explained or judged or attempt.native_status)

    def as_json(self) -> dict[str, Any]:
        """The stable form; `bucket` and `verdict` are null until they are known."""
        attempt, said = self.attempt, self.attribution
        return {
            "run": self.run.native_id,
            "run_id": self.run.id,
            "model": self.run.subject.model,
            "case": self.case_name,
            "case_key": attempt.case,
            "attempt": attempt.index,
            "session": attempt.session,
            "attempt_id": attempt.id,
            "execution": attempt.execution,
            "measurement": attempt.measurement,
            "outcome": attempt.outcome,
            "native_status": attempt.native_status or None,
            "failed_checks": list(attempt.failed_checks),
            "reason": self.reason or None,
            "follows": attempt.follows,
            "owner": said.owner if said else None,
            "also": list(said.also) if said else [],
            "confidence": said.confidence if said else None,
            "decided_by": said.decided_by if said else None,
            "signals": [{"name": one.name, "where": one.where, "quote": one.quote} for one in said.signals]
            if said
            else [],
            "failure_key": said.failure_key if said else None,
            "suggested_labels": said.suggested_labels if said else {},
            "bucket": None,
            "verdict": None,
        }


def case_name(run: Run, key: str) -> str:
    """The case as its harness names it."""
    return key.removeprefix(f"{run.suite}/") if run.suite else key


def failures_of(stored: StoredRun, store: Store, filters: Filters, *, limit: int | None = None) -> Iterator[Failure]:
    """In the order of the conversation or suite, else of the log."""
    triage_if_needed(stored, store)
    said = attributions_of(store, stored.pk)
    categories = categories_of(store, stored.pk) if filters.category else {}
    found = 0
    for attempt in _candidates(stored, store, filters):
        if limit is not None and found >= limit:
            return
        if attempt.is_failure and _wanted(stored.run, attempt, filters, categories):
            attribution = said.get(attempt.id)
            if filters.owner and (attribution is None or attribution.owner != filters.owner):
                continue
            found += 1
            yield Failure(stored.run, attempt, attribution)


def _candidates(stored: StoredRun, store: Store, filters: Filters) -> Iterator[Attempt]:
    if filters.failed_check:
        return attempts_with_failed_check(store, stored.pk, filters.failed_check)
    return attempts_of(store, stored.pk, failures=True, by_position=True)


def _wanted(run: Run, attempt: Attempt, filters: Filters, categories: dict[str, str]) -> bool:
    return (
        filters.case in case_name(run, attempt.case)
        and filters.category in ("", categories.get(attempt.case, ""))
        and filters.execution in ("", attempt.execution)
        and filters.measurement in ("", attempt.measurement)
        and filters.outcome in ("", attempt.outcome)
    )
