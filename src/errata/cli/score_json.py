"""The scores of a run as plain values, everything that the page shows and more; never NaN, never infinite."""

from typing import Any

from errata.compare.pooling import Pool
from errata.compare.scores import Group, Policy, Score
from errata.model import Run
from errata.model.run import case_name
from errata.runs.scores import Scores


def json_scores(scores: Scores) -> dict[str, Any]:
    run = scores.stored.run
    return {
        "run": run.native_id,
        "run_id": run.id,
        "model": run.subject.model,
        "agent": run.subject.agent or None,
        "suite": run.suite,
        "unit": scores.unit,
        "unavailable": scores.unavailable,
        "excluded": run.excluded,
        "timeouts": scores.timeouts,
        "scores": {policy: _with_groups(scores, score) for policy, score in scores.scores.items()},
        "categories": _categories(scores.categories),
        "cost": scores.cost,
    }


def json_pool(pool: Pool) -> dict[str, Any]:
    first = (*pool.runs, *(run for run, _ in pool.left_out))[0]
    return {
        "pooled": [run.native_id for run in pool.runs],
        "run_ids": [run.id for run in pool.runs],
        "left_out_runs": [{"run": run.native_id, "run_id": run.id, "why": why} for run, why in pool.left_out],
        "model": first.subject.model,
        "agent": first.subject.agent or None,
        "suite": first.suite,
        "unit": pool.unit,
        "scores": {policy: json_score(score) for policy, score in pool.scores.items()},
        "categories": _categories(pool.categories),
    }


def json_score(score: Score) -> dict[str, Any]:
    return {
        "passed": score.passed,
        "total": score.total,
        "rate": score.rate,
        "mean": score.mean,
        "interval": score.interval,
        "effective": score.effective,
        "bounds": score.bounds,
        "stated": score.stated,
        "reproduced": score.reproduced,
        "left_out": score.left_out,
        "recovered": score.recovered,
        "note": score.note or None,
    }


def _categories(categories: dict[str, dict[Policy, Score]]) -> dict[str, Any]:
    return {name: {policy: json_score(score) for policy, score in parts.items()} for name, parts in categories.items()}


def _with_groups(scores: Scores, score: Score) -> dict[str, Any]:
    passed, total = score.without_beside
    return json_score(score) | {
        "left_out_groups": [_group(scores, group) for group in score.groups],
        "not_the_model_alone": [_group(scores, group) for group in score.beside],
        "without_these": {"passed": passed, "total": total} if score.beside else None,
    }


def _group(scores: Scores, group: Group) -> dict[str, Any]:
    run, proof = scores.stored.run, scores.proof_of(group)
    return {
        "why": group.why,
        "signal": group.signal or None,
        "count": group.count,
        "unnamed": group.unnamed,
        "attempts": [
            {
                "case": case_name(run, one.case),
                "attempt_id": one.id,
                "execution": one.execution,
                "measurement": one.measurement,
                "timed_out": one.timed_out,
            }
            for one in group.members
        ],
        "evidence": _evidence(run, proof.where, proof.quote, proof.case) if proof else None,
    }


def _evidence(run: Run, where: str, quote: str, case: str) -> dict[str, Any]:
    return {"where": where, "quote": quote, "case": case_name(run, case)}
