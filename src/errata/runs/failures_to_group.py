"""The failures of a run as the grouping gets to see them: with attributions, standing verdicts and log lines."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache, cached_property
from typing import TYPE_CHECKING

from errata import triage
from errata.buckets.failure import FailureToGroup, RuleMeaning, RunParameters, failure_to_group
from errata.model import Attempt, Attribution, Case, StoredRun, Verdict
from errata.model.case_versions import CaseBook
from errata.runs.explanation import BY_DEFAULT
from errata.store.attempts import case_book_of, case_of, with_texts
from errata.store.attributions import attributed_failures
from errata.store.database import Store
from errata.transcript.error_text import error_lines, has_logs
from errata.triage.rulesets import rules_in_use
from errata.triage.wrong_answers import wrong_answer

if TYPE_CHECKING:
    from errata.runs.view import RunView

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
