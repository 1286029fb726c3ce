"""How far independent reviewers agree beyond chance, and where a person has to decide."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations

from errata.model import StoredRun, Verdict
from errata.model.output.agreement import AgreementOutput, RaterAgreementOutput, RaterPairOutput, ReviewDisputeOutput
from errata.model.standing import name_of, standing
from errata.model.verdict import short_word_for
from errata.review.status import case_of

Ratings = Mapping[str, Mapping[str, str]]
"""Attempt → reviewer → label, owner, step or agent."""
NONE = "none"
"""No step or agent is named."""


def label_of(verdict: Verdict) -> str:
    return verdict.label


def owner_of(verdict: Verdict) -> str:
    return verdict.owner


def step_of(verdict: Verdict) -> str:
    return NONE if verdict.decisive_step is None else str(verdict.decisive_step)


def agent_of(verdict: Verdict) -> str:
    return verdict.decisive_agent or NONE


RATINGS: dict[str, Callable[[Verdict], str]] = {
    "labels": label_of,
    "owners": owner_of,
    "steps": step_of,
    "agents": agent_of,
}


def agreement(verdicts: Iterable[Verdict], rating: Callable[[Verdict], str] = label_of) -> RaterAgreementOutput:
    """Inherited verdicts are copies, not opinions: they do not count. Of each reviewer the newest does.

    On labels, or with `owner_of` on who has to act: two labels may name one owner.
    """
    return agreement_in(ratings_of(verdicts, rating))


def agreement_in(ratings: Ratings) -> RaterAgreementOutput:
    shared = {attempt: given for attempt, given in ratings.items() if len(given) > 1}
    reviewers = sorted({reviewer for given in shared.values() for reviewer in given})
    return RaterAgreementOutput(
        attempts=len(shared),
        pairs=tuple(pair for one, other in combinations(reviewers, 2) if (pair := _pair(shared, one, other)).both),
        fleiss=_fleiss_of(shared, reviewers),
        alpha=krippendorff_alpha([list(given.values()) for given in shared.values()]),
        disagreements=tuple(sorted(one for one, given in shared.items() if len(set(given.values())) > 1)),
    )


def ratings_of(verdicts: Iterable[Verdict], rating: Callable[[Verdict], str] = label_of) -> dict[str, dict[str, str]]:
    """An adjudication is not independent of what it decides between: it does not count."""
    newest = newest_by_reviewer(one for one in verdicts if not one.adjudicates)
    return {
        attempt: {reviewer: rating(verdict) for reviewer, verdict in given.items()} for attempt, given in newest.items()
    }


def newest_by_reviewer(verdicts: Iterable[Verdict]) -> dict[str, dict[str, Verdict]]:
    """Attempt → reviewer → verdict. Who goes by one name is one reviewer, under whatever kind and capitals."""
    own = sorted((one for one in verdicts if one.inherited_from is None), key=lambda one: (one.at or "", one.id))
    words: dict[str, str] = {}
    for reader in (one.reviewer for one in own):
        word, name = short_word_for(reader), name_of(reader)
        taken = any(other != name and used == word for other, used in words.items())
        words[name] = f"{word} ({reader.caller})" if taken and reader.caller else word
    newest: dict[str, dict[str, Verdict]] = {}
    for verdict in own:
        newest.setdefault(verdict.attempt, {})[words[name_of(verdict.reviewer)]] = verdict
    return newest


def _about_steps(ratings: Mapping[str, Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Only failures on which somebody names a step or an agent: for the others there is nothing to agree on."""
    return {attempt: given for attempt, given in ratings.items() if any(one != NONE for one in given.values())}


def cohen_kappa(left: Sequence[Hashable], right: Sequence[Hashable]) -> float | None:
    """Of two reviewers who rated the same things in the same order."""
    size = len(left)
    if not size:
        return None
    observed = sum(a == b for a, b in zip(left, right, strict=True)) / size
    first, second = Counter(left), Counter(right)
    expected = sum(first[label] * second[label] for label in first) / size**2
    return _beyond(observed, expected)


