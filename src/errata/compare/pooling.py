"""Several runs of one subject as one score. Repeated cases are clusters, so the interval is cluster-robust."""

from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Protocol

from msgspec.structs import replace

from errata.compare.intervals import Cluster, cluster_robust_error, effective_sample_size, merge_clusters
from errata.compare.scores import POLICY_NAMES, LeftOutGroup, Policy, Score
from errata.compare.trials import Trial
from errata.errors import ErrataError
from errata.model import Run, StoredRun
from errata.model.output.score import NoteOutput
from errata.model.record import Struct
from errata.model.run import WhyLeftOut, subject_key, why_excluded


def pool_scores(scores: Sequence[Score]) -> Score:
    """Scores of one policy. A run without a number adds nothing; a sample of reviews does not carry over to others."""
    usable, policy = [score for score in scores if score.total], scores[0].policy
    if policy == "reviewed" and len(usable) < len(scores):
        return Score(policy=policy, remark=NoteOutput(code="runs_reviewed", count=len(usable), of=len(scores)))
    if not usable:
        return Score(policy=policy, remark=scores[0].remark)
    total = sum(score.total for score in usable)
    graded = any(score.mean is not None for score in usable)
    clusters = _clusters(usable)
    return Score(
        policy=policy,
        passed=sum(score.passed for score in usable),
        total=total,
        mean=sum((score.rate or 0.0) * score.total for score in usable) / total if graded else None,
        stderr=_stderr(usable, total, clusters) if graded else None,
        groups=_merged([group for score in scores for group in score.groups]),
        beside=_merged([group for score in scores for group in score.beside]),
        recovered=tuple(case for score in scores for case in score.recovered),
        recovered_passes=sum(score.recovered_passes for score in scores),
        remark=NoteOutput(code="runs_counted", count=len(usable), of=len(scores))
        if len(usable) < len(scores)
        else None,
        effective=effective_sample_size(clusters) if clusters and not graded else None,
        lower_is_better=usable[0].lower_is_better,
    )


def with_clusters(score: Score) -> Score:
    """With what its tries are worth, where a run tries its cases several times."""
    clusters = _clusters([score])
    if all(count == 1 for _, count in clusters):
        return score
    if score.mean is not None:
        return replace(score, stderr=cluster_robust_error(clusters))
    return replace(score, effective=effective_sample_size(clusters))


def _clusters(scores: Sequence[Score]) -> list[Cluster]:
    """What each case adds to all of them; a planned case without a name is one of its own. Empty where it's unknown."""
    if not all(score.by_case for score in scores):
        return []
    clusters = list(merge_clusters(score.by_case for score in scores).values())
    unnamed = sum(score.total for score in scores) - sum(count for _, count in clusters)
    return clusters + [(0.0, 1)] * unnamed


def _stderr(scores: Sequence[Score], total: int, clusters: Sequence[Cluster]) -> float | None:
    """Of a mean over cases; where these are not known, over runs that were made one by one."""
    if clusters:
        return cluster_robust_error(clusters)
    known = [(score.total, score.stderr) for score in scores if score.stderr is not None]
    if len(known) < len(scores):
        return None
    return sqrt(sum((n * stderr) ** 2 for n, stderr in known)) / total


def _merged(groups: Sequence[LeftOutGroup]) -> tuple[LeftOutGroup, ...]:
    members: dict[tuple[str, str], list[Trial]] = {}
    unnamed: dict[tuple[str, str], int] = {}
    for group in groups:
        key = (group.why, group.signal)
        members.setdefault(key, []).extend(group.members)
        unnamed[key] = unnamed.get(key, 0) + group.unnamed
    made = [
        LeftOutGroup(why=why, signal=signal, members=tuple(those), unnamed=unnamed[why, signal])
        for (why, signal), those in members.items()
    ]
    return tuple(sorted(made, key=lambda group: -group.count))


class ScoredRun(Protocol):
    """A run under every policy, as a whole and by category."""

    @property
    def stored(self) -> StoredRun: ...
    @property
    def unit(self) -> str: ...
    @property
    def unavailable(self) -> bool: ...
    @property
    def scores(self) -> Mapping[Policy, Score]: ...
    @property
    def categories(self) -> Mapping[str, Mapping[Policy, Score]]: ...


class Pool(Struct):
    """The runs of one subject."""

    runs: tuple[Run, ...]
    left_out: tuple[tuple[Run, WhyLeftOut], ...]
    """Runs that are in no pooled score, and why."""
    unit: str
    scores: dict[Policy, Score]
    categories: dict[str, dict[Policy, Score]]


def pool_runs(every: Sequence[ScoredRun]) -> list[Pool]:
    """One for each subject, in the order given."""
    _refuse_other_suites([scored.stored.run for scored in every])
    subjects: dict[tuple[str, ...], list[ScoredRun]] = {}
    for scored in every:
        subjects.setdefault(subject_key(scored.stored.run), []).append(scored)
    return [_pool(those) for those in subjects.values()]


def _refuse_other_suites(runs: Sequence[Run]) -> None:
    suites = {" ".join(filter(None, (run.suite, run.suite_version))): run for run in runs}
    if len(suites) > 1:
        raise ErrataError(
            f"Runs of different suites can't be pooled: {', '.join(f'`{suite}`' for suite in suites)}",
            hint="pool the runs of one suite, in one version of it",
        )


def _pool(every: list[ScoredRun]) -> Pool:
    fit = [one for one in every if not _unfit(one)]
    names = sorted({name for one in fit for name in one.categories})
    return Pool(
        runs=tuple(one.stored.run for one in fit),
        left_out=tuple((one.stored.run, why) for one in every if (why := _unfit(one))),
        unit="attempts" if any(one.unit == "attempts" for one in fit) else "cases",
        scores=_scores([one.scores for one in fit]),
        categories={name: _scores([one.categories[name] for one in fit if name in one.categories]) for name in names},
    )


def _unfit(scored: ScoredRun) -> WhyLeftOut | None:
    if excluded := why_excluded(scored.stored.run):
        return excluded
    return WhyLeftOut("unavailable") if scored.unavailable else None


def _scores(every: Sequence[Mapping[Policy, Score]]) -> dict[Policy, Score]:
    if not every:
        return {policy: Score(policy=policy, remark=NoteOutput(code="no_run_left")) for policy in POLICY_NAMES}
    return {policy: pool_scores([scores[policy] for scores in every]) for policy in POLICY_NAMES}
