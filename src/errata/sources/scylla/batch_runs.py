"""The runs of a batch's experiments: children of the attempt whose session made them.

Later sessions resume into the same folder and reuse its runs, so the newest attempt of a test need not own any.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from errata.model import Attempt, ErrorInfo, Item, Part, case_key, times
from errata.sources.base import number_or_none as number
from errata.sources.scylla import TIMED_NAME
from errata.sources.scylla.batch_tests import NO_VERDICT, SUITE, facts_of_score, usage_of_cost
from errata.sources.scylla.experiment import ScyllaExperiment, facts_of_reports, parts_of, read_reports, run_places
from errata.sources.scylla.log_lines import JUDGE_NOT_EQUIPPED
from errata.sources.scylla.run_folder import AttemptPosition, RunPlace, run_attempt
from errata.sources.shared.documents import Documents
from errata.sources.shared.facts import NOT_MADE, Facts
from errata.sources.shared.values import mapping, non_empty, sequence, text


class RunVerdicts(NamedTuple):
    has_verdict: bool
    judged_in_vain: bool
    errors: tuple[ErrorInfo, ...]
    """Of the runs without a verdict; equal ones once, with the runs that they hit."""


def with_runs(
    attempt: Attempt, attempts: list[Attempt], experiments: list[ScyllaExperiment], documents: Documents
) -> Iterator[Item]:
    """The attempt itself, completed from the experiment folder if the summary leaves the outcome open."""
    own_experiments = [one for one in experiments if case_key(SUITE, one.test) == attempt.case]
    siblings = [one for one in attempts if one.case == attempt.case]
    if not own_experiments:
        yield attempt
    elif attempt.id == _latest(attempts, attempt.case).id:
        yield _latest_with_runs(attempt, siblings, _experiment_of(attempt, own_experiments), documents)
    else:
        yield _earlier_with_runs(attempt, siblings, own_experiments, documents)


def _latest_with_runs(
    attempt: Attempt, siblings: list[Attempt], experiment: ScyllaExperiment, documents: Documents
) -> Attempt:
    reports = read_reports(experiment, documents)
    facts = non_empty(
        experiment=experiment.folder.name,
        checkpoint=experiment.checkpoint.vital_signs,
        report=experiment.report,
        experiment_config=experiment.config,
        **facts_of_reports(reports),
    )
    owner = _owner_of_runs(experiment, siblings, documents)
    links = {"runs": owner.id} if owner is not None and owner.id != attempt.id else {}
    parts = tuple(parts_of(reports)) or attempt.parts
    attempt = msgspec.structs.replace(attempt, extra=attempt.extra | facts, links=links, parts=parts)
    if _is_open(attempt):
        attempt = _with_derived(attempt, _from_report(experiment) or _from_runs(experiment, documents))
    elif _is_entry(attempt) and attempt.usage.cost is None:
        # an entry has no cost; what the experiment cost so far is in its folder
        attempt = msgspec.structs.replace(attempt, usage=usage_of_cost(_cost_of(experiment, documents)))
    if is_in_doubt(attempt) and attempt.execution == "completed":
        attempt = corrected(attempt, _verdicts(_runs(experiment, documents)))
    elif is_unexplained(attempt):
        attempt = explained(attempt, _verdicts(_runs(experiment, documents)))
    return attempt


def _earlier_with_runs(
    attempt: Attempt, siblings: list[Attempt], experiments: list[ScyllaExperiment], documents: Documents
) -> Attempt:
    """An entry that a later one replaced: its outcome is in the runs that were finished before the later one began."""
    later = [one.started_at for one in siblings if (one.session or 0) > (attempt.session or 0) and one.started_at]
    if not _is_open(attempt) or not later:
        return attempt
    until = min(later, key=times.parse)
    begun = [one for one in experiments if (start := _begun_at(one)) is None or start < times.parse(until)]
    if not begun:
        return attempt
    experiment = _experiment_of(attempt, begun)
    attempt = _with_derived(attempt, _from_runs(experiment, documents, until=until))
    if is_in_doubt(attempt):
        attempt = corrected(attempt, _verdicts(_runs(experiment, documents, until=until)))
    return attempt


def _verdicts(runs: Iterator[tuple[RunPlace, Attempt]]) -> RunVerdicts:
    return verdicts_of((place.name, run) for place, run in runs)


def _is_entry(attempt: Attempt) -> bool:
    """Of a summary of the second generation, which has neither costs nor outcomes."""
    return attempt.native_status in ("success", "error") and attempt.exit_code is None


def _is_open(attempt: Attempt) -> bool:
    return attempt.native_status == "success" and attempt.measurement == "not_run"


def _begun_at(experiment: ScyllaExperiment) -> datetime | None:
    """The time in the name of the folder."""
    timed = TIMED_NAME.match(experiment.name)
    try:
        return datetime.strptime(timed[1], "%Y-%m-%dT%H-%M-%S").replace(tzinfo=UTC) if timed else None
    except ValueError:
        return None


def _runs(
    experiment: ScyllaExperiment, documents: Documents, *, until: str | None = None
) -> Iterator[tuple[RunPlace, Attempt]]:
    """The stored runs, those that were finished before `until` if it is given."""
    for place in run_places(experiment):
        run = run_attempt(place, AttemptPosition("", ""), documents)
        list(documents.problems())  # reported again when the runs are yielded
        if until is None or (run.finished_at is not None and times.parse(run.finished_at) < times.parse(until)):
            yield place, run


def _cost_of(experiment: ScyllaExperiment, documents: Documents) -> float | None:
    reported = number(experiment.summary.get("total_cost"))
    costs = [run.usage.cost for _, run in _runs(experiment, documents) if run.usage.cost is not None]
    return reported if reported is not None else _total(costs)


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
    first = next(_runs(experiment, documents), None)
    return _session_of(first[1].finished_at, siblings) if first is not None else None


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

    @property
    def score(self) -> float | None:
        return number(self.fields.get("best_score"))

    @property
    def parts(self) -> tuple[Part, ...]:
        best = text(self.fields.get("best_tier"))
        return (Part(path=best, score=self.score, is_best=True),) if best else ()


def _with_derived(attempt: Attempt, derived: _Derived | None) -> Attempt:
    if derived is None:
        return attempt
    return msgspec.structs.replace(
        attempt,
        execution=derived.facts.execution,
        measurement=derived.facts.measurement,
        outcome=derived.facts.outcome,
        usage=usage_of_cost(derived.cost),
        reported=derived.score,
        parts=attempt.parts or derived.parts,
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


def _from_runs(experiment: ScyllaExperiment, documents: Documents, *, until: str | None = None) -> _Derived | None:
    """From the finished and judged runs: the tier with the best pass rate, and its best subtest's mean score."""
    runs = list(_runs(experiment, documents, until=until))
    judged_runs = [(place, run) for place, run in runs if run.measurement == "scored" and run.outcome != "none"]
    costs = [run.usage.cost for _, run in runs if run.usage.cost is not None]
    if not judged_runs:
        in_vain = any(run.measurement == "error" for _, run in runs)
        facts = (
            NO_VERDICT if in_vain else NOT_MADE if runs and all(run.execution == "error" for _, run in runs) else None
        )
        return _Derived(facts, _total(costs), non_empty(by="runs")) if facts else None
    tiers = {place.tier: [pair for pair in judged_runs if pair[0].tier == place.tier] for place, _ in judged_runs}
    rates = {tier: sum(run.outcome == "pass" for _, run in of_it) / len(of_it) for tier, of_it in tiers.items()}
    bests = {tier: _best_score(of_it) for tier, of_it in tiers.items()}
    best = max(tiers, key=lambda tier: (rates[tier], bests[tier]))
    fields = non_empty(
        by="runs", best_tier=best, best_score=bests[best], pass_rate=rates[best], judged_runs=len(judged_runs)
    )
    fields |= non_empty(executions={place.name: run.execution for place, run in runs if run.execution != "completed"})
    return _Derived(facts_of_score(bests[best]), _total(costs), fields)


