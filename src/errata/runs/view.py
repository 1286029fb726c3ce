"""One run as a command sees it: its facts as streams, and what is known of them, worked out once."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain, islice
from typing import NamedTuple

import msgspec

from errata import checkup
from errata.checkup.odd_numbers import RecomputedHeadline
from errata.checkup.survey import RunSurvey
from errata.compare.as_reported import as_reported
from errata.compare.costs import Tiers
from errata.compare.scores import Score
from errata.compare.sessions import Timeline, timeline
from errata.compare.stored import changed_cases
from errata.compare.trials import Opinions, Timeouts, Trials
from errata.errors import StoreError
from errata.model import Attempt, Attribution, Bucket, BucketPlace, Case, Run, StoredRun, Verdict
from errata.model.case_versions import CaseBook
from errata.model.cells import Cell
from errata.model.filters import Filters
from errata.model.standing import AttemptReview
from errata.model.suspects import SuspectTasks
from errata.runs.bucketing import FEW, ensure_buckets
from errata.runs.failures import Failure, join_failures
from errata.runs.first_page import best_of, doubts_of
from errata.runs.history import RunHistory, earlier_of_same_model, predecessor_of
from errata.runs.names import handle_of
from errata.runs.scores import Scores, opinions_of, score_trials
from errata.runs.standings import counts, standing_now
from errata.runs.summary import Analysis, FailureTally, Health, summarise
from errata.runs.suspect_tasks import runs_beside, suspect_tasks
from errata.runs.suspicions import (
    SuspicionTally,
    SuspiciousCount,
    SuspiciousPass,
    counted_before,
    suspicious_passes,
)
from errata.runs.triaging import triage_if_needed
from errata.sources import harness_of
from errata.store.attempts import attempts_of, case_book_of, case_of, cases_of, categories_of, with_texts
from errata.store.attributions import attributions_of, broken_measurements
from errata.store.buckets import bucket_marks, bucket_places, buckets_of
from errata.store.case_outcomes import cells_of, last_attempts
from errata.store.case_versions import versions_of
from errata.store.database import Store
from errata.store.runs import keep_findings, unreadables_of

MOST_VERSIONS = 5_000


MOST_SEARCHED = 2_000


class Overview(NamedTuple):
    health: Health
    tally: FailureTally
    scores: Scores
    suspicious: SuspiciousCount
    suspicious_passes: list[SuspiciousPass] | None
    """None where there are too many to be held."""


class RunView:
    """Aggregates are cached for the length of a command; attempts and failures stay streams.

    The order is import → known gaps → triage → checkup → review → buckets → history → score. Whatever needs an earlier
    stage takes it from here, and only here is it decided whether triage or buckets are stale.
    """

    def __init__(
        self,
        stored: StoredRun,
        store: Store,
        *,
        verdicts: Mapping[str, Verdict] | None = None,
        now: datetime | None = None,
        is_triaged: bool = False,
    ) -> None:
        """With `verdicts`, scores go by these and not by those of the store. `is_triaged`: owners are up to date."""
        self.stored, self.store = stored, store
        self._now = now or datetime.now(UTC)
        self._verdicts = verdicts
        self._is_triaged = is_triaged
        self._scores: dict[tuple[Timeouts, bool], Scores] = {}

    @property
    def run(self) -> Run:
        return self.stored.run

    @cached_property
    def handle(self) -> str:
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
    def categories(self) -> dict[str, tuple[str, ...]]:
        """Case key → its categories, the main one first; without cases that have none."""
        return categories_of(self.store, self.stored.pk)

    @property
    def last_attempts(self) -> dict[str, int]:
        """Case key → how many attempts it has; empty where no case has several."""
        counts = self.stored.counts
        return last_attempts(self.store, self.stored.pk) if counts.attempts_in_log > counts.cases else {}

    # triage, with known gaps

    @cached_property
    def attributions(self) -> dict[str, Attribution]:
        self.ensure_triaged()
        return attributions_of(self.store, self.stored.pk)

    def ensure_triaged(self) -> None:
        if not self._is_triaged:
            triage_if_needed(self.stored, self.store)
            self._is_triaged = True

    @cached_property
    def broken(self) -> frozenset[str]:
        self.ensure_triaged()
        return frozenset(broken_measurements(self.store, self.stored.pk))

    @cached_property
    def suspects(self) -> SuspectTasks:
        self.ensure_triaged()
        return suspect_tasks(runs_beside(self.stored, self.store), self.store)

    # checkup

    @cached_property
    def health(self) -> Health:
        if "overview" in self.__dict__:
            return self.overview.health
        attempts, conclude = self.attempts_to_examine()
        return conclude(as_reported(Trials(self.run, attempts)))

    def attempts_to_examine(self) -> tuple[Iterator[Attempt], Callable[[Score], Health]]:
        """Every attempt, examined as it passes by; then, given the harness's own number recomputed, the health."""
        survey = self._survey()
        return _watch(self.attempts(), survey), lambda reported: self._health(survey, reported)

    def _survey(self) -> RunSurvey:
        unreadables = tuple(unreadables_of(self.store, self.stored.pk))
        unit = harness_of(self.run.source.name).unit or "case"
        return RunSurvey(run=self.run, unreadables=unreadables, now=self._now, unit=unit)

    def _health(self, survey: RunSurvey, reported: Score) -> Health:
        """The findings are kept beside the run. `reported` is the harness's own number, recomputed."""
        survey.headline = differing_headline(self.run, reported)
        if survey.duplicates:
            survey.find_originals(self.attempts())
        checkup.look_up_identical(survey, self.attempts(), self.case)
        checkup.look_up_versions(survey, self._descriptions())
        checkup.look_up_mentions(survey, islice(cases_of(self.store, self.stored.pk), MOST_SEARCHED))
        findings = checkup.findings_in(survey)
        with suppress(StoreError):  # a store that can only be read still shows them
            keep_findings(self.store, self.stored, findings)
        return Health(checkup.is_fit(findings), findings, doubts_of(findings))

    def _descriptions(self) -> Iterator[Case]:
        """Of the cases whose rows differ, each description; up to a number that no sound run has."""
        later = [case for _, case in islice(versions_of(self.store, self.stored.pk), MOST_VERSIONS)]
        first = (self.case(key) for key in dict.fromkeys(case.key for case in later))
        return chain((case for case in first if case is not None), later)

    # review

    @cached_property
    def _has_verdicts(self) -> bool:
        """Also true where nobody knows: of a run that is not current any more."""
        mark = bucket_marks(self.store, [self.run.id]).get(self.run.id)
        return mark is None or mark.verdicts > 0

    @cached_property
    def standings(self) -> dict[str, AttemptReview]:
        """Attempt → its verdicts and the standing one; without stale ones."""
        if not self._has_verdicts:
            return {}
        return standing_now(self.stored, self.store, attributed=self.attributions)

    @cached_property
    def counting_verdicts(self) -> Mapping[str, Verdict]:
        if self._verdicts is not None:
            return self._verdicts
        return {attempt: said.standing.verdict for attempt, said in self.standings.items() if counts(said.standing)}

    # buckets

    @cached_property
    def buckets(self) -> dict[str, BucketPlace]:
        """Attempt → its bucket. Suggests buckets first where they are missing and cost little."""
        ensure_buckets(self)
        return bucket_places(self.store, self.run.id)

    def bucket_of(self, attempt: str) -> BucketPlace | None:
        """Of one failure, for those who look at one after the other and do not want to wait."""
        ensure_buckets(self, most=FEW)
        return bucket_places(self.store, self.run.id, [attempt]).get(attempt)

    # history

    @cached_property
    def history(self) -> RunHistory:
        return RunHistory(self.stored, self.store)

    # score

    @cached_property
    def opinions(self) -> Opinions:
        return opinions_of(self.attributions, self.broken, self.counting_verdicts, self._reviewed)

    def opinions_to_count_by(self) -> Opinions:
        """The same, not kept in memory: a comparison may have many large runs."""
        self.ensure_triaged()
        attributions = attributions_of(self.store, self.stored.pk)
        return opinions_of(attributions, self.broken, self.counting_verdicts, self._reviewed)

    @property
    def _reviewed(self) -> set[str] | None:
        """Attempts with a verdict of their own; none where scores go by verdicts that were given."""
        if self._verdicts is not None:
            return None
        return {attempt for attempt, said in self.standings.items() if said.standing.verdict.inherited_from is None}

    def scores(self, *, timeouts: Timeouts = "count", to_pool: bool = False) -> Scores:
        if (timeouts, to_pool) == ("count", False) and "overview" in self.__dict__:
            return self.overview.scores
        key = timeouts, to_pool
        if key not in self._scores:
            tiers = Tiers()
            attempts = _watch(self.attempts(), tiers)
            trials = Trials(self.run, attempts, self.opinions, timeouts=timeouts, to_pool=to_pool)
            self._scores[key] = score_trials(self.stored, trials, tiers, self.categories, self.opinions)
        return self._scores[key]

    @cached_property
    def timeline(self) -> Timeline:
        opinions = Opinions(attributions=self.attributions, broken=self.broken, verdicts=self.counting_verdicts)
        return timeline(self.run, self.attempts(), opinions)

    # everything joined

    @cached_property
    def overview(self) -> Overview:
        survey, tiers = self._survey(), Tiers()
        tally, odd = FailureTally(self.categories), SuspicionTally(self.stored, self.store)
        attempts = attempts_of(self.store, self.stored.pk, steps_of_passes=True)
        trials = Trials(self.run, _watch(attempts, survey, tally, tiers, odd), self.opinions)
        scores = score_trials(self.stored, trials, tiers, self.categories, self.opinions)
        health, suspicious = self._health(survey, scores.scores["as_reported"]), odd.finish()
        doubts = doubts_of(health.findings, suspicious.suspicious, best_of(scores.scores))
        return Overview(msgspec.structs.replace(health, doubts=doubts), tally, scores, suspicious, odd.passes)

    def failures(self, filters: Filters | None = None, *, limit: int | None = None) -> Iterator[Failure]:
        """In the order of the conversation or suite, else of the log."""
        return join_failures(self, filters or Filters(), limit=limit)

    @cached_property
    def summary(self) -> Analysis:
        return summarise(self)

    # for reports

    def case(self, key: str, version: str = "") -> Case | None:
        """With its files; none where the log does not describe it."""
        return case_of(self.store, self.stored.pk, key, version)

    def case_for(self, attempt: Attempt) -> Case | None:
        return self.case(attempt.case, attempt.case_version)

    def case_book(self) -> CaseBook:
        return case_book_of(self.store, self.stored.pk)

    def with_texts(self, attempt: Attempt) -> Attempt:
        return with_texts(self.store, attempt)

    @cached_property
    def cells(self) -> list[Cell]:
        return cells_of(self.store, [self.stored.pk])

    @cached_property
    def known_buckets(self) -> dict[str, Bucket]:
        return {bucket.id: bucket for bucket in buckets_of(self.store, self.run.suite)}

    @property
    def suspicious(self) -> SuspiciousCount:
        """How many passes are suspicious; the same number on every page."""
        known = None if "overview" in self.__dict__ else counted_before(self.stored, self.store)
        return self.overview.suspicious if known is None else known

    def suspicious_passes(self) -> Iterator[SuspiciousPass]:
        held = self.overview.suspicious_passes if "overview" in self.__dict__ else None
        return suspicious_passes(self.stored, self.store) if held is None else iter(held)

    @cached_property
    def previous(self) -> "RunView | None":
        same = (one for one in earlier_of_same_model(self.stored, self.store) if one.run.variant == self.run.variant)
        earlier = next(same, None)
        return RunView(earlier, self.store) if earlier is not None else None

    @cached_property
    def predecessor(self) -> "RunView | None":
        older = predecessor_of(self.stored, self.store)
        return RunView(older, self.store) if older is not None else None

    def edited_since(self, before: "RunView") -> set[str]:
        return changed_cases([before.stored.pk, self.stored.pk], self.store)


def differing_headline(run: Run, reported: Score) -> RecomputedHeadline | None:
    headline = next((one for one in run.reported if one.headline), None)
    if headline is None or reported.reproduced is not False or reported.stated is None or reported.rate is None:
        return None
    others = reported.remark.words if reported.remark is not None and reported.remark.code == "headline_rules" else ()
    return RecomputedHeadline(headline.name or headline.metric, reported.stated, reported.rate, headline.ref, others)


def _watch(
    attempts: Iterator[Attempt], *watchers: RunSurvey | FailureTally | Tiers | SuspicionTally
) -> Iterator[Attempt]:
    """Whoever consumes the stream, the watchers see every attempt of it once."""
    for attempt in attempts:
        for watcher in watchers:
            watcher.add(attempt)
        yield attempt
