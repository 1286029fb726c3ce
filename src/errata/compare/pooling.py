"""Several runs of one subject as one score: the counts are added, and what was left out is told of all of them.

Runs that repeat the same cases say less than as many runs of other cases would: the interval is that of clusters.
"""

from collections.abc import Sequence
from math import sqrt

from msgspec.structs import replace

from errata.compare.clusters import Cluster, clustered_error, effective_size, merged
from errata.compare.scores import Group, Score
from errata.compare.trials import Tried


def pooled(scores: Sequence[Score]) -> Score:
    """Of one policy. A run without a number adds nothing; but what was read by chance says nothing of the others."""
    told, policy = [score for score in scores if score.total], scores[0].policy
    if policy == "reviewed" and len(told) < len(scores):
        return Score(policy=policy, note=f"{len(told)} of {len(scores)} runs reviewed")
    if not told:
        return Score(policy=policy, note=scores[0].note)
    total = sum(score.total for score in told)
    graded = any(score.mean is not None for score in told)
    clusters = _clusters(told)
    return Score(
        policy=policy,
        passed=sum(score.passed for score in told),
        total=total,
        mean=sum((score.rate or 0.0) * score.total for score in told) / total if graded else None,
        stderr=_stderr(told, total, clusters) if graded else None,
        groups=_merged([group for score in scores for group in score.groups]),
        beside=_merged([group for score in scores for group in score.beside]),
        recovered=tuple(case for score in scores for case in score.recovered),
        note=f"of {len(told)} of {len(scores)} runs" if len(told) < len(scores) else "",
        effective=effective_size(clusters) if clusters and not graded else None,
    )


def clustered(score: Score) -> Score:
    """With what its tries are worth, where a run tries its cases several times."""
    clusters = _clusters([score])
    if all(count == 1 for _, count in clusters):
        return score
    if score.mean is not None:
        return replace(score, stderr=clustered_error(clusters))
    return replace(score, effective=effective_size(clusters))


def _clusters(scores: Sequence[Score]) -> list[Cluster]:
    """What each case adds to all of them; a planned case without a name is one of its own. Empty where it's unknown."""
    if not all(score.by_case for score in scores):
        return []
    found = list(merged(score.by_case for score in scores).values())
    unnamed = sum(score.total for score in scores) - sum(count for _, count in found)
    return found + [(0.0, 1)] * unnamed


def _stderr(scores: Sequence[Score], total: int, clusters: Sequence[Cluster]) -> float | None:
    """Of a mean over cases; where these are not known, over runs that were made one by one."""
    if clusters:
        return clustered_error(clusters)
    known = [(score.total, score.stderr) for score in scores if score.stderr is not None]
    if len(known) < len(scores):
        return None
    return sqrt(sum((n * stderr) ** 2 for n, stderr in known)) / total


def _merged(groups: Sequence[Group]) -> tuple[Group, ...]:
    members: dict[tuple[str, str], list[Tried]] = {}
    unnamed: dict[tuple[str, str], int] = {}
    for group in groups:
        key = (group.why, group.signal)
        members.setdefault(key, []).extend(group.members)
        unnamed[key] = unnamed.get(key, 0) + group.unnamed
    made = [
        Group(why=why, signal=signal, members=tuple(those), unnamed=unnamed[why, signal])
        for (why, signal), those in members.items()
    ]
    return tuple(sorted(made, key=lambda group: -group.count))
