"""The current verdict of an attempt: which of its verdicts counts, what it replaced, and whether it is final."""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from errata.model import Reviewer, StoredRun, Verdict
from errata.model.record import Struct
from errata.text.lazy_regex import lazy_regex

_PROVIDER = lazy_regex(r"^\w+:")
_DATE = lazy_regex(r"[-_](?:20\d{6}|20\d\d-\d\d-\d\d|latest)$")


class LabelChange(Struct):
    """Another label than before; the first is triage's suggestion where there was one."""

    old: str
    new: str
    by: Reviewer
    verdict: str
    at: str | None = None


class Standing(Struct):
    verdict: Verdict
    disagreeing: tuple[Verdict, ...] = ()
    """The newest verdict of each other reviewer who disagrees."""
    readings: tuple[Verdict, ...] = ()
    """The verdicts between which an adjudication decided."""
    changes: tuple[LabelChange, ...] = ()
    final: bool = False
    """Read by its reviewer, and seconded where that is needed."""

    @property
    def is_disputed(self) -> bool:
        """Reviewers disagree, and no person has decided."""
        return bool(self.disagreeing) and self.verdict.reviewer.kind != "person"


def standing(verdicts: Iterable[Verdict], *, suggested: str = "") -> Standing | None:
    """`suggested` is the label that triage would give. A verdict that was superseded does not stand again."""
    every = sorted(verdicts, key=_age)
    gone = {verdict.supersedes for verdict in every}
    live = [verdict for verdict in every if verdict.id not in gone]
    if not live:
        return None
    chosen = _newest(live)
    others = _newest_of_each(
        other for other in live if other.taxonomy == chosen.taxonomy and not is_same(other.reviewer, chosen.reviewer)
    )
    return Standing(
        verdict=chosen,
        disagreeing=tuple(one for one in others if not _agree(one, chosen) and one.id not in chosen.adjudicates),
        readings=tuple(one for one in every if one.id in chosen.adjudicates),
        changes=tuple(_changes(every, chosen.taxonomy, suggested)),
        final=_counts(chosen, others),
    )


def without_withdrawn(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Those that were not taken back; a withdrawal goes with every version before it."""
    every = list(verdicts)
    by_id = {one.id: one for one in every}
    gone: set[str] = set()
    for verdict in every:
        at = verdict if verdict.withdrawn else None
        while at is not None and at.id not in gone:
            gone.add(at.id)
            at = by_id.get(at.supersedes or "")
    return [one for one in every if one.id not in gone]


def final(verdicts: Iterable[Verdict]) -> Verdict | None:
    current = standing(verdicts)
    return current.verdict if current and current.final else None


def _newest(verdicts: Sequence[Verdict]) -> Verdict:
    """A person's before any other's, a reviewer's own before an inherited one; then the newest."""
    return max(verdicts, key=lambda one: (one.inherited_from is None, one.reviewer.kind == "person", *_age(one)))


def _age(verdict: Verdict) -> tuple[str, str]:
    return verdict.at or "", verdict.id


def _newest_of_each(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """Oldest first; inherited ones are nobody's opinion on this attempt."""
    newest = {name_of(one.reviewer): one for one in verdicts if one.inherited_from is None}
    return sorted(newest.values(), key=_age)


def _changes(every: Sequence[Verdict], taxonomy: str, suggested: str) -> Iterator[LabelChange]:
    label = suggested
    given = [verdict for verdict in every if verdict.taxonomy == taxonomy]
    for count in range(1, len(given) + 1):
        gone = {verdict.supersedes for verdict in given[:count]}
        now = _newest([verdict for verdict in given[:count] if verdict.id not in gone] or given[count - 1 : count])
        if label and now.label != label:
            yield LabelChange(old=label, new=now.label, by=now.reviewer, verdict=now.id, at=now.at)
        label = now.label


def _counts(chosen: Verdict, others: Iterable[Verdict]) -> bool:
    if chosen.inherited_from is not None:
        return False
    # a second reading by the same reviewer may fall for the same text
    independent = (one for one in others if are_two(one.reviewer, chosen.reviewer))
    return not chosen.needs_second or any(_agree(other, chosen) for other in independent)


def _agree(first: Verdict, other: Verdict) -> bool:
    """On the owner as well: `none` only means that no label fits."""
    return (first.label, first.owner) == (other.label, other.owner)


def is_same(first: Reviewer, other: Reviewer) -> bool:
    """Whether it is the same reading of one reviewer; an older verdict has a name only."""
    if first.caller and other.caller:
        return name_of(first) == name_of(other)
    return (_called(first), first.reading) == (_called(other), other.reading)


def are_two(first: Reviewer, other: Reviewer) -> bool:
    """Whether one can be the second opinion on the other. Names that one user gives are that user's word."""
    if not (first.caller and other.caller):
        return _called(first) != _called(other)
    left, right = (base_name_of(each).partition("/")[0] for each in (first, other))
    # a command whose words are not known may be any of its name
    known = "@" in left and "@" in right
    return left != right if known else left.partition("@")[0] != right.partition("@")[0]


def name_of(reviewer: Reviewer) -> str:
    """A reviewer is the caller, else the name, whatever the kind or version; two readings count as two reviewers."""
    return f"{base_name_of(reviewer)}#{reviewer.reading}" if reviewer.reading else base_name_of(reviewer)


def base_name_of(reviewer: Reviewer) -> str:
    """The same for all readings of one reviewer, and for every version and spelling of one model."""
    kind, _, model = reviewer.caller.casefold().partition(":")
    if kind != "model":
        return reviewer.caller.casefold() or _called(reviewer)
    name = _DATE.sub("", model.partition("@")[0].rpartition("/")[2])
    return f"model:{''.join(filter(str.isalnum, _PROVIDER.sub('', name)))}"


def _called(reviewer: Reviewer) -> str:
    return reviewer.name.strip().casefold()


class AttemptReview(msgspec.Struct, frozen=True):
    """All verdicts on one attempt, oldest first."""

    verdicts: tuple[Verdict, ...]
    standing: Standing


def may_be_stale(verdict: Verdict, stored: StoredRun) -> bool:
    return stored.run.revision > 1 and (verdict.at or "") <= stored.imported_at
