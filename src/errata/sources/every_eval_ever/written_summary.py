"""A run and what its attempts come to → the summary of an evaluation."""

from collections.abc import Iterator, Mapping
from typing import Any

from errata.model import Run
from errata.model.times import moment_of
from errata.sources.every_eval_ever.naming import SCHEMA, UNKNOWN, Naming
from errata.sources.every_eval_ever.tallying import Tallies, Tally
from errata.sources.shared.values import as_text
from errata.text.private import tree_for_others

_ARGUMENTS = ("temperature", "top_p", "top_k", "max_tokens")
_MEANS = frozenset(("mean", "accuracy"))
ROUNDED = 0.005

Summary = dict[str, Any]


def summary_of(run: Run, naming: Naming, tallies: Tallies, *, now: float, written_by: str) -> Summary:
    """Without the instances; `now` is when this is written, in seconds since 1970."""
    when = _since_1970(run.started_at)
    lost = {what: count for what, count in sorted(tallies.losses.items()) if count}
    details = {"written_by": written_by, "run_id": run.id, "native_id": run.native_id}
    details |= {"not_expressed": "; ".join(f"{what}: {count}" for what, count in lost.items())} if lost else {}
    told: Summary = {
        "evaluation_id": naming.evaluation_id,
        **({"evaluation_timestamp": when} if when else {}),
        "retrieved_timestamp": f"{now:.0f}",
        "source_metadata": {
            "source_name": run.source.name,
            "source_type": "evaluation_run",
            "source_organization_name": UNKNOWN,
            "evaluator_relationship": "other",
            "additional_details": details,
        },
        "eval_library": {"name": run.source.name, "version": run.source.format_version or UNKNOWN},
        "model_info": _model(run, naming),
        "evaluation_results": list(_results(run, naming, tallies)),
    }
    # ids and names were cleaned where they were made
    return {"schema_version": SCHEMA, **tree_for_others(told), "evaluation_id": naming.evaluation_id}


def with_instances(summary: Summary, naming: Naming, *, rows: int, checksum: str) -> Summary:
    told = {
        "format": "jsonl",
        "file_path": f"{naming.folder}/{naming.stem}_samples.jsonl",
        "hash_algorithm": "sha256",
        "checksum": checksum,
        "total_rows": rows,
    }
    return summary | {"detailed_evaluation_results": told}


def _model(run: Run, naming: Naming) -> Summary:
    details = {"deployment_type": UNKNOWN, "model_availability": UNKNOWN}
    agent = " ".join(filter(None, (run.subject.agent, run.subject.agent_version)))
    platform = {"inference_platform": run.subject.provider} if run.subject.provider else {}
    return {
        "name": run.subject.model or naming.model_id,
        "id": naming.model_id,
        "developer": naming.developer,
        **platform,
        "additional_details": details | ({"agent": agent} if agent else {}),
    }


def _results(run: Run, naming: Naming, tallies: Tallies) -> Iterator[Summary]:
    headline = tallies.headline
    stated = headline.value if headline else None
    score = tallies.main.mean if stated is None else stated
    shared = _shared(run, naming)
    if score is not None:
        kind = "pass_rate" if headline is None else "mean" if headline.metric in _MEANS else headline.metric
        told = {"number": "as the harness states it" if stated is not None else "counted from the rows"}
        yield shared | _result(run, tallies.primary, kind, tallies.main, score) | _details(score, run, tallies, told)
    for name, tally in ((tallies.graded,) if tallies.graded else ()) + tuple(tallies.measures.items()):
        if tally.mean is not None:
            yield shared | _result(run, name, "mean", tally, tally.mean) | {"score_details": _of_values(tally)}


def _shared(run: Run, naming: Naming) -> Summary:
    given = {name: value for name in _ARGUMENTS if isinstance(value := run.subject.params.get(name), int | float)}
    if given.get("max_tokens", 1) < 1 or not isinstance(given.get("max_tokens", 1), int):
        del given["max_tokens"]
    others = {key: as_text(value) for key, value in run.subject.params.items() if key not in given}
    made: Summary = {
        "evaluation_name": naming.evaluation_name,
        "source_data": {"dataset_name": naming.evaluation_name, "source_type": "other"},
    }
    if given or others:
        config = {"generation_args": given or None, "additional_details": others or None}
        made["generation_config"] = {name: one for name, one in config.items() if one}
    return made


def _result(run: Run, name: str, kind: str, tally: Tally, score: float) -> Summary:
    scorer = next((one for one in run.scorers if one.name == name), None)
    config: Summary = {
        "metric_id": f"{run.source.name}.{name}",
        "metric_name": name,
        "metric_kind": kind,
        "lower_is_better": scorer.lower_is_better if scorer else False,
        **_bounds(tally, score),
    }
    if scorer is not None and (scorer.model or scorer.threshold is not None):
        told = {"judge": scorer.model, "threshold": "" if scorer.threshold is None else f"{scorer.threshold:g}"}
        config["additional_details"] = {key: one for key, one in told.items() if one}
    return {"evaluation_result_id": name, "metric_config": config}


def _bounds(tally: Tally, score: float) -> Mapping[str, Any]:
    """Told only where the values show them: what else a number may be, no log says."""
    if not tally.count or not 0 <= min(tally.lowest, score) <= max(tally.highest, score) <= 1:
        return {}
    return {"score_type": "binary" if tally.is_binary else "continuous", "min_score": 0.0, "max_score": 1.0}


def _details(score: float, run: Run, tallies: Tallies, told: dict[str, str]) -> Summary:
    headline = tallies.headline
    uncertainty: Summary = {"num_samples": n} if (n := _n(run, tallies)) is not None else {}
    if headline is not None and headline.stderr is not None:
        uncertainty["standard_error"] = {"value": headline.stderr}
    return {"score_details": {"score": score, "details": told, **({"uncertainty": uncertainty} if uncertainty else {})}}


def _n(run: Run, tallies: Tallies) -> int | None:
    """What the number is over: as the harness says of its own; the rows only where these give the same number."""
    headline, main = tallies.headline, tallies.main
    if headline is None or headline.value is None:
        return main.count
    if headline.n is not None:
        return headline.n
    same = main.mean is not None and abs(main.mean - headline.value) <= ROUNDED
    return main.count if same else run.measured_attempts


def _of_values(tally: Tally) -> Summary:
    told = {"details": {"number": "the mean over attempts of the mean of their judges"}} if tally.is_averaged else {}
    return {"score": tally.mean, **told, "uncertainty": {"num_samples": tally.count}}


def _since_1970(moment: str | None) -> str:
    return f"{moment_of(moment).timestamp():.0f}" if moment else ""
