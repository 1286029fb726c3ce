"""The verb `writeback`: what is settled about the failures of a run, as files that its harness takes back."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from errata.errors import SettingsError
from errata.model import Attribution, Quote, StoredRun
from errata.model.run import case_name
from errata.model.standing import AttemptReview, Standing
from errata.model.verdict import word_for
from errata.runs.explanation import meaning_of
from errata.runs.stale_quotes import is_stale
from errata.runs.standings import standing_now
from errata.runs.triaging import triage_if_needed
from errata.store.attempts import attempts_of
from errata.store.attributions import attributions_of, broken_measurements
from errata.store.database import Store
from errata.writeback.settling import Opinion, Settled, why_not

HARNESSES = ("inspect-ai", "promptfoo")


class Sorted(msgspec.Struct, frozen=True, kw_only=True):
    """The failures of a run: which are settled, and why the others are left alone."""

    stored: StoredRun
    settled: tuple[Settled, ...]
    left: dict[str, int]
    """Why → how many."""


def settled_failures(stored: StoredRun, store: Store) -> Sorted:
    if stored.run.source.name not in HARNESSES:
        raise SettingsError(
            f"Run `{stored.run.native_id}` is of `{stored.run.source.name}`, which keeps no findings in its logs",
            hint=f"findings can be written back to: {', '.join(HARNESSES)}; `errata report` writes them for people",
        )
    settled: list[Settled] = []
    left: Counter[str] = Counter()
    for one in _failures(stored, store):
        why = why_not(one.opinion)
        if why:
            left[why] += 1
        else:
            settled.append(one)
    return Sorted(stored=stored, settled=tuple(settled), left=dict(left.most_common()))


def _failures(stored: StoredRun, store: Store) -> Iterator[Settled]:
    triage_if_needed(stored, store)
    said = attributions_of(store, stored.pk)
    read, broken = standing_now(stored, store), broken_measurements(store, stored.pk)
    meanings: dict[str, str] = {}
    for attempt in attempts_of(store, stored.pk, failures=True, by_position=True):
        name, opinion = case_name(stored.run, attempt.case), None
        if attempt.id in read:
            opinion = _of_reader(read[attempt.id], stored, store)
        elif attempt.id in said:
            opinion = _of_triage(said[attempt.id], meanings, breaks=attempt.id in broken)
        if opinion is not None:
            yield Settled(attempt=attempt, case=name, opinion=opinion)


def _of_reader(said: AttemptReview, stored: StoredRun, store: Store) -> Opinion:
    verdict = said.standing.verdict
    return Opinion(
        owner=verdict.owner,
        confidence=verdict.confidence,
        by="verdict",
        author=word_for(verdict.reviewer),
        version=verdict.taxonomy_version,
        told=verdict.cause,
        quotes=verdict.evidence,
        verdict=verdict.id,
        doubt=_doubt(said.standing, stored, store),
    )


def _doubt(stood: Standing, stored: StoredRun, store: Store) -> str:
    if stood.is_disputed:
        return "reviewers disagree"
    if not stood.final:
        taken_over = stood.verdict.inherited_from is not None
        return "its verdict is another failure's" if taken_over else "its verdict needs a second reviewer"
    return "its verdict is stale" if is_stale(stood.verdict, stored, store) else ""


def _of_triage(said: Attribution, meanings: dict[str, str], *, breaks: bool) -> Opinion:
    rule = said.decided_by
    if rule not in meanings:
        meanings[rule] = meaning_of(rule)
    quoting = [one for one in said.signals if one.quote]
    deciding = [one for one in quoting if one.name == rule] or quoting
    return Opinion(
        owner=said.owner,
        confidence=said.confidence,
        by="rule",
        author=rule,
        version=said.rules_version,
        told=meanings[rule],
        quotes=tuple(Quote(place=one.where, quote=one.quote) for one in deciding),
        breaks=breaks,
    )
