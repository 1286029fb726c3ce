"""The verb `consistency`: repeated runs of each subject, case by case and check by check."""

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from errata.compare.changed_tasks import changed_cases
from errata.compare.consistency import Study, Tries
from errata.compare.matrix import subject_names
from errata.errors import ErrataError
from errata.model import Attempt, StoredRun, split_attempt_id
from errata.model.run import case_name
from errata.model.times import moment_of
from errata.runs.names import short
from errata.store.attempts import attempts_of
from errata.store.database import Store

LISTED = 5


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One of several equivalent tries at all cases: a run, or an epoch of one."""

    index: int
    """Counted from 1 over the runs in the order of their start."""
    stored: StoredRun
    epoch: int | None = None
    """None where the run tried every case once."""

    @property
    def run_id(self) -> str:
        """As the harness names it."""
        return self._numbered(self.stored.run.native_id)

    @property
    def name(self) -> str:
        return self._numbered(short(self.stored.run.native_id))

    def _numbered(self, name: str) -> str:
        return name if self.epoch is None else f"{name}#{self.epoch}"


class Consistency(msgspec.Struct, frozen=True, kw_only=True):
    """One subject on one suite, in one version of it."""

    subject: str
    suite: str
    suite_version: str
    columns: tuple[Column, ...]
    study: Study
    judged_twice: int
    """Attempts that several judges have judged."""

    @property
    def benchmark(self) -> str:
        return " ".join(filter(None, (self.suite, self.suite_version)))

    @property
    def runs(self) -> list[StoredRun]:
        return list({one.stored.pk: one.stored for one in self.columns}.values())

    def name_of(self, case: str) -> str:
        return case_name(self.columns[0].stored.run, case)


class Consistencies(msgspec.Struct, frozen=True, kw_only=True):
    studies: tuple[Consistency, ...]
    left_out: tuple[tuple[StoredRun, str], ...]
    """Runs that are in no study, and why."""


def consistency_of(runs: Sequence[StoredRun], store: Store) -> Consistencies:
    """A study for each subject and suite, in the order in which they are first named."""
    out = tuple((one, why) for one in runs if (why := _why_left_out(one)))
    left = [one for one in runs if not _why_left_out(one)]
    together: dict[tuple[str, str, str], list[StoredRun]] = {}
    for name, stored in zip(subject_names([one.run for one in left]), left, strict=True):
        together.setdefault((name, stored.run.suite, stored.run.suite_version), []).append(stored)
    studies = tuple(_study(subject, those, store) for (subject, _, _), those in together.items())
    return Consistencies(studies=studies, left_out=out)


def refuse_duplicates(studies: Sequence[Consistency]) -> None:
    """Raised after everything else was told: the other cases are none the worse for it."""
    found = [
        (one.columns[column - 1].name, one.name_of(case)) for one in studies for column, case in one.study.duplicates
    ]
    if not found:
        return
    named = ", ".join(f"`{case}` of run `{run}`" for run, case in found[:LISTED])
    more = f" and {len(found) - LISTED} more" if len(found) > LISTED else ""
    raise ErrataError(
        f"Several rows for one case of one run, which are in no count: {named}{more}",
        hint=f"`errata check {found[0][0]}` shows them; repeat these cases, or leave the run out",
    )


def numbered(stored: StoredRun, store: Store, *, steps: bool = False) -> Iterator[tuple[int, Attempt]]:
    """The counted attempts of a run, each with its epoch; a second row for one try has the epoch of the first."""
    for attempt in attempts_of(store, stored.pk, counted=True, steps=steps, by_position=True):
        first = attempt.duplicate_of
        yield (attempt.index if first is None else split_attempt_id(first).index), attempt


def _why_left_out(stored: StoredRun) -> str:
    if stored.run.excluded is not None:
        return f"excluded: {stored.run.excluded.reason}"
    return "" if stored.counts.measurements.get("scored") else "nothing in it was scored"


def _study(subject: str, runs: Sequence[StoredRun], store: Store) -> Consistency:
    ordered = sorted(runs, key=lambda one: (moment_of(one.run.started_at or one.imported_at), one.run.native_id))
    tries, judged_twice = Tries(), 0
    for at, stored in enumerate(ordered):
        for epoch, attempt in numbered(stored, store):
            tries.add((at, epoch), attempt)
            judged_twice += len(attempt.judgements) > 1
    study, run = tries.study(changed=changed_cases([one.pk for one in ordered], store)), ordered[0].run
    often = Counter(at for at, _ in study.columns)
    return Consistency(
        subject=subject,
        suite=run.suite,
        suite_version=run.suite_version,
        columns=tuple(
            Column(index=number, stored=ordered[at], epoch=epoch if often[at] > 1 else None)
            for number, (at, epoch) in enumerate(study.columns, 1)
        ),
        study=study,
        judged_twice=judged_twice,
    )
