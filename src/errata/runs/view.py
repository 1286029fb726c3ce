"""One run as a command sees it: its facts as streams, and what is known of them, worked out once."""

from collections.abc import Iterator
from functools import cached_property

from errata.buckets.suggest import bucket_of
from errata.compare.changed_tasks import changed_cases
from errata.compare.sessions import Timeline
from errata.compare.trials import Timeouts
from errata.model import Attempt, Attribution, Bucket, Case, Run, StoredRun, Verdict
from errata.model.cell import Cell
from errata.runs.earlier_runs import earlier_of_same_model
from errata.runs.failures import Failure, Filters, failures_of
from errata.runs.history import Remembered, remember
from errata.runs.names import handle_of
from errata.runs.scores import Scores, score_run
from errata.runs.standings import Said, counts, standing_now
from errata.runs.summary import Analysis, Health, check_run, summarise
from errata.runs.suspicions import SuspiciousPass, suspicious_passes
from errata.runs.timeline import timeline_of
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import attempts_of, case_of, cases_of, categories_of, with_texts
from errata.store.attributions import attributions_of, broken_measurements
from errata.store.buckets import Slip, buckets_of
from errata.store.cells import cells_of
from errata.store.database import Store


class RunView:
    """Aggregates are cached for the length of a command; attempts and failures stay streams.

    The order is import → known gaps → triage → checkup → review → buckets → history → score. Whatever needs an earlier
    stage takes it from here, and only here is it decided whether triage or buckets are stale.
    """

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self.stored, self.store = stored, store
        self._scores: dict[tuple[Timeouts, bool], Scores] = {}

    @property
    def run(self) -> Run:
        return self.stored.run

    @cached_property
    def handle(self) -> str:
        """The shortest name by which the store finds the run."""
        return handle_of(self.stored, self.store)

    # facts

    def attempts(
        self,
        *,
        failures: bool = False,
        counted: bool = False,
        case: str = "",
        steps: bool = False,
        by_position: bool = False,
    ) -> Iterator[Attempt]:
        return attempts_of(
            self.store,
            self.stored.pk,
            failures=failures,
            counted=counted,
            case=case,
            steps=steps,
            by_position=by_position,
        )

    @cached_property
    def categories(self) -> dict[str, str]:
        """Case key → category, where there is one."""
        return categories_of(self.store, self.stored.pk)

    # triage

    @cached_property
    def attributions(self) -> dict[str, Attribution]:
        """Attempt → whom triage names. Triages first where that is missing or stale."""
        triage_if_needed(self.stored, self.store)
        return attributions_of(self.store, self.stored.pk)

    # checkup

    @cached_property
    def health(self) -> Health:
        return check_run(self.stored, self.store)

    # review

    @cached_property
    def standings(self) -> dict[str, Said]:
        """Attempt → its verdicts and the one that stands; without stale ones."""
        return standing_now(self.stored, self.store, attributed=self.attributions)

    @cached_property
    def counting_verdicts(self) -> dict[str, Verdict]:
        """Those that a score goes by."""
        return {attempt: said.standing.verdict for attempt, said in self.standings.items() if counts(said.standing)}

    # buckets

    @cached_property
    def buckets(self) -> dict[str, Slip]:
        """Attempt → its bucket. Suggests buckets first where they are missing and cost little."""
        return bucket_of(self.stored, self.store)

    # history

    @cached_property
    def history(self) -> Remembered:
        return remember(self.stored, self.store)

    # score

    def scores(self, *, timeouts: Timeouts = "count", to_pool: bool = False) -> Scores:
        key = timeouts, to_pool
        if key not in self._scores:
            self._scores[key] = score_run(self.stored, self.store, timeouts=timeouts, to_pool=to_pool)
        return self._scores[key]

    # everything joined

    def failures(self, filters: Filters | None = None, *, limit: int | None = None) -> Iterator[Failure]:
        """In the order of the conversation or suite, else of the log."""
        return failures_of(self.stored, self.store, filters or Filters(), limit=limit)

    @cached_property
    def summary(self) -> Analysis:
        return summarise(self.stored, self.store)

    # for reports

    def case(self, key: str) -> Case | None:
        """With its files; none where the log says nothing of it."""
        return case_of(self.store, self.stored.pk, key)

    def cases(self) -> Iterator[Case]:
        """Every case that the log describes, without the texts of its files."""
        return cases_of(self.store, self.stored.pk)

    def with_texts(self, attempt: Attempt) -> Attempt:
        """The attempt with the texts of its files."""
        return with_texts(self.store, attempt)

    @cached_property
    def cells(self) -> list[Cell]:
        """How every case went."""
        return cells_of(self.store, [self.stored.pk])

    @cached_property
    def broken_measurements(self) -> set[str]:
        """The attempts of which a signal says that the measurement, not the answer, is at fault."""
        return broken_measurements(self.store, self.stored.pk) if self.attributions else set()

    @cached_property
    def known_buckets(self) -> dict[str, Bucket]:
        """Those of the run's suite, by id."""
        return {one.id: one for one in buckets_of(self.store, self.run.suite)}

    @cached_property
    def timeline(self) -> Timeline:
        """Its sessions, and what the latest one hides."""
        return timeline_of(self.stored, self.store)

    def suspicious_passes(self) -> Iterator[SuspiciousPass]:
        return suspicious_passes(self.stored, self.store)

    @cached_property
    def previous(self) -> "RunView | None":
        """The newest earlier run of the same model and suite."""
        found = next(earlier_of_same_model(self.stored, self.store), None)
        return RunView(found, self.store) if found is not None else None

    def edited_since(self, before: "RunView") -> set[str]:
        """Cases whose task is not the same in an earlier run."""
        return changed_cases([before.stored.pk, self.stored.pk], self.store)