def fleiss_kappa(ratings: Sequence[Sequence[Hashable]]) -> float | None:
    """Of things that were all rated equally often, by two or more."""
    if not ratings:
        return None
    raters = len(ratings[0])
    if raters < 2 or any(len(one) != raters for one in ratings):
        return None
    pairs = raters * (raters - 1)
    observed = sum(sum(n * (n - 1) for n in Counter(one).values()) / pairs for one in ratings) / len(ratings)
    totals = Counter(label for one in ratings for label in one)
    whole = len(ratings) * raters
    return _beyond(observed, sum((count / whole) ** 2 for count in totals.values()))


def krippendorff_alpha(ratings: Sequence[Sequence[Hashable]]) -> float | None:
    """For labels without an order; things may be rated by any number of reviewers."""
    paired = [one for one in ratings if len(one) > 1]
    whole = sum(len(one) for one in paired)
    if whole < 2:
        return None
    differing = 0.0
    for labels in paired:
        counts = Counter(labels)
        differing += (len(labels) ** 2 - sum(n * n for n in counts.values())) / (len(labels) - 1)
    totals = Counter(label for one in paired for label in one)
    by_chance = (whole**2 - sum(n * n for n in totals.values())) / (whole - 1)
    return None if by_chance == 0 else 1 - differing / by_chance


def _beyond(observed: float, expected: float) -> float | None:
    """Where chance alone agrees everywhere there is nothing beyond it to measure."""
    return None if expected >= 1 else (observed - expected) / (1 - expected)


def _pair(ratings: Ratings, first: str, second: str) -> RaterPairOutput:
    both = [(given[first], given[second]) for given in ratings.values() if first in given and second in given]
    confusion: dict[str, dict[str, int]] = {}
    for (row, column), count in sorted(Counter(both).items()):
        confusion.setdefault(row, {})[column] = count
    return RaterPairOutput(
        first=first,
        other=second,
        both=len(both),
        same=sum(left == right for left, right in both),
        kappa=cohen_kappa([left for left, _ in both], [right for _, right in both]),
        confusion=confusion,
    )


def _fleiss_of(ratings: Ratings, reviewers: Sequence[str]) -> float | None:
    if len(reviewers) < 3:
        return None
    complete = [[given[name] for name in reviewers] for given in ratings.values() if len(given) == len(reviewers)]
    return fleiss_kappa(complete)


def agreement_of(runs: Iterable[tuple[StoredRun, Sequence[Verdict]]]) -> list[AgreementOutput]:
    """Over all runs together; apart for each taxonomy, since labels of two can't be compared."""
    given: dict[str, list[tuple[StoredRun, Verdict]]] = {}
    for stored, verdicts in runs:
        for verdict in verdicts:
            given.setdefault(verdict.taxonomy, []).append((stored, verdict))
    return [_agreed(taxonomy, found) for taxonomy, found in sorted(given.items())]


def _agreed(taxonomy: str, given: Sequence[tuple[StoredRun, Verdict]]) -> AgreementOutput:
    verdicts = [verdict for _, verdict in given]
    runs = {verdict.attempt: stored for stored, verdict in given}
    ratings = {field: ratings_of(verdicts, rating) for field, rating in RATINGS.items()}
    labels, owners = agreement_in(ratings["labels"]), agreement_in(ratings["owners"])
    disputed = sorted({*labels.disagreements, *owners.disagreements})
    return AgreementOutput(
        taxonomy=taxonomy,
        agreement=labels,
        owners=owners,
        steps=agreement_in(_about_steps(ratings["steps"])),
        agents=agreement_in(_about_steps(ratings["agents"])),
        disputes=tuple(
            _dispute(
                runs[attempt], attempt, verdicts, {field: dict(given[attempt]) for field, given in ratings.items()}
            )
            for attempt in disputed
        ),
    )


def _dispute(
    stored: StoredRun, attempt: str, verdicts: Sequence[Verdict], ratings: dict[str, dict[str, str]]
) -> ReviewDisputeOutput:
    stood = standing(one for one in verdicts if one.attempt == attempt)
    is_decided = stood is not None and (stood.verdict.reviewer.kind == "person" or bool(stood.verdict.adjudicates))
    return ReviewDisputeOutput(
        run=stored.run.native_id,
        case=case_of(stored, attempt),
        attempt_id=attempt,
        decided=stood.verdict.label if stood and is_decided else "",
        **ratings,
    )
