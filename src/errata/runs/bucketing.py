"""When the buckets of a run are stale, and whether suggesting them again is cheap."""

import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Protocol

import msgspec

from errata import triage
from errata.buckets.failure import FailureToGroup, RuleMeaning, RunParameters, failure_to_group
from errata.buckets.reconcile import SuggestionResult, freed_by_reading
from errata.buckets.stored import count_run_buckets, keep_parameters, keep_suggestion
from errata.buckets.suggest import EqualMembers, shared_parameters, suggest
from errata.errors import NotReadyError, ReadOnlyStoreError
from errata.model import Attempt, Attribution, BucketMark, Case, RunBuckets, StoredRun, Verdict
from errata.model.case_versions import CaseBook
from errata.model.codec import pack
from errata.model.standing import standing
from errata.model.times import now_as_text
from errata.runs.explanation import BY_DEFAULT
from errata.runs.standings import standing_of
from errata.runs.triaging import is_left_to_background
from errata.store.attempts import case_book_of, case_of, with_texts
from errata.store.attributions import attributed_failures, rules_version_of
from errata.store.buckets import (
    bucket_marks,
    bucket_of_each,
    buckets_in_other_runs,
    buckets_of,
    placements_of_run,
    remove_pending_marks,
)
from errata.store.database import Store
from errata.store.runs import all_runs, keep_summary, kept_summary
from errata.transcript.error_text import error_lines, has_logs
from errata.triage.rulesets import rules_in_use
from errata.triage.wrong_answers import wrong_answer

if TYPE_CHECKING:
    from errata.runs.view import RunView


VERSION = "4"
"""Counts up when the grouping changes its results."""
PENDING = "~"
"""Behind the mark of a run: the parameters that its buckets share with other runs are not up to date."""
FEW, CHEAP = 200, 5_000
"""Failures of a run up to which suggestions come along with a look at one of them, and with other work."""


_grouping: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
"""By suite: of the threads of a server, the first one groups; the others wait, and find it done."""


def ensure_buckets(view: "RunView", *, most: int = CHEAP) -> None:
    """Suggest where the buckets of the run are stale, unless it has very many failures; other runs are left alone."""
    view.ensure_triaged()
    if not 0 < view.stored.counts.failures <= most or _has_buckets(view):
        return
    if is_left_to_background(view.stored, view.store):
        return
    with suppress(ReadOnlyStoreError), _grouping[view.run.suite]:  # a store that can only be read still shows the rest
        if not _has_buckets(view):
            suggest_run(view)


def _has_buckets(view: "RunView") -> bool:
    """Also of a run that is not current any more: it gets none."""
    mark = bucket_marks(view.store, [view.run.id]).get(view.run.id)
    return mark is None or _is_fresh(mark, pending=True)


def are_buckets_fresh(stored: StoredRun, store: Store) -> bool:
    """Also what they share with the buckets of other runs."""
    mark = bucket_marks(store, [stored.run.id]).get(stored.run.id)
    return mark is None or not stored.counts.failures or _is_fresh(mark)


def ensure_all_buckets(
    views: Iterable["RunView"], store: Store, *, collect: "CollectFailures | None" = None
) -> tuple[str, ...]:
    """Suggest for those runs that are new or have grown, or whose attributions or verdicts are others.

    Returns the runs that a server's background still has to do: they have older buckets, or none.
    """
    failed, waiting = [], []
    with store.kept_open():
        for view in (each for each in views if each.stored.counts.failures):
            try:
                view.ensure_triaged()
                failed.append(view)
            except NotReadyError:
                waiting.append(view.run.id)
    marks = bucket_marks(store, [view.run.id for view in failed])
    by_suite: dict[str, list[RunView]] = {}
    for view in failed:
        if view.run.id in marks:
            by_suite.setdefault(view.run.suite, []).append(view)
    for suite, members in by_suite.items():
        later = {view.run.id for view in members if is_left_to_background(view.stored, store)}
        waiting += [each for each in later if not _is_fresh(marks[each], pending=True)]
        if not all(_is_fresh(marks[view.run.id]) for view in members):
            now = [view for view in members if view.run.id not in later]
            with _grouping[suite]:
                _suggest_where_stale(now, store, suite, collect or failures_of_each)
    return tuple(waiting)


