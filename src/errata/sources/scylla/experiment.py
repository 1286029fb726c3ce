"""An experiment folder: configuration, checkpoint and reports, and its runs in any of the three layouts.

Checkpoints 2.0, 3.0 and 3.1 record how far every run had come when the process last wrote.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Artefact, Part, SourceRef
from errata.sources.base import folders
from errata.sources.base import number_or_none as number
from errata.sources.scylla import CORNERS, RUN_FOLDER, test_of
from errata.sources.scylla.run_folder import RunPlace, RunProgress
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import (
    differing,
    integer,
    last_part,
    mapping,
    moment,
    non_empty,
    plain,
    sequence,
    text,
)
from errata.text.lazy_regex import lazy_regex

_TIER = lazy_regex(r"T\d{1,3}$")
SUPPORTED = ("2.0", "3.0", "3.1")
UNDER_WAY = frozenset({"running", "paused_rate_limit"})
_VITAL = (
    *("version", "config_hash", "experiment_id", "status", "experiment_state", "tier_states", "subtest_states"),
    *("started_at", "last_updated_at", "last_heartbeat", "pid"),
    *("rate_limit_source", "rate_limit_until", "pause_count"),
)


class Checkpoint(NamedTuple):
    data: dict[str, Any]

    @property
    def version(self) -> str:
        return text(self.data.get("version"))

    @property
    def supported(self) -> bool:
        return self.version in SUPPORTED

    @property
    def status(self) -> str:
        return text(self.data.get("status"))

    def state_of(self, tier: str, subtest: str, number: int) -> RunProgress:
        return RunProgress(
            text(_at(self.data.get("run_states"), tier, subtest, str(number))),
            text(_at(self.data.get("completed_runs"), tier, subtest, str(number))),
        )

    def runs(self) -> Iterator[tuple[str, str, int]]:
        """Tier, subtest and number of every run in the checkpoint."""
        seen = set()
        for table in ("run_states", "completed_runs"):
            for tier, subtests in mapping(self.data.get(table)).items():
                for subtest, runs in mapping(subtests).items():
                    for index in mapping(runs):
                        place = (text(tier), text(subtest), int(index) if re.fullmatch(r"\d{1,6}", index) else 0)
                        if place[2] and place not in seen:
                            seen.add(place)
                            yield place

    @property
    def vital_signs(self) -> dict[str, Any]:
        """What distinguishes a finished, a running and a dead process, and how far the parts had come."""
        fields = {name: self.data.get(name) for name in _VITAL}
        return non_empty(**fields) | non_empty(experiment_dir=last_part(self.data.get("experiment_dir")))

    def process(self, name: str) -> dict[str, Any]:
        """The process that wrote it, in the format of `Run.environment`: a checkup tests whether it is still alive."""
        beat = moment(self.data.get("last_heartbeat")) or moment(self.data.get("last_updated_at"))
        return non_empty(name=name, status=self.status, pid=integer(self.data.get("pid")), heartbeat=beat)


class ScyllaExperiment(NamedTuple):
    folder: Path
    config: dict[str, Any]
    checkpoint: Checkpoint
    report: dict[str, Any]
    ref: SourceRef

    @property
    def name(self) -> str:
        """The harness's name for the folder, even if it was renamed."""
        return last_part(self.checkpoint.data.get("experiment_dir")) or self.folder.name

    @property
    def test(self) -> str:
        experiment_id = text(self.checkpoint.data.get("experiment_id")) or text(self.config.get("experiment_id"))
        return test_of(experiment_id or self.name)

    @property
    def summary(self) -> dict[str, Any]:
        return mapping(self.report.get("summary"))

    @property
    def models(self) -> list[str]:
        return [text(model) for model in sequence(self.config.get("models")) if text(model)]

    @property
    def judges(self) -> dict[str, str]:
        models = [text(model) for model in sequence(self.config.get("judge_models")) if text(model)]
        return {f"judge_{place:02}": model for place, model in enumerate(models, 1)}


class Reports(NamedTuple):
    """Read once, so that a damaged one is reported once."""

    experiment: ScyllaExperiment
    result: dict[str, Any]
    comparison: dict[str, Any]
    tiers: dict[str, "TierReport"]


class TierReport(NamedTuple):
    report: dict[str, Any]
    selection: dict[str, Any]
    subtests: dict[str, dict[str, Any]]
    result: dict[str, Any]
    ref: SourceRef


def open_experiment(folder: Path, documents: Documents) -> ScyllaExperiment:
    path = folder / "checkpoint.json"
    checkpoint = Checkpoint(documents.get(path))
    if checkpoint.data and not checkpoint.supported:
        version = checkpoint.version or "no version"
        documents.refuse(
            documents.ref(path, pointer="/version"), f"checkpoint {version} is not supported (only 2.0, 3.0, 3.1)"
        )
        checkpoint = Checkpoint({key: checkpoint.data.get(key) for key in ("experiment_id", "experiment_dir")})
    config = documents.get(folder / "config" / "experiment.json")
    return ScyllaExperiment(folder, config, checkpoint, documents.get(folder / "report.json"), documents.ref(path))


def run_places(experiment: ScyllaExperiment) -> Iterator[RunPlace]:
    """Every run, on disk or only in the checkpoint, ordered by tier, subtest and number."""
    on_disk = [*_on_disk(experiment)]
    live = {place[:3] for place in on_disk if place.corner != ".failed"}
    # a run that was repeated has the state of the later try
    on_disk = [
        place._replace(state=RunProgress()) if place.corner == ".failed" and place[:3] in live else place
        for place in on_disk
    ]
    known_places = {place[:3] for place in on_disk}
    for tier, subtest, index in experiment.checkpoint.runs():
        if (tier, subtest, index) not in known_places:
            state = experiment.checkpoint.state_of(tier, subtest, index)
            on_disk.append(RunPlace(tier, subtest, index, None, state=state))
    yield from sorted(on_disk, key=lambda place: (*place[:3], CORNERS.index(place.corner), str(place.folder)))


