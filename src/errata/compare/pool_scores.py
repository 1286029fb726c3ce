"""The verb `score --pooled`: several runs of each subject as one, where their suites are equal."""

from collections.abc import Sequence

import msgspec

from errata.compare.policies import POLICIES
from errata.compare.pooling import pooled
from errata.compare.scores import Policy, Score
from errata.errors import ErrataError
from errata.model import Run
from errata.runs.scores import Scores


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one subject."""

    runs: tuple[Run, ...]
    left_out: tuple[tuple[Run, str], ...]
    """Runs that are in no pooled score, and why."""
    unit: str
    scores: dict[Policy, Score]
    categories: dict[str, dict[Policy, Score]]


def pool(every: Sequence[Scores]) -> list[Pool]:
    """One for each subject, in the order given."""
    _refuse_other_suites([one.stored.run for one in every])
    subjects: dict[tuple[str, ...], list[Scores]] = {}
    for one in every:
        subjects.setdefault(_subject(one.stored.run), []).append(one)
    return [_pool(those) for those in subjects.values()]


def _refuse_other_suites(runs: Sequence[Run]) -> None:
    suites = {" ".join(filter(None, (run.suite, run.suite_version))): run for run in runs}
    if len(suites) > 1:
        raise ErrataError(
            f"Runs of different suites can't be pooled: {', '.join(f'`{suite}`' for suite in suites)}",
            hint="pool the runs of one suite, in one version of it",
        )


def _subject(run: Run) -> tuple[str, ...]:
    subject = run.subject
    return subject.model, subject.agent, subject.agent_version, *(f"{key}={run.variant[key]}" for key in run.variant)


def _pool(every: list[Scores]) -> Pool:
    fit = [one for one in every if not _unfit(one)]
    names = sorted({name for one in fit for name in one.categories})
    return Pool(
        runs=tuple(one.stored.run for one in fit),
        left_out=tuple((one.stored.run, why) for one in every if (why := _unfit(one))),
        unit="attempts" if any(one.unit == "attempts" for one in fit) else "cases",
        scores=_scores([one.scores for one in fit]),
        categories={name: _scores([one.categories[name] for one in fit if name in one.categories]) for name in names},
    )


def _unfit(one: Scores) -> str:
    excluded = one.stored.run.excluded
    if excluded is not None:
        return f"excluded: {excluded.reason}"
    return "unavailable" if one.unavailable else ""


def _scores(every: Sequence[dict[Policy, Score]]) -> dict[Policy, Score]:
    if not every:
        return {policy: Score(policy=policy, note="no run is left") for policy in POLICIES}
    return {policy: pooled([scores[policy] for scores in every]) for policy in POLICIES}
