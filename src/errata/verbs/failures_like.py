"""`failures --like`: the same failure over models, runs and earlier reports, and what was done about it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from errata.buckets.grouping import TextSearch, texts_of
from errata.buckets.similarity import words_of
from errata.buckets.symptoms import symptom_of
from errata.errors import NotFoundError, ReadOnlyStoreError
from errata.memory.actions import ActionStatus
from errata.memory.history import (
    FailureSign,
    ReportMatch,
    ReportQuery,
    find_entries,
    is_same,
    same_case,
    sign_of_key,
    texts_in,
)
from errata.memory.known_gaps import gap_for
from errata.memory.report_files import is_about
from errata.memory.spelling import CaseSpellings, same_model
from errata.model import Action, Attempt, Attribution, Bucket, BucketPlace, FailureKey, KnownGap, StoredRun
from errata.model.attribution import NO_KEY
from errata.model.history import MATCHES, Match
from errata.model.identity import split_attempt_id
from errata.model.prior_report import PriorReport
from errata.model.record import Struct
from errata.model.run import case_name
from errata.model.times import moment_of
from errata.model.words import NOT_THE_SUBJECTS, Owner
from errata.runs.addresses import Located, locate, locate_known
from errata.runs.bucketing import ensure_searchable, failure_to_compare
from errata.runs.names import handles_of, is_name_of_runs, is_path, runs_named
from errata.runs.reports import began, parse_reports, report_files_around
from errata.runs.view import RunView
from errata.store.attempts import attempt_by_id, attempts_of
from errata.store.buckets import buckets_of
from errata.store.database import Store
from errata.store.elsewhere import case_keys
from errata.store.failures import attributions_of_case, attributions_with, loaded, members_in, number_of
from errata.store.memory import all_actions, known_gaps
from errata.store.runs import all_runs
from errata.text.mask import mask
from errata.triage.expected import expected_of
from errata.triage.keys import is_informative, lists_only_names
from errata.triage.reasons import explained, reason_of
from errata.verbs.action import list_actions


class FailureSought(Struct):
    """The failure whose like is searched; with only a text, everything but `text` and `words` is empty."""

    text: str
    """The text that was given, or the reason of the failure."""
    words: tuple[str, ...] = ()
    stored: StoredRun | None = None
    attempt: Attempt | None = None
    owner: Owner | None = None
    key: FailureKey = NO_KEY
    bucket: BucketPlace | None = None

    @property
    def case(self) -> str:
        return self.attempt.case if self.attempt else ""

    @property
    def name(self) -> str:
        """As its harness names the case; empty where only a text was given."""
        return case_name(self.stored.run, self.case) if self.stored else ""

    @property
    def sign(self) -> FailureSign:
        return sign_of_key(self.key) if self.attempt else FailureSign()

    @property
    def texts(self) -> tuple[str, ...]:
        """What an attribution of the very same failure holds; empty where the key states only that a check failed."""
        if self.attempt is None:
            return tuple(dict.fromkeys((self.text, mask(self.text))))
        return (self.key.exact,) if is_informative(self.key) and not lists_only_names(self.key) else ()


def failure_sought(like: str, store: Store) -> FailureSought:
    """RUN/CASE wins over a text. A misspelled CASE behind the name of a run is not taken for a text."""
    located = _located(like, store)
    if located is None:
        if not words_of(like):
            raise NotFoundError(
                f"`{like}` contains no word to search for",
                hint="give RUN/CASE, or the part of an error that others may have too",
            )
        return FailureSought(text=like, words=words_of(like))
    return _described(located, store)


def _located(like: str, store: Store) -> Located | None:
    """A path is imported, as everywhere; but the paths that a message mentions are not looked into."""
    try:
        located = (locate_known if " " in like else locate)(like, store)
    except NotFoundError:
        parts = like.split("/")
        if any(is_name_of_runs("/".join(parts[:at]), store) for at in range(1, len(parts)) if parts[0]):
            raise
        return None
    if located.attempt is None and not is_path(like) and not is_name_of_runs(like, store):
        return None  # a word that happens to begin the id of a run
    return located


def _described(located: Located, store: Store) -> FailureSought:
    stored, attempt = located.stored, located.attempt
    if attempt is None:
        raise NotFoundError(
            f"`{stored.run.native_id}` is a run, not a failure",
            hint="name a case, `--like RUN/CASE`; `errata failures RUN` lists those that failed",
        )
    attempt = _failed(stored, attempt, store)
    view = RunView(stored, store)
    failure, attribution = failure_to_compare(view, attempt), view.attributions.get(attempt.id)
    expected = "" if explained(attempt, attribution) else expected_of(view.case_for(attempt))
    text = reason_of(attempt, attribution, expected).text or next(iter(failure.texts if failure else ()), "")
    verdict = failure.verdict if failure else None
    return FailureSought(
        text=text,
        words=symptom_of(failure).words if failure else (),
        stored=stored,
        attempt=attempt,
        owner=verdict.owner if verdict else attribution.owner if attribution else None,
        key=attribution.failure_key if attribution else NO_KEY,
        bucket=view.bucket_of(attempt.id),
    )


def _failed(stored: StoredRun, attempt: Attempt, store: Store) -> Attempt:
    """The attempt that was named; where another one at the case failed and it did not, that one."""
    if attempt.is_failure:
        return attempt
    other = next(iter(attempts_of(store, stored.pk, failures=True, case=attempt.case)), None)
    if other is not None:
        return attempt_by_id(store, other.id)
    raise NotFoundError(
        f"`{case_name(stored.run, attempt.case)}` did not fail in `{stored.run.native_id}`",
        hint="`errata failures RUN` lists those that failed",
    )


class SimilarFailure(NamedTuple):
    """A failure that is like the one sought, and why."""

    match: Match
    stored: StoredRun
    handle: str
    """The shortest name by which the store finds the run."""
    attempt: Attempt
    attribution: Attribution | None
    reason: str
    bucket: str
    """The slug of its bucket, where that is why it matches."""

    @property
    def case_name(self) -> str:
        return case_name(self.stored.run, self.attempt.case)


class GapMatch(NamedTuple):
    """A known gap, and how many of the matching failures it covers."""

    gap: KnownGap
    cases: tuple[str, ...]
    failures: int


class SimilarFailures(Struct):
    """The answer: how often, where, and what was done about it."""

    sought: FailureSought
    handle: str = ""
    """Of the run that was named."""
    searched: int
    """Runs."""
    matches: dict[Match, int]
    """How many failures match, by why; the nearest first."""
    models: dict[str, int]
    """Model → matching failures; the most frequent first."""
    runs: int
    """Runs with a matching failure."""
    first_seen: str | None = None
    last_seen: str | None = None
    failures: tuple[SimilarFailure, ...] = ()
    """The nearest first, then the newest; no more than were asked for."""
    entries: tuple[ReportMatch, ...] = ()
    """Of earlier reports."""
    actions: tuple[ActionStatus, ...] = ()
    """On the cases or the bucket of these failures, the newest first."""
    gaps: tuple[GapMatch, ...] = ()

    @property
    def count(self) -> int:
        return sum(self.matches.values())


def find_similar(
    like: str, selectors: Sequence[str], store: Store, *, most: int, of_each_run: int | None = None
) -> SimilarFailures:
    """In the runs that are named; without names, in all that are not excluded.

    `most` failures are listed, `of_each_run` of one run; all are counted.
    """
    sought = failure_sought(like, store)
    everywhere = all_runs(store)
    chosen = list(runs_named(selectors, store)) if selectors else [one for one in everywhere if not one.run.excluded]
    with suppress(ReadOnlyStoreError):  # a store that can only be read is searched as it is
        ensure_searchable([RunView(one, store) for one in chosen], store)
    reports = _reports(sought, chosen, store, is_chosen=bool(selectors))
    buckets = {one.id: one for one in buckets_of(store)}
    texts = (text for one in buckets.values() for text in texts_of(one))
    search = TextSearch(sought.words, chain(texts, texts_in(reports)))
    finding = _Finding(sought, search, buckets, store, (most, of_each_run or most))
    for stored in sorted(chosen, key=lambda one: moment_of(began(one)), reverse=True):
        finding.add(stored)
    entries = find_entries(reports, _report_query(sought, search, store))
    handles = handles_of(everywhere)
    cases = Counter(finding.cases)
    cases.update({key: 0 for key in (sought.case, *(one.key for one in entries)) if key and key not in cases})
    slugs = {buckets[one].slug for one in finding.own if one in buckets}
    result = SimilarFailures(
        sought=sought,
        handle=handles.get(sought.stored.run.id, "") if sought.stored else "",
        searched=len(chosen),
        matches={match: finding.counts[match] for match in MATCHES if finding.counts[match]},
        models=dict(finding.models.most_common()),
        runs=finding.runs,
        first_seen=min(finding.times, default=None),
        last_seen=max(finding.times, default=None),
        failures=tuple(finding.failures(handles)),
        entries=tuple(entries),
        actions=tuple(_actions({*cases, *(one.case for one in entries if one.case)}, slugs, reports, store)),
        gaps=tuple(_gaps(cases, store)),
    )
    if not result.count and not entries:
        raise _nothing_like(sought, result)
    return result


def _nothing_like(sought: FailureSought, result: SimilarFailures) -> NotFoundError:
    what = f"`{result.handle}/{sought.name}`" if sought.attempt else f"`{sought.text}`"
    where = f"{result.searched:,} run{'' if result.searched == 1 else 's'}"
    hint = "`errata buckets list` lists the causes of all failures"
    if not sought.attempt:
        hint = f"try fewer, rarer words of the message\n{hint}"
    return NotFoundError(f"No failure in {where} and no earlier report is like {what}", hint=hint)


class _Finding:
    """The matching failures, run by run, the newest run first; no more are kept than are listed."""

    def __init__(
        self,
        sought: FailureSought,
        search: TextSearch,
        buckets: dict[str, Bucket],
        store: Store,
        limits: tuple[int, int],
    ) -> None:
        self._sought, self._store, self._buckets = sought, store, buckets
        self._most, self._of_each_run = limits
        self.own = {sought.bucket.id} if sought.bucket else set()
        """The bucket of the failure that is sought."""
        similar = search.similar_buckets(buckets.values(), sought.owner or "")
        self._places: dict[str, Match] = {one.id: "similar_text" for one in similar}
        self._places |= dict.fromkeys(self.own, "same_bucket")
        self.counts: Counter[Match] = Counter()
        self.models: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()
        self.times: list[str] = []
        """When each run with a match began, as far as their logs show that."""
        self.runs = 0
        self._nearest: dict[Match, list[tuple[StoredRun, str, str]]] = {match: [] for match in MATCHES}
        """Run, attempt and bucket."""

    def add(self, stored: StoredRun) -> None:
        places = dict(members_in(self._store, stored.run.id, self._places)) if stored.counts.failures else {}
        matches: dict[str, Match] = {attempt: self._places[bucket] for attempt, bucket in places.items()}
        matches |= self._by_attribution(stored) if stored.counts.failures else {}
        matches.pop(self._sought.attempt.id if self._sought.attempt else "", None)
        if not matches:
            return
        self.runs += 1
        self.times += [stored.run.started_at] if stored.run.started_at else []
        self.models[stored.run.subject.model] += len(matches)
        self.counts.update(matches.values())
        self.cases.update(split_attempt_id(attempt).case for attempt in matches)
        nearest = sorted(matches, key=lambda attempt: (MATCHES.index(matches[attempt]), attempt))
        for attempt in nearest[: self._of_each_run]:
            kept = self._nearest[matches[attempt]]
            if len(kept) < self._most:
                kept.append((stored, attempt, places.get(attempt, "")))

    def _by_attribution(self, stored: StoredRun) -> dict[str, Match]:
        sought, matches = self._sought, dict[str, Match]()
        if sought.case:
            for attribution in attributions_of_case(self._store, stored.pk, sought.case):
                if is_same(sign_of_key(attribution.failure_key), sought.sign):
                    matches[attribution.attempt] = "same_check"
        for attribution in attributions_with(self._store, stored.pk, sought.texts):
            if sought.attempt is None:
                quotes = (attribution.failure_key.exact, *(signal.words for signal in attribution.signals))
                if any(text in quote for text in sought.texts for quote in quotes):
                    matches[attribution.attempt] = "same_text"
            elif attribution.failure_key.exact == sought.key.exact:
                matches[attribution.attempt] = "same_key"
        return matches

    def failures(self, handles: dict[str, str]) -> Iterator[SimilarFailure]:
        nearest = [(match, *one) for match in MATCHES for one in self._nearest[match]][: self._most]
        for match, stored, attempt, bucket in nearest:
            seq = number_of(self._store, stored.pk, split_attempt_id(attempt))
            for failure in loaded(self._store, stored.pk, [seq] if seq is not None else []):
                expected = "" if explained(failure.attempt, failure.attribution) else expected_of(failure.case)
                reason = reason_of(failure.attempt, failure.attribution, expected).text
                slug = self._buckets[bucket].slug if bucket else ""
                yield SimilarFailure(
                    match, stored, handles[stored.run.id], failure.attempt, failure.attribution, reason, slug
                )


# earlier reports, actions, known gaps


def _reports(sought: FailureSought, chosen: Sequence[StoredRun], store: Store, *, is_chosen: bool) -> list[PriorReport]:
    """All but errata's own about runs that are searched; where runs are named, those about them or their models."""
    runs = [one.run for one in (*chosen, *([sought.stored] if sought.stored else []))]
    files = report_files_around(runs, store).files
    reports = parse_reports(files, case_keys(store)) if files else []
    named = [one.run for one in chosen]
    reports = [one for one in reports if not (one.own and any(is_about(one, run) for run in named))]
    if not is_chosen:
        return reports

    def is_wanted(report: PriorReport) -> bool:
        models = {report.model, *(one.model for one in report.runs)} - {""}
        return any(
            is_about(report, run)
            or any(same_model(model, run.subject.model, providers=(run.subject.provider,)) for model in models)
            for run in named
        )

    return list(filter(is_wanted, reports))