def _suggest_where_stale(members: Sequence["RunView"], store: Store, suite: str, collect: "CollectFailures") -> None:
    marks = bucket_marks(store, [view.run.id for view in members])
    current = [view for view in members if view.run.id in marks]
    if all(_is_fresh(marks[view.run.id]) for view in current):
        return
    stale = [view for view in current if not _is_fresh(marks[view.run.id], pending=True)]
    for _ in suggest_runs(stale, collect=collect):
        pass
    if not any(is_left_to_background(stored, store) for stored in _failed_in(suite, store)):
        update_parameters(current, store, suite)
        remove_pending_marks(store, suite, PENDING)


def _failed_in(suite: str, store: Store) -> list[StoredRun]:
    return [one for one in all_runs(store) if one.run.suite == suite and one.counts.failures]


def ensure_searchable(views: Iterable["RunView"], store: Store) -> None:
    """Suggest for runs that were not triaged with these rules, or have other attributions or verdicts since.

    What other runs and reports show since changes an owner here and there, but no text: a search over very many runs
    does not wait for that.
    """
    failed = [view for view in views if view.stored.counts.failures]
    marks, version = bucket_marks(store, [view.run.id for view in failed]), rules_in_use().version

    def is_ready(mark: BucketMark) -> bool:
        return (mark.triaged or "").startswith(version) and _is_fresh(mark, pending=True)

    for _ in suggest_runs([view for view in failed if view.run.id in marks and not is_ready(marks[view.run.id])]):
        pass


def suggest_runs(
    views: Iterable["RunView"], *, dry_run: bool = False, collect: "CollectFailures | None" = None
) -> Iterator[SuggestionResult]:
    """Stale or not; the oldest first, so that its buckets are recognised in the later ones."""
    failed = [view for view in views if view.stored.counts.failures]
    in_turn = sorted(failed, key=lambda one: (one.run.started_at or one.stored.imported_at, one.stored.pk))
    every = (collect or failures_of_each)(in_turn, logs=True)
    for view, failures in zip(in_turn, every, strict=True):
        yield suggest_run(view, failures, dry_run=dry_run)


def suggest_run(
    view: "RunView", failures: Iterable[FailureToGroup] | None = None, *, dry_run: bool = False
) -> SuggestionResult:
    """Suggest again for all failures of a run; what a person placed stays. A dry run keeps nothing."""
    view.ensure_triaged()
    stored, store = view.stored, view.store
    mark = _mark(bucket_marks(store, [stored.run.id])[stored.run.id])
    placed = [one for one in placements_of_run(store, stored.run.id).values() if one.author]
    reviews = standing_of(store, stored.run.id) if placed else {}
    freed = freed_by_reading(placed, {attempt: one.standing for attempt, one in reviews.items()})
    known = {one.id: one for one in buckets_of(store, stored.run.suite)}
    fixed = {one.attempt: one.bucket for one in placed if one.attempt not in freed and one.bucket in known}
    failures = list(failures_to_group(view) if failures is None else failures)
    elsewhere = buckets_in_other_runs(store, stored.run.suite, stored.run.id) if view.standings else set[str]()
    result = keep_suggestion(
        store,
        stored,
        suggest(failures, list(known.values()), fixed, elsewhere),
        failures,
        known=known,
        freed=freed,
        standing_verdict=standing,
        mark=f"{mark}{PENDING}",
        at=now_as_text(),
        dry_run=dry_run,
    )
    if not dry_run:
        _keep_parameters_of(view, failures)
    return result


def update_parameters(views: Iterable["RunView"], store: Store, suite: str) -> None:
    """What the members of each bucket share besides how they fail, over all runs of a suite."""
    known = {view.stored.pk: view for view in views}
    members = (
        member
        for stored in _failed_in(suite, store)
        for member in _equal_members(known.get(stored.pk) or _view_of(stored, store))
    )
    changed = shared_parameters(suite, members, buckets_of(store, suite))
    if changed:
        keep_parameters(store, changed)


