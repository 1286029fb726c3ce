"""Passes that deserve a second look, as a list of their own: they are flagged, never scored anew."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from errata.cli.output import plural, put
from errata.cli.table import put_table
from errata.errors import SettingsError
from errata.model import StoredRun
from errata.model.attempt import Filters
from errata.runs.suspicions import SuspiciousPass, suspicious_passes
from errata.verbs.store import Store

HEADER = ("case", "suspicion", "conf", "where", "quote")


def suspicions_of(
    stored: StoredRun, store: Store, filters: Filters, limit: int | None = None
) -> Iterator[SuspiciousPass]:
    if filters != Filters(case=filters.case):
        raise SettingsError(
            "`--suspicious` lists passes, which have no owner and no failed check",
            hint="`--case` and `--limit` go with it; the other filters are for failures",
        )
    found = (one for one in suspicious_passes(stored, store) if filters.case in one.case_name)
    return islice(found, limit)


def show_suspicions(
    stored: StoredRun, found: Iterable[SuspiciousPass], *, limit: int | None = None, raw: bool = False
) -> int:
    listed = list(found)
    passes = stored.counts.outcomes.get("pass", 0)
    if listed:
        put_table(HEADER, [_row(one) for one in listed], give_way=("quote", "where"), raw=raw)
        put()
    meanings = Counter((one.suspicion.signal.name, one.means) for one in listed)
    for (name, means), count in meanings.most_common():
        put(f"{count:>4,}× {name}: {means}", hang=6)
    odd = len({one.suspicion.attempt for one in listed})
    least = "at least " if limit is not None and len(listed) == limit else ""
    told = f"{least}{odd:,} of {plural(passes, 'pass', 'passes')} to be looked at again"
    put(f"{told} · every score counts them as passed")
    return len(listed)


def _row(one: SuspiciousPass) -> tuple[str, ...]:
    seen = one.suspicion
    number = f" #{seen.index}" if seen.index > 1 else ""
    return (one.case_name + number, seen.signal.name, seen.signal.strength, seen.signal.where, seen.signal.quote or "–")
