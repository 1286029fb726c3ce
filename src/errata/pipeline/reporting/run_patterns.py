"""Cross-cutting patterns of a run: its buckets of more than one failure, and whether earlier reports tell of them."""

from collections.abc import Iterable

from errata.model import StoredRun
from errata.model.identity import split_attempt_id
from errata.pipeline.causes import Cause, Causes
from errata.pipeline.failures import case_name
from errata.pipeline.remembering import Remembered
from errata.pipeline.reporting.run_failures import Gathered
from errata.report.facts.run import Pattern
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.text.clean import one_line

SHARED = 2
TITLE = 120


def patterns_of(
    stored: StoredRun, store: Store, gathered: Gathered, remembered: Remembered, causes: Causes
) -> tuple[Pattern, ...]:
    """Buckets, the largest first; then texts that failures of different buckets share."""
    found = _buckets(stored, store, gathered, remembered)
    told = {frozenset(one.cases) for one in found}
    shared = (_shared(cause, gathered, remembered, stored) for cause in causes.shared)
    return (*found, *(one for one in shared if frozenset(one.cases) not in told))


def _shared(cause: Cause, gathered: Gathered, remembered: Remembered, stored: StoredRun) -> Pattern:
    cases = frozenset(cause.cases)
    attempts = [one for one in gathered.ids if case_name(stored.run, split_attempt_id(one).case) in cases]
    text = f'the log says "{cause.text}"' if cause.verbatim else f"the log says: {cause.text}"
    return Pattern(
        title=one_line(text, TITLE),
        cases=cause.cases,
        rows=cause.count,
        state="a shared text, not a cause that was read",
        documented=_documented(attempts, remembered),
    )


def _buckets(stored: StoredRun, store: Store, gathered: Gathered, remembered: Remembered) -> list[Pattern]:
    members: dict[str, list[int]] = {}
    for at, attempt in enumerate(gathered.ids):
        if attempt in gathered.slips:
            members.setdefault(gathered.slips[attempt].id, []).append(at)
    known = {one.id: one for one in buckets_of(store, stored.run.suite)}
    found = []
    for bucket_id, places in members.items():
        if len(places) < SHARED or bucket_id not in known:
            continue
        bucket, failures = known[bucket_id], [gathered.failures[at] for at in places]
        read = sum(one.reviewed for one in failures)
        found.append(
            Pattern(
                title=bucket.title,
                cases=tuple(dict.fromkeys(one.case for one in failures)),
                rows=len(failures),
                state=f"{bucket.status}, {read} of {len(failures)} read",
                parameters=", ".join(f"{name} {value}" for name, value in bucket.parameters.items()),
                documented=_documented([gathered.ids[at] for at in places], remembered),
            )
        )
    return sorted(found, key=lambda one: (-one.rows, one.title))


def _documented(attempts: Iterable[str], remembered: Remembered) -> str:
    """Earlier reports that name one of the failures."""
    dates: dict[str, int] = {}
    for attempt in attempts:
        for one in remembered.named.cases.get(split_attempt_id(attempt).case, ()):
            dates[one.date] = dates.get(one.date, 0) + 1
    return "; ".join(f"{date}: {often} of them" for date, often in sorted(dates.items()))
