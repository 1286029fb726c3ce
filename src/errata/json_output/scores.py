"""Scores."""

from collections.abc import Mapping
from typing import Any, cast

from errata.compare.pooling import Pool
from errata.compare.scores import LeftOutGroup, Policy, Score
from errata.model.output.score import (
    EvidenceOutput,
    GroupedScoreOutput,
    GroupOutput,
    LeftOutAttemptOutput,
    PassedOutput,
    PooledRunOutput,
    PooledScoresOutput,
    RunScoresOutput,
    ScoreOutput,
)
from errata.model.run import case_name
from errata.runs.scores import Scores


def json_scores(scores: Scores) -> RunScoresOutput:
    run = scores.stored.run
    return RunScoresOutput(
        run=run.native_id,
        run_id=run.id,
        model=run.subject.model,
        agent=run.subject.agent or None,
        suite=run.suite,
        unit=cast(Any, scores.unit),
        unavailable=scores.unavailable,
        excluded=run.excluded,
        timeouts=scores.timeouts,
        scores={policy: _with_groups(scores, score) for policy, score in scores.scores.items()},
        categories=_categories(scores.categories),
        cost=scores.cost,
        after_fixes=scores.after_fixes_output(),
    )


def json_pool(pool: Pool) -> PooledScoresOutput:
    first = (*pool.runs, *(run for run, _ in pool.left_out))[0]
    return PooledScoresOutput(
        pooled=tuple(run.native_id for run in pool.runs),
        run_ids=tuple(run.id for run in pool.runs),
        left_out_runs=tuple(
            PooledRunOutput(run=run.native_id, run_id=run.id, why=why.code, excluded=why.detail or None)
            for run, why in pool.left_out
        ),
        model=first.subject.model,
        agent=first.subject.agent or None,
        suite=first.suite,
        unit=cast(Any, pool.unit),
        scores={policy: json_score(score) for policy, score in pool.scores.items()},
        categories=_categories(pool.categories),
    )


def json_score(score: Score) -> ScoreOutput:
    return ScoreOutput(**_values(score))


def _values(score: Score) -> dict[str, Any]:
    return {
        "passed": score.passed,
        "total": score.total,
        "rate": score.rate,
        "mean": score.mean,
        "interval": score.interval,
        "effective": score.effective,
        "bounds": score.bounds,
        "presumed": score.presumed,
        "rate_without_presumed": score.rate_without_presumed,
        "stated": score.stated,
        "reproduced": score.reproduced,
        "spread": score.spread,
        "left_out": score.left_out,
        "recovered": score.recovered,
        "note": score.remark,
    }


def _categories(categories: Mapping[str, Mapping[Policy, Score]]) -> dict[str, dict[str, ScoreOutput]]:
    return {name: {policy: json_score(score) for policy, score in parts.items()} for name, parts in categories.items()}


def _with_groups(scores: Scores, score: Score) -> GroupedScoreOutput:
    passed, total = score.without_beside
    return GroupedScoreOutput(
        **_values(score),
        left_out_groups=tuple(_group(scores, group) for group in score.groups),
        not_the_model_alone=tuple(_group(scores, group) for group in score.beside),
        without_these=PassedOutput(passed=passed, total=total) if score.beside else None,
    )


def _group(scores: Scores, group: LeftOutGroup) -> GroupOutput:
    run, proof = scores.stored.run, scores.proof_of(group)
    return GroupOutput(
        why=group.why,
        signal=group.signal or None,
        count=group.count,
        unnamed=group.unnamed,
        attempts=tuple(
            LeftOutAttemptOutput(
                case=case_name(run, trial.case),
                attempt_id=trial.id,
                execution=trial.execution,
                measurement=trial.measurement,
                timed_out=trial.timed_out,
            )
            for trial in group.members
        ),
        evidence=EvidenceOutput(
            where=proof.where, quote=proof.quote, stated=proof.stated, case=case_name(run, proof.case)
        )
        if proof
        else None,
    )