def _equal_members(view: "RunView") -> Iterator[EqualMembers]:
    placed = bucket_of_each(view.store, view.run.id)
    kept = _kept_parameters(view)
    if kept is None:
        kept = _parameters_of(failures_to_group(view, logs=False))
    counted = Counter(zip(map(placed.get, kept.attempts), kept.places, strict=True))
    for (bucket, place), often in counted.items():
        if bucket is not None:
            parameters, follows = kept.records[place]
            yield EqualMembers(bucket, parameters, follows, often)


class _FailureParameters(msgspec.Struct, frozen=True, array_like=True):
    records: list[tuple[Mapping[str, str], bool]]
    """Each once, with whether a failure that has them follows another."""
    attempts: list[str]
    places: list[int]


PARAMETERS = "parameters of failures"
_decoder = msgspec.msgpack.Decoder(_FailureParameters)


def _parameters_of(failures: Iterable[FailureToGroup]) -> _FailureParameters:
    made = _FailureParameters([], [], [])
    known: dict[tuple[int, bool], int] = {}
    for failure in failures:
        record = (failure.parameters, bool(failure.follows))
        place = known.setdefault((id(record[0]), record[1]), len(made.records))
        if place == len(made.records):
            made.records.append(record)
        made.attempts.append(failure.attempt)
        made.places.append(place)
    return made


def _kept_parameters(view: "RunView") -> _FailureParameters | None:
    data = kept_summary(view.store, view.stored.pk, PARAMETERS, _version_of_parameters(view))
    try:
        return None if data is None else _decoder.decode(data)
    except msgspec.DecodeError:
        return None


def _keep_parameters_of(view: "RunView", failures: Iterable[FailureToGroup]) -> None:
    """Only of a run that takes long to read."""
    if view.stored.counts.failures > WITH_LOGS:
        keep_summary(
            view.store, view.stored.pk, PARAMETERS, _version_of_parameters(view), pack(_parameters_of(failures))
        )


def _version_of_parameters(view: "RunView") -> str:
    return f"{VERSION}+{rules_version_of(view.store, view.stored.pk)}"


def _view_of(stored: StoredRun, store: Store) -> "RunView":
    from errata.runs.view import RunView  # noqa: PLC0415 a view has buckets, and buckets need views

    return RunView(stored, store)


def buckets_of_run(view: "RunView") -> RunBuckets:
    ensure_buckets(view)
    return count_run_buckets(view.store, view.run.id)


def _is_fresh(mark: BucketMark, *, pending: bool = False) -> bool:
    made = mark.bucketed or ""
    return mark.triaged is not None and (made.removesuffix(PENDING) if pending else made) == _mark(mark)


def _mark(mark: BucketMark) -> str:
    return f"{VERSION}+{mark.triaged}+{mark.verdicts}:{mark.newest}"


class CollectFailures(Protocol):
    """The failures of each run, in the order of the runs: collected here, or by the workers of a cluster."""

    def __call__(self, views: Sequence["RunView"], *, logs: bool) -> Iterator[Iterable[FailureToGroup]]: ...


def failures_of_each(views: Sequence["RunView"], *, logs: bool) -> Iterator[Iterable[FailureToGroup]]:
    for view in views:
        view.ensure_triaged()
    yield from map(partial(failures_to_group, logs=logs), views)


# --- the failures of a run as the grouping sees them


MANY_CASES = 100_000
WITH_LOGS = 1_000
"""Failures whose own logs and transcripts are looked at; of a run with more, what its checks and errors say."""


def failures_to_group(
    view: "RunView", only: Collection[str] | None = None, *, logs: bool = True
) -> Iterator[FailureToGroup]:
    """Failures with their attributions, standing verdicts and log lines: all of the run, or these attempts only."""
    stored, store = view.stored, view.store
    few = stored.counts.failures <= WITH_LOGS
    context = _RunContext(view)
    for attempt, attribution in attributed_failures(store, stored.pk, steps=few):
        if only is None or attempt.id in only:
            yield context.failure(attempt, attribution, _lines(attempt, store) if few and logs else ())


