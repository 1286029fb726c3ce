"""Models in the order of their clean pass rates, with the ranks that the data leave open."""

from collections.abc import Mapping, Sequence

import msgspec

from errata.compare.pairs import Pairing
from errata.compare.scores import Policy, Score


class Ranked(msgspec.Struct, frozen=True, kw_only=True):
    label: str
    score: Score
    """Without infrastructure failures."""
    best: int
    """One more than the number of models that are significantly better."""
    worst: int
    """As many as there are, less those that are significantly worse."""
    better_than: tuple[str, ...]
    worse_than: tuple[str, ...]


def rank(scores: Mapping[str, Mapping[Policy, Score]], pairings: Sequence[Pairing]) -> tuple[Ranked, ...]:
    """By label. Those without a clean score come last."""
    better: dict[str, list[str]] = {label: [] for label in scores}
    worse: dict[str, list[str]] = {label: [] for label in scores}
    for pair in pairings:
        if pair.better:
            ahead, behind = (pair.first, pair.second) if pair.better > 0 else (pair.second, pair.first)
            better[ahead].append(behind)
            worse[behind].append(ahead)
    ranked = [
        Ranked(
            label=label,
            score=policies["clean"],
            best=1 + len(worse[label]),
            worst=len(scores) - len(better[label]),
            better_than=tuple(better[label]),
            worse_than=tuple(worse[label]),
        )
        for label, policies in scores.items()
    ]
    return tuple(sorted(ranked, key=lambda one: (one.score.rate is None, -(one.score.rate or 0.0))))
