"""What a person has to review, the most useful first: one list over several runs, with its progress."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Literal

from errata.model import Attribution, Reviewer, StoredRun, Verdict
from errata.model.attempt import ListedFailure
from errata.model.record import Struct
from errata.model.standing import is_same, name_of, standing
from errata.review.adjudicate import disputed
from errata.review.queue import needs_second
from errata.review.status import case_of
from errata.text.lazy_regex import lazy_regex

WorkGroup = Literal["disputed", "unsure", "many", "other", "done"]
GROUPS: tuple[WorkGroup, ...] = ("disputed", "unsure", "many", "other", "done")
"""In this order: reviewers disagree; triage is unsure; others have the same failure key; the rest; nothing to do."""
PACE = 10
PAUSE = 900
"""Seconds between two verdicts that were not spent on reviewing."""
WorkState = Literal["open", "done", "disputed", "all"]
_NUMBERS = lazy_regex(r"\d+")


class WorkItem(Struct):
    attempt: str
    run: str
    case: str
    group: WorkGroup
    owners: tuple[str, ...]
    """Those that the readings name; without a reading, the one that triage names."""
    confidence: str = ""
    """Of triage, where nobody has reviewed it."""
    stands_for: int = 1
    """Open failures of its run with the same failure key."""
    readers: int = 0
    """Reviewers who have given a verdict on it."""
    in_hand: tuple[str, ...] = ()
    """Others who are reading it at the moment."""


class ReviewProgress(Struct):
    failures: int
    done: int
    """Nothing is left to do for this reviewer."""
    disputed: int
    """Of those that are done or open: reviewers disagree."""
    changed: int
    """Failures whose verdict names another owner than triage."""
    seconds_each: float | None = None
    """The median of what this reviewer took for the last ten."""

    @property
    def open(self) -> int:
        return self.failures - self.done


class RunToReview(Struct):
    """One run as the list needs it."""

    stored: StoredRun
    failures: Sequence[ListedFailure]
    attributions: Mapping[str, Attribution]
    verdicts: Mapping[str, Sequence[Verdict]]
    returned: frozenset[str] = frozenset()
    """Reviewed before, and the evidence has changed since."""
    in_hand: Mapping[str, Collection[str]] = {}
    """Attempt → the names of others who are reading it."""


class Worklist(Struct):
    items: tuple[WorkItem, ...]
    progress: ReviewProgress
    more_runs: int = 0
    """Runs that were left out because the list is long enough; a filter by run reaches them."""
    waiting: int = 0
    """Runs that are left out because a server still works out their owners."""


def build_worklist(runs: Sequence[RunToReview], reviewer: Reviewer, *, state: WorkState = "open") -> Worklist:
    items = [item for run in runs for item in _items_of(run, reviewer)]
    ranks = {group: at for at, group in enumerate(GROUPS)}
    ordered = sorted(items, key=lambda one: (ranks[one.group], -one.stands_for if one.group == "many" else 0))
    progress = ReviewProgress(
        failures=len(items),
        done=sum(one.group == "done" for one in items),
        disputed=sum(len(set(one.owners)) > 1 for one in items),
        changed=sum(_changed(run) for run in runs),
        seconds_each=_pace(runs, reviewer),
    )
    return Worklist(items=tuple(one for one in ordered if _fits(one, state)), progress=progress)


def _fits(item: WorkItem, state: WorkState) -> bool:
    if state == "all":
        return True
    if state == "disputed":
        return item.group == "disputed" or len(set(item.owners)) > 1
    return (item.group == "done") == (state == "done")


def _items_of(run: RunToReview, reviewer: Reviewer) -> Iterator[WorkItem]:
    groups = {one.id: _group(one.id, run, reviewer) for one in run.failures}
    keys = {one.id: _key(run.attributions.get(one.id)) for one in run.failures if groups[one.id] != "done"}
    sizes = Counter(key for key in keys.values() if key)
    first: set[str] = set()
    for failure in run.failures:
        attempt, group = failure.id, groups[failure.id]
        key = keys.get(attempt, "")
        size = sizes[key] if key else 1
        if group == "other" and size > 1 and key not in first:
            first.add(key)
            group = "many"
        attribution = run.attributions.get(attempt)
        readings = newest_readings(run.verdicts.get(attempt, ()))
        yield WorkItem(
            attempt=attempt,
            run=run.stored.run.id,
            case=case_of(run.stored, attempt),
            group=group,
            owners=_owners(readings, run.verdicts.get(attempt, ()), attribution),
            confidence=attribution.confidence if attribution and not readings else "",
            stands_for=size,
            readers=len(readings),
            in_hand=tuple(sorted(run.in_hand.get(attempt, ()))),
        )


def _group(attempt: str, run: RunToReview, reviewer: Reviewer) -> WorkGroup:
    verdicts = run.verdicts.get(attempt, ())
    has_read = any(is_same(one.reviewer, reviewer) for one in newest_readings(verdicts))
    if attempt in run.returned:
        return "other"
    if not verdicts:
        attribution = run.attributions.get(attempt)
        return "unsure" if attribution is None or attribution.confidence == "weak" else "other"
    if has_read:
        return "done"
    if disputed(verdicts):
        return "disputed"
    return "unsure" if needs_second(verdicts) else "done"


def newest_readings(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdict of each reviewer that is in force, oldest first; inherited ones are nobody's."""
    every = list(verdicts)
    gone = {one.supersedes for one in every}
    own = (one for one in every if one.inherited_from is None and one.id not in gone)
    newest = {name_of(one.reviewer): one for one in own}
    return tuple(sorted(newest.values(), key=lambda one: (one.at or "", one.id)))


