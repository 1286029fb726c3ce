"""Several runs of one subject as one score: the counts are added, and what was left out is told of all of them."""

from collections.abc import Sequence
from math import sqrt

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
    return Score(
        policy=policy,
        passed=sum(score.passed for score in told),
        total=total,
        mean=sum((score.rate or 0.0) * score.total for score in told) / total if graded else None,
        stderr=_stderr(told, total) if graded else None,
        groups=_merged([group for score in scores for group in score.groups]),
        beside=_merged([group for score in scores for group in score.beside]),
        recovered=tuple(case for score in scores for case in score.recovered),
        note=f"of {len(told)} of {len(scores)} runs" if len(told) < len(scores) else "",
    )


def _stderr(scores: Sequence[Score], total: int) -> float | None:
    """Of a mean over runs that were made one by one."""
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
