"""Cross-cutting patterns of a run: its buckets of more than one failure, and whether earlier reports tell of them."""

from collections.abc import Iterable, Iterator

from errata.model import StoredRun
from errata.model.identity import split_attempt_id
from errata.report.collect.run_failures import Gathered
from errata.report.collect.shared import in_common
from errata.report.facts.run import Pattern
from errata.report.profiles.parts import named
from errata.report.washing import short_line
from errata.runs.causes import Causes
from errata.runs.history import Remembered
from errata.store.buckets import buckets_of
from errata.store.database import Store

SHARED = 2
TITLE, SHOWN = 120, 8


def shared_texts(causes: Causes, patterns: Iterable[Pattern], failures: int) -> Iterator[str]:
    """Texts that failures of different buckets share: a hint, and no cause that anybody has read."""
    told = {frozenset(one.cases) for one in patterns}
    for cause in causes.shared:
        if frozenset(cause.cases) not in told:
            text = f'"{cause.text}"' if cause.verbatim else cause.text
            yield f"{short_line(text, TITLE)} in {cause.count} of {failures}: {named(cause.cases, SHOWN)}"


def patterns_of(stored: StoredRun, store: Store, gathered: Gathered, remembered: Remembered) -> tuple[Pattern, ...]:
    """Buckets of more than one failure, the largest first."""
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
                final=bucket.status == "final",
                parameters=in_common(bucket.parameters),
                documented=_documented([gathered.ids[at] for at in places], remembered),
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.rows, one.title)))


def _documented(attempts: Iterable[str], remembered: Remembered) -> str:
    """Earlier reports that name one of the failures."""
    dates: dict[str, int] = {}
    for attempt in attempts:
        for one in remembered.named.cases.get(split_attempt_id(attempt).case, ()):
            dates[one.date] = dates.get(one.date, 0) + 1
    return f"yes: {', '.join(f'{date} ({often} of them)' for date, often in sorted(dates.items()))}" if dates else ""