def _owners(
    readings: Sequence[Verdict], verdicts: Sequence[Verdict], attribution: Attribution | None
) -> tuple[str, ...]:
    if readings:
        return tuple(dict.fromkeys(one.owner for one in readings))
    inherited = standing(verdicts)
    if inherited is not None:
        return (inherited.verdict.owner,)
    return (attribution.owner,) if attribution is not None else ()


def _key(attribution: Attribution | None) -> str:
    """Equal for failures that one verdict may be given to: same failure key, same owner, same evidence but for numbers.

    The key alone does not do: of a harness with a single check, all failures without an error text share it. Empty
    where nothing is quoted.
    """
    if attribution is None or not attribution.failure_key.exact:
        return ""
    quotes = {signal.name: signal.words for signal in attribution.signals if signal.words}
    quote = quotes.get(attribution.decided_by) or next(iter(quotes.values()), "")
    return f"{attribution.owner} {attribution.failure_key.exact} {_NUMBERS.sub('0', quote)}" if quote else ""


def _changed(run: RunToReview) -> int:
    """Failures whose verdict in force names another owner than triage."""
    changed = 0
    for failure in run.failures:
        stood, attribution = standing(run.verdicts.get(failure.id, ())), run.attributions.get(failure.id)
        changed += stood is not None and attribution is not None and stood.verdict.owner != attribution.owner
    return changed


def _pace(runs: Sequence[RunToReview], reviewer: Reviewer) -> float | None:
    every = (one for run in runs for given in run.verdicts.values() for one in newest_readings(given))
    own = sorted(one.at or "" for one in every if is_same(one.reviewer, reviewer))[-PACE - 1 :]
    moments = [datetime.fromisoformat(at) for at in own if at]
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(moments)]
    working = [gap for gap in gaps if gap < PAUSE]
    return median(working) if working else None


def alike(attempt: str, items: Iterable[WorkItem], attributions: Mapping[str, Attribution]) -> tuple[str, ...]:
    """Other open failures with the same failure key, owner and evidence."""
    key = _key(attributions.get(attempt))
    others = (one.attempt for one in items if one.group != "done" and one.attempt != attempt)
    return tuple(one for one in others if key and _key(attributions.get(one)) == key)
