"""What the pages show: a run with its failures, one attempt among them, one case over all runs, and the search."""

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

import msgspec

from errata.errors import NotFoundError, NotReadyError
from errata.model import Attempt, Attribution, Run, StoredRun
from errata.model.filters import FailureFilters
from errata.model.identity import attempt_id
from errata.model.listing import Facets, FailureRow
from errata.runs.bucketing import are_buckets_fresh, ensure_all_buckets
from errata.runs.digest import digest_of, known_digest, known_digests
from errata.runs.listing import (
    IN_GROUP,
    ROWS,
    FailureBlock,
    FailureLine,
    FailurePage,
    ListedGroup,
    ensure_indexed,
    failure_block,
    list_page,
    within,
)
from errata.runs.names import known_run
from errata.runs.runset import facts_of
from errata.runs.show import ShownAttempt, find_shown
from errata.runs.suspicions import SuspiciousPass
from errata.runs.text_index import ensure_searchable_texts, forget_missing, parse_query, search
from errata.runs.triaging import is_large, is_triaged, large_runs_in_background, triage_if_needed
from errata.runs.view import RunView
from errata.settings import load_settings
from errata.store.attempts import attempts_of, case_of, categories_of
from errata.store.case_outcomes import values_of
from errata.store.database import Store
from errata.store.failure_list import count_rows, facets_of, listed_rows, rank_of, rows_by_attempt, unreviewed_in
from errata.store.index_file import close_index, count_indexed, index_marks, marks_of, without_buckets
from errata.store.runs import all_runs, run_by_id
from errata.triage.rulesets import rules_in_use

__all__ = [
    "IN_GROUP",
    "ROWS",
    "CaseInRun",
    "FailureBlock",
    "FailureLine",
    "FailurePage",
    "ListedGroup",
    "Neighbours",
    "RunPasses",
    "SameFailures",
    "ShownAttempt",
    "ValuedCase",
    "case_over_runs",
    "case_text",
    "close_index",
    "count_indexed",
    "count_unreviewed",
    "derive_run",
    "digest_of",
    "ensure_indexed",
    "ensure_searchable_texts",
    "facets_of_run",
    "failure_block",
    "forget_missing",
    "is_derived",
    "is_large",
    "known_digest",
    "known_digests",
    "known_run",
    "large_runs_in_background",
    "list_page",
    "marks_of",
    "neighbours_of",
    "parse_query",
    "passes_of",
    "readiness",
    "row_of",
    "same_failures",
    "search",
    "shown_attempt",
    "signal_owners",
    "valued_cases",
    "within",
]

MOST_RUNS = 200
"""Runs of a suite that the page of a case looks at, the newest first."""
MOST_EXAMINED = 5_000
"""Passes of a run up to which each is looked at while somebody waits."""
ALIKE = 5
"""Failures with the same key that are named."""


class Neighbours(msgspec.Struct, frozen=True):
    """An attempt in the list that one came from."""

    at: int
    of: int
    previous: FailureRow | None
    following: FailureRow | None


class SameFailures(msgspec.Struct, frozen=True):
    """Failures of a run with the same failure key; where it has none of its own, in the same bucket."""

    key: str
    bucket: str
    count: int
    first: tuple[FailureRow, ...]


class RunPasses(msgspec.Struct, frozen=True):
    """Attempts of a run that passed."""

    run: Run
    total: int
    listed: tuple[Attempt, ...]
    """The first of them, in the order of the log."""
    suspicious: tuple[SuspiciousPass, ...] | None
    """None where there are too many passes to look at each."""


class ValuedCase(msgspec.Struct, frozen=True):
    """A case whose result is a number."""

    value: float
    """The mean of its attempts."""
    categories: tuple[str, ...]
    attempts: tuple[Attempt, ...]

    @property
    def tokens(self) -> int | None:
        known = [entry.usage.subject.tokens for entry in self.attempts if entry.usage.subject.tokens is not None]
        return sum(known) if known else None


class CaseInRun(msgspec.Struct, frozen=True):
    """The attempts of one run at a case; `rows` are those that failed."""

    stored: StoredRun
    attempts: tuple[Attempt, ...]
    rows: tuple[FailureRow, ...]
    is_ready: bool = True
    """False while a server works out the owners: then there are no rows."""


def shown_attempt(run: StoredRun, case: str, number: str, store: Store) -> ShownAttempt:
    """`number` is the attempt's index, with `SESSION.` before it in a run that was resumed, and `:PATH` of a child."""
    number, _, path = number.partition(":")
    session, _, index = number.rpartition(".")
    if not index.isdecimal() or not (session.isdecimal() or not session):
        raise NotFoundError(f"`{number}` is not the number of an attempt", hint="the first attempt has the number 1")
    made = attempt_id(run.run.id, case, session=int(session) if session else None, index=int(index), path=path)
    shown = find_shown(made, store, may_lack_owner=True)
    if not isinstance(shown, ShownAttempt):
        raise NotFoundError(f"Run `{run.run.native_id}` has no such attempt", hint="`errata failures RUN` lists them")
    return shown


def signal_owners(attribution: Attribution | None) -> dict[str, str]:
    """Signal → the owner that it points to, as far as a rule names one."""
    owners: dict[str, str] = {name: rule.owner for name, rule in rules_in_use().book.rules.items()}
    return owners | ({attribution.decided_by: attribution.owner} if attribution is not None else {})


def facets_of_run(stored: StoredRun, store: Store, filters: FailureFilters) -> Facets:
    ensure_indexed(stored, store)
    return facets_of(store, stored.run.id, filters)


