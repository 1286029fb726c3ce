"""What a comparison needs of each run. A run may have a million attempts: what was found is kept beside it."""

from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from errata import compare, model
from errata.compare.patterns import pattern_of
from errata.compare.policies import scores_of
from errata.compare.scores import Policy, Score
from errata.compare.trials import Opinions, Timeouts, Trials
from errata.errors import StoreError
from errata.model import Attempt, StoredRun, split_attempt_id
from errata.model.cell import Cell, CellState
from errata.model.codec import pack
from errata.model.identity import fingerprint
from errata.runs.scores import opinions_on
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import attempts_of
from errata.store.buckets import bucket_marks
from errata.store.cells import cells_of, digests_of, failed_checks_by_case
from errata.store.database import Store
from errata.store.summaries import keep_summary, kept_summary

_Cell = tuple[str, CellState, int, int, int, int | None]
"""Without the run's number."""


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """Of one run as a whole, in the form that is kept."""

    unavailable: bool
    scored: bool
    """Whether anything in it was."""
    scores: dict[Policy, Score]
    cells: list[_Cell]
    failed_checks: dict[str, dict[str, int]]
    """Check → case → in how many attempts it failed."""
    patterns: dict[str, dict[str, int]]
    """Case → what stood in the place of its answers, and how often."""
    roots: dict[str, str]
    """Case → the case whose failure it only follows from."""
    tasks: str
    """The same for two runs whose logs tell the same task for every case."""


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    stored: StoredRun
    summary: Summary
    timeouts: Timeouts
    to_pool: bool

    def scores(self, cases: Collection[str] | None, store: Store) -> dict[Policy, Score]:
        """Under each policy; over some cases alone, where they are named."""
        if cases is None:
            return self.summary.scores
        opinions = opinions_on(self.stored, store)
        attempts = attempts_of(store, self.stored.pk)
        trials = Trials(self.stored.run, attempts, opinions, timeouts=self.timeouts, to_pool=self.to_pool)
        return scores_of(trials.only(cases))

    def cells(self) -> Iterator[Cell]:
        return (Cell(self.stored.pk, *cell) for cell in self.summary.cells)

    def why_left_out(self) -> str:
        """Why the run is in no comparison; empty where it is."""
        excluded = self.stored.run.excluded
        if excluded is not None:
            return f"excluded: {excluded.reason}"
        if self.summary.unavailable:
            return "unavailable: every attempt ended in one error before the subject was reached"
        return "" if self.summary.scored else "nothing in it was scored"


def facts_of(stored: StoredRun, store: Store, *, timeouts: Timeouts = "count", to_pool: bool = False) -> RunFacts:
    triage_if_needed(stored, store)
    kind = f"comparison, timeouts {timeouts}{', to be pooled' if to_pool else ''}"
    version = _version(stored, store)
    summary = _kept(stored, store, kind, version)
    if summary is None:
        summary = _summary(stored, store, timeouts=timeouts, to_pool=to_pool)
        with suppress(StoreError):  # a store that can only be read still tells all
            keep_summary(store, stored.pk, kind, version, pack(summary))
    return RunFacts(stored=stored, summary=summary, timeouts=timeouts, to_pool=to_pool)


def _kept(stored: StoredRun, store: Store, kind: str, version: str) -> Summary | None:
    data = kept_summary(store, stored.pk, kind, version)
    try:
        return None if data is None else _decoder.decode(data)
    except msgspec.DecodeError:
        return None


_decoder = msgspec.msgpack.Decoder(Summary)


def _version(stored: StoredRun, store: Store) -> str:
    """Facts never change under a run's number; what is thought of them does, and so does how they are counted."""
    mark = bucket_marks(store, [stored.run.id])[stored.run.id]
    return f"{_code()}+{mark.triaged}+{mark.verdicts}:{mark.newest}"


@cache
def _code() -> str:
    """Over the code that counts, so that no summary outlives a change of it."""
    found = blake2b(digest_size=8)
    folders = [Path(path) for package in (compare, model) for path in package.__path__]
    for file in sorted(file for folder in folders for file in folder.glob("*.py")):
        found.update(file.read_bytes())
    found.update(Path(__file__).read_bytes())
    return found.hexdigest()


def _summary(stored: StoredRun, store: Store, *, timeouts: Timeouts, to_pool: bool) -> Summary:
    opinions = opinions_on(stored, store)
    patterns: dict[str, dict[str, int]] = {}
    roots: dict[str, str] = {}
    watched = _watched(attempts_of(store, stored.pk), opinions, patterns, roots)
    trials = Trials(stored.run, watched, opinions, timeouts=timeouts, to_pool=to_pool)
    cells = cells_of(store, [stored.pk])
    failed: dict[str, dict[str, int]] = {}
    for _, case, check, often in failed_checks_by_case(store, [stored.pk]):
        failed.setdefault(check, {})[case] = often
    return Summary(
        unavailable=trials.unavailable,
        scored=any(one.measurement == "scored" for one in trials.rows),
        scores=scores_of(trials),
        cells=[(one.case, one.state, one.attempts, one.passes, one.fails, one.position) for one in cells],
        failed_checks=failed,
        patterns=patterns,
        roots=roots,
        tasks=fingerprint(digests_of(store, [stored.pk])[stored.pk]),
    )


def _watched(
    attempts: Iterable[Attempt], opinions: Opinions, patterns: dict[str, dict[str, int]], roots: dict[str, str]
) -> Iterator[Attempt]:
    for attempt in attempts:
        if attempt.counted:
            said = opinions.attributions.get(attempt.id)
            if pattern := pattern_of(attempt, said):
                seen = patterns.setdefault(attempt.case, {})
                seen[pattern] = seen.get(pattern, 0) + 1
            if root := attempt.follows or (said.follows if said else ""):
                roots[attempt.case] = split_attempt_id(root).case
        yield attempt
