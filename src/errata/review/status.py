"""The verb `review status`: what was read, by whom, what changed by it, what is doubtful, and what it cost."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from errata.model import Attribution, ReviewBatch, ReviewCall, StoredRun, Verdict
from errata.model.bucket import RunBuckets
from errata.model.identity import split_attempt_id
from errata.model.output.review import DoubtOutput, OwnerRowOutput, QuoteCheckOutput, SpentOutput
from errata.model.record import Struct
from errata.model.run import case_name
from errata.model.standing import Standing, name_of, standing
from errata.model.usage import total_of
from errata.model.verdict import Refusal, short_word_for, word_for
from errata.model.words import OWNERS
from errata.review.queue import needs_second


class Status(Struct):
    stored: StoredRun
    failures: int
    reviewed: int
    """Read by somebody, and what was quoted is still there."""
    inherited: int
    """Not read, but the same crash as one that was."""
    final: int
    waiting: int
    """Not read by anybody, or read before its evidence changed."""
    stale: tuple[str, ...]
    """Reviewed, but the evidence has changed since. The verdict stays in force until a new review."""
    in_hand: int
    refused: int
    """Rejected answers: every try counts, repaired or not."""
    unmended: int
    """Failures on which somebody's answer was refused, and none of theirs was taken."""
    refusals: dict[str, int]
    """Reason → how often."""
    owners: tuple[OwnerRowOutput, ...]
    labels: dict[str, int]
    reviewers: dict[str, int]
    """Kind and name → how many they have read."""
    quotes: QuoteCheckOutput
    seconded: int
    """Read by two or more independent reviewers."""
    need_second: tuple[str, ...]
    disputed: tuple[str, ...]
    doubts: tuple[DoubtOutput, ...]
    spent: tuple[SpentOutput, ...]
    batches: tuple[ReviewBatch, ...]
    """Submitted and not collected."""
    buckets: RunBuckets


def build_status(
    stored: StoredRun,
    *,
    failures: set[str],
    attributions: Mapping[str, Attribution],
    verdicts: Mapping[str, Sequence[Verdict]],
    refusals: Iterable[Refusal],
    leased: Iterable[str],
    calls: Iterable[ReviewCall],
    batches: Iterable[ReviewBatch],
    buckets: RunBuckets,
    check_quotes: Callable[[Sequence[Verdict]], QuoteCheckOutput],
) -> Status:
    """Of all that is stored about a run; what is about no failure of it (any more) is left aside."""
    triaged = {attempt: one for attempt, one in attributions.items() if attempt in failures}
    on = {attempt: given for attempt, given in verdicts.items() if attempt in failures}
    stands = {attempt: one for attempt, given in on.items() if (one := standing(given)) is not None}
    own = {attempt: one for attempt, one in stands.items() if one.verdict.inherited_from is None}
    refused = [one for one in refusals if one.attempt in failures]
    quotes = check_quotes([one.verdict for one in own.values()])
    return Status(
        stored=stored,
        failures=len(failures),
        reviewed=len(own) - len(quotes.stale),
        inherited=len(stands) - len(own),
        final=sum(one.final for attempt, one in stands.items() if attempt not in quotes.stale),
        waiting=len(failures) - len(stands) + len(quotes.stale),
        stale=quotes.stale,
        in_hand=sum(attempt in failures for attempt in leased),
        refused=len(refused),
        unmended=len(_unmended(refused, on)),
        refusals=dict(Counter(reason for one in refused for reason in one.reasons).most_common()),
        owners=_owners(triaged, {attempt: one for attempt, one in stands.items() if attempt not in quotes.stale}),
        labels=dict(Counter(one.verdict.label for one in stands.values()).most_common()),
        reviewers=_reviewers(on),
        quotes=quotes,
        seconded=sum(len(_readers(found)) > 1 for found in on.values()),
        need_second=tuple(attempt for attempt, found in on.items() if needs_second(found)),
        disputed=tuple(attempt for attempt, one in stands.items() if one.is_disputed),
        doubts=tuple(_doubts(stored, own.values())),
        spent=spent_by(calls),
        batches=tuple(batches),
        buckets=buckets,
    )


def spent_by(calls: Iterable[ReviewCall]) -> tuple[SpentOutput, ...]:
    groups: dict[str, list[ReviewCall]] = {}
    for call in calls:
        groups.setdefault(call.reviewer, []).append(call)
    return tuple(_spent(reviewer, made) for reviewer, made in groups.items())


def _spent(reviewer: str, calls: Sequence[ReviewCall]) -> SpentOutput:
    states = Counter(call.state for call in calls)
    answered = [call for call in calls if call.state == "answered"]
    lost = [call.estimate.cost for call in calls if call.state == "lost"]
    return SpentOutput(
        reviewer=reviewer,
        calls=len(calls),
        answered=len(answered),
        failed=states["failed"],
        lost=states["lost"],
        cost=total_of(call.usage.cost for call in calls),
        unpriced=sum(call.usage.cost is None for call in answered),
        lost_cost=total_of(lost),
        tokens=total_of(call.usage.tokens for call in calls),
    )


def _owners(triaged: Mapping[str, Attribution], stands: Mapping[str, Standing]) -> tuple[OwnerRowOutput, ...]:
    """Those that triage or a verdict that is not stale names, the most frequent first."""
    triage: Counter[str] = Counter(one.owner for one in triaged.values())
    verdict: Counter[str] = Counter(one.verdict.owner for one in stands.values())
    changed: Counter[str] = Counter(
        triaged[attempt].owner
        for attempt, standing in stands.items()
        if attempt in triaged and triaged[attempt].owner != standing.verdict.owner
    )
    rows = [
        OwnerRowOutput(owner=owner, triage=triage[owner], verdict=verdict[owner], changed=changed[owner])
        for owner in OWNERS
        if triage[owner] or verdict[owner]
    ]
    return tuple(sorted(rows, key=lambda row: -max(row.triage, row.verdict)))


def _unmended(refusals: Iterable[Refusal], on: Mapping[str, Sequence[Verdict]]) -> set[str]:
    tried = {(one.attempt, one.reviewer) for one in refusals}
    taken = {(attempt, word_for(one.reviewer)) for attempt, found in on.items() for one in found}
    return {attempt for attempt, _ in tried - taken}


def _reviewers(on: Mapping[str, Sequence[Verdict]]) -> dict[str, int]:
    names = Counter(name for found in on.values() for name in {short_word_for(one.reviewer) for one in _own(found)})
    return dict(names.most_common())


def _own(verdicts: Iterable[Verdict]) -> list[Verdict]:
    return [one for one in verdicts if one.inherited_from is None]


def _readers(verdicts: Iterable[Verdict]) -> set[str]:
    return {name_of(one.reviewer) for one in _own(verdicts) if not one.adjudicates}


def _doubts(stored: StoredRun, stands: Iterable[Standing]) -> list[DoubtOutput]:
    return [
        DoubtOutput(case=case_of(stored, standing.verdict.attempt), attempt=standing.verdict.attempt, doubt=doubt)
        for standing in stands
        for doubt in standing.verdict.doubts
    ]


def case_of(stored: StoredRun, attempt: str) -> str:
    parts = split_attempt_id(attempt)
    return case_name(stored.run, parts.case) + (f" #{parts.index}" if parts.index > 1 else "")