def _total(costs: list[float]) -> float | None:
    return round(sum(costs), 6) if costs else None


def _best_score(of_tier: list[tuple[RunPlace, Attempt]]) -> float:
    scores: dict[str, list[float]] = {}
    for place, run in of_tier:
        scores.setdefault(place.subtest, []).append(
            run.reported if run.reported is not None else float(run.outcome == "pass")
        )
    return max(sum(found) / len(found) for found in scores.values())


# --- what the stored runs of a test show about its result: a score of 0 is a verdict only where a judgment is valid


MOST_ERRORS = 20
WITHOUT_REASON = frozenset(("ExitCode", "NoResult", "NothingSpent"))
"""Errors that only state that a test has no result."""


def verdicts_of(runs: Iterable[tuple[str, Attempt]]) -> RunVerdicts:
    has_verdict = judged_in_vain = False
    by_text: dict[tuple[str, str], ErrorInfo] = {}
    for name, run in runs:
        if run.measurement == "scored" and run.outcome in ("pass", "fail"):
            has_verdict = True
        judged_in_vain = judged_in_vain or run.measurement == "error"
        for error in run.errors:
            key = (error.type, error.message)
            if key in by_text or len(by_text) < MOST_ERRORS:
                known = by_text.get(key, error)
                ref = known.ref or run.ref
                by_text[key] = msgspec.structs.replace(known, hits=(*known.hits, name), ref=ref)
    return RunVerdicts(has_verdict, judged_in_vain, tuple(by_text.values()))


def corrected(attempt: Attempt, verdicts: RunVerdicts) -> Attempt:
    """A failure without any points is the subject's only where somebody judged it."""
    if verdicts.has_verdict:
        # judges that could not look at the work write valid judgments, too
        had_no_tools = any(error.type == JUDGE_NOT_EQUIPPED and not error.recovered for error in attempt.errors)
        return _as_measured(attempt) if attempt.measurement == "error" and not had_no_tools else attempt
    if not verdicts.errors:
        return attempt
    facts = NO_VERDICT if verdicts.judged_in_vain else NOT_MADE
    return _with_facts(attempt, facts, (*verdicts.errors, *attempt.errors))


def is_in_doubt(attempt: Attempt) -> bool:
    """Whether only the stored runs show if the result counts."""
    return (attempt.outcome == "fail" or attempt.measurement == "error") and not attempt.reported


def is_unexplained(attempt: Attempt) -> bool:
    """It ended, and neither the summary nor the log has more than how."""
    error = attempt.lasting_error
    return attempt.execution == "error" and error is not None and error.type in WITHOUT_REASON


def explained(attempt: Attempt, verdicts: RunVerdicts) -> Attempt:
    """The errors of its runs come first: they name what ended the test."""
    return msgspec.structs.replace(attempt, errors=(*verdicts.errors, *attempt.errors))


def _as_measured(attempt: Attempt) -> Attempt:
    errors = tuple(msgspec.structs.replace(error, recovered=True) for error in attempt.errors)
    return _with_facts(attempt, facts_of_score(attempt.reported or 0), errors)


def _with_facts(attempt: Attempt, facts: Facts, errors: tuple[ErrorInfo, ...]) -> Attempt:
    checks = attempt.checks
    if facts.outcome == "none":
        checks = tuple(msgspec.structs.replace(check, status="not_run", counts=False) for check in checks)
    return msgspec.structs.replace(attempt, **facts._asdict(), errors=errors, checks=checks)
