"""The runs of a batch's experiments: children of the attempt whose session made them.

Later sessions resume into the same folder and reuse its runs, so the newest attempt of a test need not own any.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, Item, case_key, times
from errata.sources.base import number_or_none as number
from errata.sources.scylla.batch_tests import SUITE, facts_of_score, usage_of_cost
from errata.sources.scylla.experiment import ScyllaExperiment, facts_of_reports, parts_of, read_reports, run_places
from errata.sources.scylla.run_folder import AttemptPosition, RunPlace, run_attempt
from errata.sources.shared.documents import Documents
from errata.sources.shared.facts import NOT_MADE, Facts
from errata.sources.shared.values import mapping, non_empty, sequence, text


def with_runs(
    attempt: Attempt, attempts: list[Attempt], experiments: list[ScyllaExperiment], documents: Documents
) -> Iterator[Item]:
    """The attempt itself, completed from the experiment folder if the summary leaves the outcome open."""
    own_experiments = [one for one in experiments if case_key(SUITE, one.test) == attempt.case]
    if not own_experiments or attempt.id != _latest(attempts, attempt.case).id:
        yield attempt
        return
    experiment = _experiment_of(attempt, own_experiments)
    reports = read_reports(experiment, documents)
    facts = non_empty(
        experiment=experiment.folder.name,
        checkpoint=experiment.checkpoint.vital_signs,
        report=experiment.report,
        experiment_config=experiment.config,
        **facts_of_reports(reports),
    )
    owner = _owner_of_runs(experiment, [one for one in attempts if one.case == attempt.case], documents)
    links = {"runs": owner.id} if owner is not None and owner.id != attempt.id else {}
    parts = tuple(parts_of(reports)) or attempt.parts
    attempt = msgspec.structs.replace(attempt, extra=attempt.extra | facts, links=links, parts=parts)
    open_outcome = attempt.native_status == "success" and attempt.measurement == "not_run"
    yield _with_derived_outcome(attempt, experiment, documents) if open_outcome else attempt


def children_of(attempts: list[Attempt], experiments: list[ScyllaExperiment], documents: Documents) -> Iterator[Item]:
    used_paths: set[tuple[str, str]] = set()
    for experiment in experiments:
        siblings = [one for one in attempts if one.case == case_key(SUITE, experiment.test) and not one.duplicate_of]
        for place in run_places(experiment):
            yield _child(place, experiment, siblings, used_paths, documents)
            yield from documents.problems()


def _child(
    place: RunPlace,
    experiment: ScyllaExperiment,
    siblings: list[Attempt],
    used_paths: set[tuple[str, str]],
    documents: Documents,
) -> Attempt:
    run = run_attempt(place, AttemptPosition("", ""), documents)
    parent = _session_of(run.finished_at, siblings)
    path = place.name
    for longer in (f"{place.corner}/{path}", f"{experiment.folder.name}/{place.corner}/{path}"):
        path = longer.replace("//", "/") if (parent.id, path) in used_paths else path
    while (parent.id, path) in used_paths:
        path += "+"
    used_paths.add((parent.id, path))
    extra = run.extra | {"experiment": experiment.folder.name}
    position: dict[str, Any] = {
        "run": parent.run,
        "case": parent.case,
        "index": parent.index,
        "session": parent.session,
    }
    return msgspec.structs.replace(run, **position, id="", path=path, parent=parent.id, extra=extra)


def _owner_of_runs(experiment: ScyllaExperiment, siblings: list[Attempt], documents: Documents) -> Attempt | None:
    """If a resumed test reuses stored runs: the attempt that made them."""
    for place in run_places(experiment):
        run = run_attempt(place, AttemptPosition("", ""), documents)
        list(documents.problems())  # reported again when the runs are yielded
        return _session_of(run.finished_at, siblings)
    return None


def _session_of(moment: str | None, siblings: list[Attempt]) -> Attempt:
    """The attempt during which the run ended, if the times show it; otherwise the latest."""
    latest = max(siblings, key=lambda one: one.session or 0)
    if moment is None or times.is_local(moment):
        return latest
    at = times.parse(moment)
    begun = [one for one in siblings if one.started_at and times.parse(one.started_at) <= at]
    return max(begun, key=lambda one: one.session or 0, default=latest)


def _latest(attempts: list[Attempt], case: str) -> Attempt:
    return max((one for one in attempts if one.case == case and not one.duplicate_of), key=lambda one: one.session or 0)


def _experiment_of(attempt: Attempt, experiments: list[ScyllaExperiment]) -> ScyllaExperiment:
    """The experiment named by `result_dir`, otherwise the newest by name."""
    matching = [one for one in experiments if one.folder.name == attempt.extra.get("result_dir")]
    return (matching or sorted(experiments, key=lambda one: one.folder.name))[-1]


class _Derived(NamedTuple):
    facts: Facts
    cost: float | None
    fields: dict[str, Any]


def _with_derived_outcome(attempt: Attempt, experiment: ScyllaExperiment, documents: Documents) -> Attempt:
    derived = _from_report(experiment) or _from_runs(experiment, documents)
    if derived is None:
        return attempt
    return msgspec.structs.replace(
        attempt,
        execution=derived.facts.execution,
        measurement=derived.facts.measurement,
        outcome=derived.facts.outcome,
        usage=usage_of_cost(derived.cost),
        extra=attempt.extra | {"derived": derived.fields},
    )


def _from_report(experiment: ScyllaExperiment) -> _Derived | None:
    """The batch runner's rule, applied to the experiment's own report."""
    summary = experiment.summary
    if not summary:
        return None
    best, cost = text(summary.get("best_tier")), number(summary.get("total_cost"))
    scores = {
        text(mapping(tier_entry).get("tier")): mapping(tier_entry).get("best_score")
        for tier_entry in sequence(experiment.report.get("children"))
    }
    score = number(scores.get(best)) or 0.0
    facts = facts_of_score(score)
    if facts.outcome == "fail" and cost == 0:
        facts = NOT_MADE
    return _Derived(facts, cost, non_empty(by="report.json", best_tier=best, best_score=score))


def _from_runs(experiment: ScyllaExperiment, documents: Documents) -> _Derived | None:
    """From the finished and judged runs: the tier with the best pass rate, and its best subtest's mean score."""
    runs = [(place, run_attempt(place, AttemptPosition("", ""), documents)) for place in run_places(experiment)]
    list(documents.problems())  # reported again when the runs are yielded
    judged_runs = [(place, run) for place, run in runs if run.measurement == "scored" and run.outcome != "none"]
    costs = [run.usage.cost for _, run in runs if run.usage.cost is not None]
    if not judged_runs:
        return None
    tiers = {place.tier: [pair for pair in judged_runs if pair[0].tier == place.tier] for place, _ in judged_runs}
    rates = {tier: sum(run.outcome == "pass" for _, run in of_it) / len(of_it) for tier, of_it in tiers.items()}
    bests = {tier: _best_score(of_it) for tier, of_it in tiers.items()}
    best = max(tiers, key=lambda tier: (rates[tier], bests[tier]))
    fields = non_empty(
        by="runs", best_tier=best, best_score=bests[best], pass_rate=rates[best], judged_runs=len(judged_runs)
    )
    fields |= non_empty(executions={place.name: run.execution for place, run in runs if run.execution != "completed"})
    return _Derived(facts_of_score(bests[best]), round(sum(costs), 6) if costs else None, fields)


def _best_score(of_tier: list[tuple[RunPlace, Attempt]]) -> float:
    scores: dict[str, list[float]] = {}
    for place, run in of_tier:
        scores.setdefault(place.subtest, []).append(
            run.reported if run.reported is not None else float(run.outcome == "pass")
        )
    return max(sum(found) / len(found) for found in scores.values())
