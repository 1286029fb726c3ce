"""The failures of a run as the grouping sees them: facts, what triage says, and the verdict that stands."""

from collections.abc import Collection, Iterator
from functools import cache

from errata import triage
from errata.buckets.failing import Failing, Rule, failing_of
from errata.model import Attempt, Attribution, StoredRun
from errata.runs.explanation import BY_DEFAULT
from errata.runs.standings import standing_now
from errata.store.attempts import categories_of, with_texts
from errata.store.attributed import attributed_failures
from errata.store.database import Store
from errata.triage.reasons import error_lines, has_logs
from errata.triage.rulesets import rules_in_use

READ = 1_000
"""Failures whose own logs and transcripts are looked at; of a run with more, what its checks and errors say."""


def failing_in(stored: StoredRun, store: Store, only: Collection[str] | None = None) -> Iterator[Failing]:
    """All of them, or these attempts only."""
    few = stored.counts.failures <= READ
    rules, clusters = _rules(rules_in_use()), _clusters(rules_in_use())
    categories = categories_of(store, stored.pk)
    read = standing_now(stored, store)
    for attempt, said in attributed_failures(store, stored.pk, steps=few):
        if only is not None and attempt.id not in only:
            continue
        stood = read[attempt.id].standing if attempt.id in read else None
        yield failing_of(
            stored.run,
            attempt,
            said,
            rules=rules,
            category=categories.get(attempt.case, ""),
            cluster=_cluster(said, clusters),
            lines=_lines(attempt, store) if few else (),
            verdict=stood.verdict if stood else None,
            final=stood.final if stood else False,
        )


def _lines(attempt: Attempt, store: Store) -> tuple[str, ...]:
    if not has_logs(attempt):
        return ()
    return tuple(dict.fromkeys(line.text for line in error_lines(with_texts(store, attempt))))


@cache
def _rules(rules: triage.Rules) -> dict[str, Rule]:
    """Every rule that says more than that something failed."""
    told = {name: Rule(means=means) for name, means in triage.MEANS.items() if name not in BY_DEFAULT}
    return told | {name: Rule(means=rule.means, owner=rule.owner) for name, rule in rules.book.rules.items()}


@cache
def _clusters(rules: triage.Rules) -> frozenset[tuple[str, str]]:
    """Taxonomy and label, where the taxonomy is one of causes: none of its labels is suggested for an owner alone.

    The last that goes by cues takes what no other fits: it names no cause.
    """
    causes = [one.name for one in rules.taxonomies if not any(label.owners for label in one.label)]
    cued = {one.name: [label.name for label in one.label if label.cues] for one in rules.taxonomies}
    named = [(one.name, label.name) for one in rules.taxonomies if one.name in causes for label in one.label]
    return frozenset((name, label) for name, label in named if label not in cued[name][-1:])


def _cluster(said: Attribution, clusters: frozenset[tuple[str, str]]) -> str:
    return next((label for pair in said.suggested_labels.items() if pair in clusters for label in pair[1:]), "")