def failure_to_compare(view: "RunView", attempt: Attempt) -> FailureToGroup | None:
    """One failure, with its steps and files, as the grouping sees it; none where triage did not see it."""
    attribution = view.attributions.get(attempt.id)
    return _RunContext(view).failure(attempt, attribution, _lines(attempt, view.store)) if attribution else None


class _RunContext:
    def __init__(self, view: "RunView") -> None:
        self._run, self._cases = view.run, _Cases(view.stored, view.store)
        self._categories, self._standings = view.categories, view.standings
        self._rules, self._clusters = _rules(rules_in_use()), _clusters(rules_in_use())
        self._parameters = RunParameters(view.run)

    def failure(self, attempt: Attempt, attribution: Attribution, lines: Sequence[str]) -> FailureToGroup:
        review = self._standings[attempt.id].standing if attempt.id in self._standings else None
        is_by_default = attribution.decided_by in BY_DEFAULT
        return failure_to_group(
            self._run,
            attempt,
            attribution,
            rules=self._rules,
            parameters=self._parameters.of(attempt, next(iter(self._categories.get(attempt.case, ())), "")),
            cluster=_cluster(attribution, self._clusters),
            lines=lines,
            answer=wrong_answer(attempt, self._cases.of(attempt)) if is_by_default else None,
            verdict=review.verdict if review else None,
            final=review.final if review else False,
            reviewed_cluster=_reviewed_cluster(review.verdict if review else None),
        )


class _Cases:
    """Loaded when the first is asked for; one by one where a run has very many."""

    def __init__(self, stored: StoredRun, store: Store) -> None:
        self._stored, self._store = stored, store

    @cached_property
    def _book(self) -> CaseBook:
        return case_book_of(self._store, self._stored.pk)

    def of(self, attempt: Attempt) -> Case | None:
        if self._stored.counts.cases > MANY_CASES:
            return case_of(self._store, self._stored.pk, attempt.case, attempt.case_version)
        return self._book.of(attempt)


def _lines(attempt: Attempt, store: Store) -> tuple[str, ...]:
    if not has_logs(attempt):
        return ()
    return tuple(dict.fromkeys(line.text for line in error_lines(with_texts(store, attempt))))


@cache
def _rules(rules: triage.Rules) -> dict[str, RuleMeaning]:
    by_default = {
        name: RuleMeaning(means=means, owner="model" if name in triage.CHANGES else "")
        for name, means in triage.MEANS.items()
        if name not in BY_DEFAULT
    }
    return by_default | {
        name: RuleMeaning(means=rule.means, owner=rule.owner) for name, rule in rules.book.rules.items()
    }


@cache
def _taxonomies_of_causes(rules: triage.Rules) -> frozenset[str]:
    """None of their labels is suggested for an owner alone."""
    return frozenset(one.name for one in rules.taxonomies if not any(label.owners for label in one.label))


@cache
def _clusters(rules: triage.Rules) -> frozenset[tuple[str, str]]:
    """Taxonomy and label, where the taxonomy is one of causes.

    The last that goes by cues takes what no other fits: it names no cause.
    """
    causes = _taxonomies_of_causes(rules)
    cued = {one.name: [label.name for label in one.label if label.cues] for one in rules.taxonomies}
    named = [(one.name, label.name) for one in rules.taxonomies if one.name in causes for label in one.label]
    return frozenset((name, label) for name, label in named if label not in cued[name][-1:])


def _cluster(attribution: Attribution, clusters: frozenset[tuple[str, str]]) -> str:
    return next((label for pair in attribution.suggested_labels.items() if pair in clusters for label in pair[1:]), "")


def _reviewed_cluster(verdict: Verdict | None) -> str:
    return verdict.label if verdict and verdict.taxonomy in _taxonomies_of_causes(rules_in_use()) else ""