def _report_query(sought: FailureSought, search: TextSearch, store: Store) -> ReportQuery:
    stored = sought.stored
    if stored is None:
        return ReportQuery(is_similar=search.is_similar, text=sought.text)

    def is_own(report: PriorReport) -> bool:
        return is_about(report, stored.run)

    return ReportQuery(
        is_similar=search.is_similar,
        case=sought.case,
        names=CaseSpellings(case_keys(store, pk=stored.pk), suite=stored.run.suite),
        sign=sought.sign,
        infrastructure=sought.owner in NOT_THE_SUBJECTS,
        is_own=is_own,
    )


def _actions(cases: set[str], slugs: set[str], reports: Iterable[PriorReport], store: Store) -> list[ActionStatus]:
    """Those that address one of the cases, or the bucket; a report may name a case without its suite."""
    by_ending: dict[str, list[str]] = {}
    for case in cases:
        by_ending.setdefault(case.rpartition("/")[2], []).append(case)

    def is_about_them(action: Action) -> bool:
        return any(
            address in slugs or any(same_case(address, one) for one in by_ending.get(address.rpartition("/")[2], ()))
            for address in action.addresses
        )

    # what became of an action is asked only where there is one: it takes the reports of every model
    if not any(map(is_about_them, chain(all_actions(store), (one for report in reports for one in report.actions)))):
        return []
    listed = [one for one in list_actions(store) if is_about_them(one.effect.action)]
    return sorted(listed, key=lambda one: one.effect.action.date, reverse=True)


def _gaps(cases: Counter[str], store: Store) -> Iterator[GapMatch]:
    for gap in known_gaps(store):
        covered = tuple(case for case in cases if gap_for(case, [gap]))
        if covered:
            yield GapMatch(gap, covered, sum(cases[case] for case in covered))