def count_unreviewed(store: Store) -> int | None:
    """Failures without a verdict in all runs; none while some run is not in the index."""
    failed = {one.run.id for one in all_runs(store) if one.counts.failures and one.run.excluded is None}
    open_in = unreviewed_in(store)
    return sum(open_in[run_id] for run_id in failed) if failed <= open_in.keys() else None


def row_of(attempt: Attempt, stored: StoredRun, store: Store) -> FailureRow | None:
    """The row of a failure in the index; none of a pass, and none before a large run has rows."""
    if not attempt.is_failure:
        return None
    with suppress(NotReadyError):
        ensure_indexed(stored, store)
    matching = rows_by_attempt(store, [attempt.id]).get(attempt.id)
    return matching[1] if matching else None


def neighbours_of(row: FailureRow, stored: StoredRun, store: Store, filters: FailureFilters) -> Neighbours:
    return Neighbours(*rank_of(store, stored.run.id, filters, row.seq))


def same_failures(row: FailureRow, stored: StoredRun, store: Store) -> SameFailures | None:
    """None where nothing else fails in the same way."""
    if not row.key and not row.bucket:
        return None
    filters = FailureFilters(key=row.key) if row.key else FailureFilters(bucket=row.bucket)
    count = count_rows(store, stored.run.id, filters)
    listed = listed_rows(store, stored.run.id, filters, "log", limit=ALIKE + 1)
    others = tuple(entry for entry in listed if entry.seq != row.seq)[:ALIKE]
    return SameFailures(row.key, row.bucket, count, others) if others else None


def passes_of(stored: StoredRun, store: Store, *, limit: int) -> RunPasses:
    passed = (one for one in attempts_of(store, stored.pk, counted=True) if one.outcome == "pass")
    total = stored.counts.outcomes.get("pass", 0)
    odd = tuple(RunView(stored, store).suspicious_passes()) if total <= MOST_EXAMINED else None
    return RunPasses(stored.run, total, tuple(islice(passed, limit)), odd)


def valued_cases(stored: StoredRun, store: Store, *, first: int, limit: int) -> tuple[int, list[ValuedCase]]:
    """How many there are, and some of them, the worst value first."""
    total, values = values_of(store, stored.pk, first=first, limit=limit, highest=stored.run.lower_is_better)
    tried: dict[str, list[Attempt]] = {case: [] for case in values}
    for attempt in attempts_of(store, stored.pk, counted=True, only=values):
        tried[attempt.case].append(attempt)
    named = categories_of(store, stored.pk, values)
    return total, [ValuedCase(value, named.get(case, ()), tuple(tried[case])) for case, value in values.items()]


def case_over_runs(suite: str, case: str, store: Store) -> list[CaseInRun]:
    matching = []
    for stored in all_runs(store, suite=suite)[:MOST_RUNS]:
        tried = tuple(entry for entry in attempts_of(store, stored.pk, case=case) if entry.counted)
        if tried:
            try:
                ensure_indexed(stored, store)
            except NotReadyError:
                matching.append(CaseInRun(stored, tried, (), is_ready=False))
                continue
            rows = rows_by_attempt(store, [entry.id for entry in tried if entry.is_failure])
            matching.append(CaseInRun(stored, tried, tuple(row for _, row in rows.values())))
    return matching


def case_text(matching: Iterable[CaseInRun], store: Store) -> tuple[str, str]:
    """Task and expected answer, as the newest log that describes the case has them; else empty."""
    for entry in matching:
        case = case_of(store, entry.stored.pk, entry.attempts[0].case, entry.attempts[0].case_version)
        if case is not None and (case.input or case.expected):
            return _as_text(case.input), _as_text(case.expected)
    return "", ""


# large runs, in the background of a server


class Readiness(msgspec.Struct, frozen=True):
    """Whether the page of a run has what it shows, for the present state."""

    rows: bool
    digest: bool


def readiness(stored: StoredRun, store: Store) -> Readiness:
    mark, (rows, digest, _) = _marks(stored, store)
    return Readiness(rows == mark, digest == without_buckets(mark))


def _marks(stored: StoredRun, store: Store) -> tuple[str, tuple[str, str, str]]:
    return marks_of(store, [stored.run.id])[stored.run.id][1], index_marks(store, stored.run.id)


def is_derived(stored: StoredRun, store: Store) -> bool:
    """Whether `derive_run` has nothing to do."""
    mark, (rows, digest, texts) = _marks(stored, store)
    if rows != mark or digest != without_buckets(mark) or texts != without_buckets(mark):
        return False
    return is_triaged(stored, store) and are_buckets_fresh(stored, store)


def derive_run(run_id: str, store: Store, on_progress: Callable[[str, int, int], None]) -> None:
    """Whatever pages need of a large run; what the first page shows comes first.

    `on_progress` hears what is being worked out; of owners also how many, and of how many.
    """
    stored = run_by_id(store, run_id)
    total = stored.counts.failures
    on_progress("Owners", 0, total)
    triage_if_needed(stored, store, on_failure=lambda done: on_progress("Owners", done, total))
    on_progress("List and counts", 0, 0)
    ensure_indexed(stored, store)
    on_progress("Scores", 0, 0)
    digest_of(stored, store)
    facts_of(RunView(stored, store), timeouts=load_settings().timeouts)
    on_progress("Texts for the search", 0, 0)
    ensure_searchable_texts(stored, store)
    on_progress("Causes", 0, 0)
    same = [one for one in all_runs(store) if one.run.suite == stored.run.suite]
    ensure_all_buckets([RunView(one, store) for one in same], store)
    ensure_indexed(stored, store)


def _as_text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=str), indent=2).decode("utf-8", "replace")