def task_artefacts(experiment: ScyllaExperiment, documents: Documents) -> tuple[Artefact, ...]:
    folder = experiment.folder
    candidates = (
        documents.artefact(folder / "prompt.md", "task"),
        documents.artefact(folder / "criteria.md", "grader"),
        documents.artefact(folder / "rubric.yaml", "grader"),
        # contains paths of the experiment, so it is not part of the task's digest
        documents.artefact(folder / "judge_prompt.md", "context"),
    )
    return tuple(artefact for artefact in candidates if artefact is not None)


def task_text(artefacts: tuple[Artefact, ...]) -> str | None:
    return next((artefact.text for artefact in artefacts if artefact.role == "task"), None)


def manifest(experiment: ScyllaExperiment, tier: str, subtest: str, documents: Documents) -> Artefact | None:
    for corner in CORNERS:
        path = experiment.folder / corner / tier / subtest / "config_manifest.json"
        if artefact := documents.artefact(path, "config"):
            return artefact
    return None


def _on_disk(experiment: ScyllaExperiment) -> Iterator[RunPlace]:
    for corner in CORNERS:
        for tier in tier_folders(experiment.folder / corner):
            for subtest in subtest_folders(tier):
                for folder in folders(subtest):
                    if name := RUN_FOLDER.match(folder.name):
                        number = int(name[1])
                        state = experiment.checkpoint.state_of(tier.name, subtest.name, number)
                        yield RunPlace(tier.name, subtest.name, number, folder, corner, state)


def tier_folders(folder: Path) -> list[Path]:
    return [child for child in folders(folder) if _TIER.match(child.name)]


def subtest_folders(tier: Path) -> list[Path]:
    return [child for child in folders(tier) if re.fullmatch(r"\w+", child.name)]


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = mapping(value).get(key)
    return value


def read_reports(experiment: ScyllaExperiment, documents: Documents) -> Reports:
    folder = experiment.folder
    return Reports(
        experiment,
        documents.get(folder / "result.json"),
        documents.get(folder / "tier_comparison.json"),
        {tier.name: _tier(tier, documents) for tier in tier_folders(folder)},
    )


def facts_of_reports(reports: Reports) -> dict[str, Any]:
    """All data of the reports, for `extra`, without the parts that are kept elsewhere."""
    result, config = reports.result, reports.experiment.config
    fields = {name: plain(value) for name, value in result.items() if name not in ("config", "tier_results")}
    fields |= non_empty(config=differing(mapping(result.get("config")), config))
    tiers = {name: tier_facts for name, tier in reports.tiers.items() if (tier_facts := _facts_of_tier(tier))}
    return non_empty(tiers=tiers, result=fields, tier_comparison=reports.comparison)


def parts_of(reports: Reports) -> Iterator[Part]:
    best = text(reports.experiment.summary.get("best_tier"))
    for name, tier in reports.tiers.items():
        summary = mapping(tier.report.get("summary"))
        if summary:
            yield Part(
                path=name,
                score=number(summary.get("best_score")),
                cost=number(summary.get("total_cost")),
                cost_of_pass=_cost_of_pass(reports, name),
                is_best=name == best,
                ref=tier.ref,
            )
        yield from _subtests(name, tier, text(summary.get("best_subtest")))


def _tier(folder: Path, documents: Documents) -> TierReport:
    path = folder / "report.json"
    subtests = {child.name: documents.get(child / "report.json") for child in subtest_folders(folder)}
    return TierReport(
        report=documents.get(path),
        selection=documents.get(folder / "best_subtest.json"),
        subtests=subtests,
        result=documents.get(folder / "result.json"),
        ref=documents.ref(path),
    )


def _subtests(tier: str, report: TierReport, best: str) -> Iterator[Part]:
    """From the subtest's own report; without one, from the entry in its tier's report."""
    listed = {text(child.get("id")): child for child in map(mapping, sequence(report.report.get("children")))}
    for name in dict.fromkeys([*report.subtests, *listed]):
        own, child = mapping(report.subtests.get(name, {}).get("summary")), listed.get(name, {})
        if name and (own or child):
            yield Part(
                path=f"{tier}/{name}",
                score=number(own.get("mean_score", child.get("score"))),
                made=integer(own.get("total_runs")),
                passed=integer(own.get("passed")),
                pass_rate=number(own.get("pass_rate", child.get("pass_rate"))),
                cost=number(own.get("total_cost", child.get("cost"))),
                is_best=child.get("selected") is True or name == best,
                ref=report.ref,
            )


def _cost_of_pass(reports: Reports, tier: str) -> float | None:
    """From the tier's own result, from the experiment's result, or from a table there."""
    of_tier = mapping(mapping(reports.result.get("tier_results")).get(tier))
    listed = mapping(reports.result.get("tier_cost_of_pass"))
    candidates = (reports.tiers[tier].result.get("cost_of_pass"), of_tier.get("cost_of_pass"), listed.get(tier))
    return next((cost for value in candidates if (cost := number(value)) is not None), None)


def _facts_of_tier(tier: TierReport) -> dict[str, Any]:
    subtests = {name: facts for name, report in tier.subtests.items() if (facts := _of_report(report))}
    return _of_report(tier.report) | non_empty(selection=tier.selection, subtests=subtests)


def _of_report(report: dict[str, Any]) -> dict[str, Any]:
    """The figures of a report, and separately the rest of it."""
    rest = {name: value for name, value in report.items() if name != "summary"}
    return non_empty(**mapping(report.get("summary"))) | non_empty(report=rest)
