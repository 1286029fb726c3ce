"""A single experiment tree without a batch: the run is the subject, a case is test/tier/subtest, and all runs count."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from errata.model import (
    Attempt,
    Case,
    CodeVersion,
    Item,
    Reported,
    Run,
    Scorer,
    SourceInfo,
    SourceRef,
    Subject,
    attempt_id,
    case_key,
)
from errata.sources.base import number_or_none as number
from errata.sources.scylla import NAME
from errata.sources.scylla.batch_tests import SUITE
from errata.sources.scylla.experiment import (
    ScyllaExperiment,
    facts_of_reports,
    manifest,
    open_experiment,
    parts_of,
    read_reports,
    run_places,
    task_artefacts,
    task_text,
)
from errata.sources.scylla.run_folder import AttemptPosition, RunPlace, run_attempt
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import integer, moment, non_empty, text


def read_tree(root: Path) -> Iterator[Item]:
    documents = Documents(root, NAME)
    experiment = open_experiment(root, documents)
    places = list(run_places(experiment))
    run = _run(experiment, places, documents)
    yield run
    yield from documents.problems()
    yield from _cases(experiment, places, run, documents)
    for attempt in _attempts(experiment, places, run, documents):
        yield attempt
        yield from documents.problems()


def case_name(experiment: ScyllaExperiment, place: RunPlace) -> str:
    return f"{experiment.test}/{place.tier}/{place.subtest}"


def reported_by(experiment: ScyllaExperiment, ref: SourceRef) -> tuple[Reported, ...]:
    """The experiment's own figures. None is a headline: they don't include a pass rate over all runs."""
    summary = experiment.summary
    best = text(summary.get("best_tier"))
    children = experiment.report.get("children")
    tiers = [child for child in children if isinstance(child, dict)] if isinstance(children, list) else []
    figures = [
        Reported(name=name, metric=name, value=number(summary.get(name)), ref=ref)
        for name in _FIGURES
        if name in summary
    ]
    for tier in tiers:
        name = text(tier.get("tier"))
        scored = Reported(
            name=f"best score, {name}",
            metric="best_score",
            filter=name,
            value=number(tier.get("best_score")),
            ref=ref,
            extra=non_empty(cost=tier.get("cost"), best_subtest=tier.get("best_subtest"), best=name == best or None),
        )
        figures.append(scored)
    return tuple(figures)


_FIGURES = ("frontier_cop", "total_cost", "total_duration", "total_tiers")


def _run(experiment: ScyllaExperiment, places: list[RunPlace], documents: Documents) -> Run:
    config, checkpoint, summary = experiment.config, experiment.checkpoint, experiment.summary
    reports = read_reports(experiment, documents)
    repo, commit = text(config.get("task_repo")), text(config.get("task_commit"))
    return Run(
        native_id=experiment.name,
        source=SourceInfo(name=NAME, format_version=f"checkpoint {checkpoint.version}" if checkpoint.version else ""),
        name=experiment.test,
        subject=Subject(model=experiment.models[0] if experiment.models else ""),
        roles=experiment.judges,
        suite=SUITE,
        expected_cases=len({place[:2] for place in places}) or None,
        started_at=moment(summary.get("started_at")) or moment(checkpoint.data.get("started_at")),
        finished_at=moment(summary.get("completed_at")),
        native_status=checkpoint.status,
        reported=reported_by(experiment, documents.ref(experiment.folder / "report.json")),
        scorers=(Scorer(name="judge consensus", kind="judge", model=", ".join(experiment.judges.values())),),
        code=CodeVersion(repo=repo, commit=commit) if repo or commit else None,
        environment=non_empty(
            config=config, processes=[checkpoint.process(experiment.test)] if checkpoint.data else []
        ),
        parts=tuple(parts_of(reports)),
        ref=experiment.ref,
        origin=str(documents.root.absolute()),
        extra=non_empty(
            config=config,
            checkpoints={".": checkpoint.vital_signs} if checkpoint.data else {},
            report=experiment.report,
            runs_per_subtest=integer(config.get("runs_per_subtest")),
            **facts_of_reports(reports),
        ),
    )


def _cases(experiment: ScyllaExperiment, places: list[RunPlace], run: Run, documents: Documents) -> Iterator[Item]:
    task = task_artefacts(experiment, documents)
    yield from documents.problems()
    for tier, subtest in dict.fromkeys(place[:2] for place in places):
        config = manifest(experiment, tier, subtest, documents)
        yield Case(
            run=run.id,
            suite=SUITE,
            native_id=f"{experiment.test}/{tier}/{subtest}",
            name=f"{experiment.test}, {tier}, subtest {subtest}",
            category=tier,
            input=task_text(task),
            artefacts=(*task, config) if config else task,
            ref=documents.ref(experiment.folder / "prompt.md"),
        )


def _attempts(
    experiment: ScyllaExperiment, places: list[RunPlace], run: Run, documents: Documents
) -> Iterator[Attempt]:
    tries_by_run: dict[tuple[str, str, int], int] = {}
    for place in places:
        case = case_key(SUITE, case_name(experiment, place))
        tries = tries_by_run[place[:3]] = tries_by_run.get(place[:3], 0) + 1
        position = AttemptPosition(run.id, case, place.number)
        if tries > 1:
            # an earlier try of the same run that the harness kept
            path = place.corner if tries == 2 and place.corner else f"{place.corner or 'run'}-{tries}"
            latest = attempt_id(run.id, case, index=place.number)
            position = msgspec.structs.replace(position, path=path, superseded_by=latest)
        yield run_attempt(place, position, documents)
