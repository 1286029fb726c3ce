"""The attribution of each sample: the log is copied, changed, imported and triaged as a user's would be."""

import shutil
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from bench.triage.logs import FIXTURES, Target, copy_of
from bench.triage.samples import Sample, place_of
from bench.triage.soundness import is_meant
from errata.model import Attribution, Run
from errata.runs.importing import import_paths
from errata.runs.triaging import triage_run
from errata.store.attributions import attributions_of
from errata.store.database import open_store
from errata.store.runs import run_by_id

NO_FAILURE = "no failure"
"""What is found where errata does not count the attempt as a failure at all."""


class TriagedFailure(msgspec.Struct, frozen=True):
    run: Run
    attribution: Attribution


class Tried(msgspec.Struct, frozen=True):
    """A sample and its attribution."""

    sample: Sample
    owner: str
    also: tuple[str, ...] = ()
    decided_by: str = ""
    quote: str = ""

    @property
    def right(self) -> bool:
        return self.owner == self.sample.owner

    @property
    def names_the_second(self) -> bool:
        wanted = self.sample.template.also if self.sample.template else ()
        return set(wanted) <= set(self.also)


class Trials:
    """A folder to try samples in, one after the other."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        open_store(scratch / "empty.db").engine.dispose()
        self._untouched = cache(self._read_untouched)

    def all(self, samples: Iterable[Sample]) -> Iterator[Tried]:
        for sample in samples:
            yield from self._try(sample)

    def _try(self, sample: Sample) -> Iterator[Tried]:
        if sample.template is None:
            assert sample.target is not None
            yield from _answers(sample, self._untouched(sample.fixture), sample.target)
            return
        copied = copy_of(sample.fixture, self._scratch)
        target = place_of(sample).inject(copied, sample.template)
        yield from _answers(sample, self._read(copied), target)

    def _read_untouched(self, fixture: str) -> list[TriagedFailure]:
        return self._read(FIXTURES / fixture / "data")

    def _read(self, path: Path) -> list[TriagedFailure]:
        """In a store of its own: what another sample made of the same run must not matter."""
        shutil.copyfile(self._scratch / "empty.db", self._scratch / "errata.db")
        store = open_store(self._scratch / "errata.db")
        triaged = []
        # all of them before the first is triaged: what one run shows may tell of another
        imported = [run_by_id(store, run.id) for summary in import_paths([path], store) for run in summary.runs]
        for stored in imported:
            triage_run(stored, store)
            attributions = attributions_of(store, stored.pk)
            triaged += [TriagedFailure(stored.run, attribution) for attribution in attributions.values()]
        store.engine.dispose()
        for left in self._scratch.glob("errata.db*"):
            left.unlink()
        return triaged


def _answers(sample: Sample, triaged: list[TriagedFailure], target: Target) -> Iterator[Tried]:
    """One answer; for a label without a number, one for each attempt at the case."""
    hits = [one for one in triaged if is_meant(one.attribution.attempt, one.run, target)]
    if not hits:
        yield Tried(sample, NO_FAILURE)
    for hit in hits:
        attribution = hit.attribution
        quote = next((signal.quote for signal in attribution.signals if signal.name == attribution.decided_by), "")
        yield Tried(sample, attribution.owner, attribution.also, attribution.decided_by, quote)
