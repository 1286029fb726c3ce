"""Suspicious passes (`failures --suspicious`): passes that deserve a second look. They are never rescored.

A pass is suspicious from one sign on that is at least likely. Weak signs are listed, and counted apart. A row that
another row of the same attempt contradicts is not a pass.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import lru_cache

import msgspec

from errata.errors import StoreError
from errata.model import Attempt, Case, Run, StoredRun
from errata.model.output.failures import SuspiciousPassOutput
from errata.model.run import case_name
from errata.store.attempts import attempts_of, case_book_of, case_of, with_texts
from errata.store.case_outcomes import cells_of
from errata.store.database import Store
from errata.store.runs import keep_summary, kept_summary
from errata.triage.rulesets import FUNCTIONS_VERSION
from errata.triage.suspicious import MEANS, CaseLookup, Suspicion, SuspicionWatch, is_strong, suspicious

CASES_HELD = 1_024
MANY = 20_000
MOST_KEPT = 5_000
KIND = "suspicious passes"


class SuspiciousCount(msgspec.Struct, frozen=True, array_like=True):
    """How many passes of a run are suspicious: the one number for every page."""

    suspicious: int = 0
    only_weak: int = 0
    """Passes with weak signs and no other."""
    contradictory: int = 0
    """Rows that passed and that another row of the same attempt contradicts; not looked at."""
    signs: dict[str, int] = {}
    """Sign → suspicious passes that have it, those of most passes first; empty as counted by earlier versions."""


class SuspicionTally:
    """Sees the attempts of another pass; the passes among them need their transcripts."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store
        self._watch = SuspicionWatch(stored.run, _cases(stored, store))
        self._contradictory = contradictory_passes(stored, store)
        self._strong: set[str] = set()
        self._weak: set[str] = set()
        self._signs: defaultdict[str, set[str]] = defaultdict(set)
        self._listed: list[Suspicion] | None = []

    def add(self, attempt: Attempt) -> None:
        if attempt.outcome == "pass" and attempt.counted and attempt.case not in self._contradictory:
            self._take(self._watch.add(with_work(attempt, self._store)))

    def finish(self) -> SuspiciousCount:
        self._take(self._watch.finish())
        contradictory = sum(self._contradictory.values())
        signs = dict(Counter({sign: len(attempts) for sign, attempts in self._signs.items()}).most_common())
        counted = SuspiciousCount(len(self._strong), len(self._weak - self._strong), contradictory, signs)
        with suppress(StoreError):  # a store that can only be read counts again
            keep_summary(self._store, self._stored.pk, KIND, _version(self._stored), msgspec.msgpack.encode(counted))
        return counted

    @property
    def passes(self) -> "list[SuspiciousPass] | None":
        """None where there are too many to be held."""
        return None if self._listed is None else [SuspiciousPass(self._stored.run, one) for one in self._listed]

    def _take(self, suspicions: Iterable[Suspicion]) -> None:
        for sign in suspicions:
            (self._strong if is_strong(sign) else self._weak).add(sign.attempt)
            if is_strong(sign):
                self._signs[sign.signal.name].add(sign.attempt)
            if self._listed is not None:
                self._listed.append(sign)
                if len(self._listed) > MOST_KEPT:
                    self._listed = None


def count_suspicious(passes: "Iterable[SuspiciousPass]") -> SuspiciousCount:
    strong: dict[str, bool] = {}
    for suspect in passes:
        seen = suspect.suspicion
        strong[seen.attempt] = strong.get(seen.attempt, False) or is_strong(seen)
    return SuspiciousCount(sum(strong.values()), len(strong) - sum(strong.values()))


def _version(stored: StoredRun) -> str:
    return f"{FUNCTIONS_VERSION}+{stored.digest}"


def counted_before(stored: StoredRun, store: Store) -> SuspiciousCount | None:
    """As counted when the run was analysed; none where it was not, or by other rules."""
    if not stored.counts.outcomes.get("pass"):
        return SuspiciousCount()
    data = kept_summary(store, stored.pk, KIND, _version(stored))
    try:
        return None if data is None else _decoder.decode(data)
    except msgspec.DecodeError:
        return None


_decoder = msgspec.msgpack.Decoder(SuspiciousCount)


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
            stated=seen.signal.stated,
        )


def suspicious_passes(stored: StoredRun, store: Store) -> Iterator[SuspiciousPass]:
    """In the order of the log; what only many passes show follows at the end."""
    for seen in suspicious(stored.run, _passes(stored, store), _cases(stored, store)):
        yield SuspiciousPass(stored.run, seen)


def _cases(stored: StoredRun, store: Store) -> CaseLookup:
    """One by one where there are very many; else all are read at once, and only files are looked up."""
    with_files = lru_cache(CASES_HELD)(lambda key, version: case_of(store, stored.pk, key, version))
    if stored.counts.cases > MANY or not stored.counts.outcomes.get("pass"):
        return lambda attempt: with_files(attempt.case, attempt.case_version)
    book = case_book_of(store, stored.pk)

    def case_for(attempt: Attempt) -> Case | None:
        known = book.of(attempt)
        return with_files(attempt.case, attempt.case_version) if known is not None and known.artefacts else known

    return case_for


def _passes(stored: StoredRun, store: Store) -> Iterator[Attempt]:
    contradictory = contradictory_passes(stored, store)
    for attempt in attempts_of(store, stored.pk, counted=True, outcome="pass", steps=True):
        if attempt.case not in contradictory:
            yield with_work(attempt, store)


def contradictory_passes(stored: StoredRun, store: Store) -> dict[str, int]:
    """Cases whose rows repeat one attempt and contradict each other → how many of these rows passed."""
    if stored.counts.counted <= stored.counts.cases:
        return {}
    return {cell.case: cell.passes for cell in cells_of(store, [stored.pk]) if cell.state == "contradictory"}


def with_work(attempt: Attempt, store: Store) -> Attempt:
    """With the texts of patches, and of the agent's log where there is no transcript."""
    wanted = any(one.role == "patch" or (one.role == "log" and not attempt.steps) for one in attempt.artefacts)
    return with_texts(store, attempt) if wanted else attempt
