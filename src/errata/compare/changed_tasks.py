"""Which cases were not the same task in all of several runs, as far as their logs tell."""

from collections.abc import Sequence

from errata.compare.tasks import is_changed
from errata.model import Case
from errata.store.case_outcomes import cases_named
from errata.store.cells import digests_of
from errata.store.database import Store


def changed_cases(pks: Sequence[int], store: Store) -> set[str]:
    """Digests show where to look; but a log that tells less of a case has another digest, and no other task."""
    first: dict[str, str] = {}
    digests = digests_of(store, pks)
    every = ((case, digest) for told in digests.values() for case, digest in told.items())
    suspect = {case for case, digest in every if first.setdefault(case, digest) != digest}
    told: dict[str, list[Case]] = {}
    for pk in pks if suspect else ():
        for case in cases_named(store, pk, suspect):
            told.setdefault(case.key, []).append(case)
    return {key for key, cases in told.items() if is_changed(cases)}
