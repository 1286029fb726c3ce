"""Suspicious passes (`failures --suspicious`): passes that deserve a second look. They are never rescored."""

from collections.abc import Callable, Iterator
from functools import lru_cache

import msgspec

from errata.model import Attempt, Case, Run, StoredRun
from errata.model.output.failures import SuspiciousPassOutput
from errata.model.run import case_name
from errata.store.attempts import attempts_of, case_of, cases_of, with_texts
from errata.store.database import Store
from errata.triage.suspicious import MEANS, Suspicion, suspicious

CASES_HELD = 1_024
MANY = 20_000


class SuspiciousPass(msgspec.Struct, frozen=True):
    run: Run
    suspicion: Suspicion

    @property
    def case_name(self) -> str:
        return case_name(self.run, self.suspicion.case)

    @property
    def means(self) -> str:
        return MEANS[self.suspicion.signal.name]

    def as_json(self) -> SuspiciousPassOutput:
        """The stable form: one object for each thing that is odd about a pass."""
        seen = self.suspicion
        return SuspiciousPassOutput(
            run=self.run.native_id,
            run_id=self.run.id,
            model=self.run.subject.model,
            case=self.case_name,
            case_key=seen.case,
            attempt=seen.index,
            session=seen.session,
            attempt_id=seen.attempt,
            outcome="pass",
            suspicion=seen.signal.name,
            strength=seen.signal.strength,
            where=seen.signal.where,
            quote=seen.signal.quote,
        )


def suspicious_passes(stored: StoredRun, store: Store) -> Iterator[SuspiciousPass]:
    """In the order of the log; what only many passes show follows at the end."""
    for seen in suspicious(stored.run, _passes(stored, store), _cases(stored, store)):
        yield SuspiciousPass(stored.run, seen)


def _cases(stored: StoredRun, store: Store) -> Callable[[str], Case | None]:
    """One by one where there are very many; else all are read at once, and only files are looked up."""
    one_by_one = lru_cache(CASES_HELD)(lambda key: case_of(store, stored.pk, key))
    if stored.counts.cases > MANY or not stored.counts.outcomes.get("pass"):
        return one_by_one
    known = {case.key: case for case in cases_of(store, stored.pk)}
    return lambda key: one_by_one(key) if key in known and known[key].artefacts else known.get(key)


def _passes(stored: StoredRun, store: Store) -> Iterator[Attempt]:
    """With their transcripts, and with the texts of patches."""
    for attempt in attempts_of(store, stored.pk, counted=True, outcome="pass", steps=True):
        yield with_texts(store, attempt) if any(one.role == "patch" for one in attempt.artefacts) else attempt
