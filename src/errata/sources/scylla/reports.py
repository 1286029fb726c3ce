"""The reports that the harness writes of an experiment, its tiers and their subtests, and the figures in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Part, SourceRef
from errata.sources.scylla.experiment import Experiment, subtest_folders, tier_folders
from errata.sources.scylla.values import differing, number, whole
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import known, mapping, plain, sequence, text


class Reports(NamedTuple):
    """Read once: a damaged one is told once."""

    experiment: Experiment
    result: dict[str, Any]
    comparison: dict[str, Any]
    tiers: dict[str, "TierReport"]


class TierReport(NamedTuple):
    report: dict[str, Any]
    selection: dict[str, Any]
    subtests: dict[str, dict[str, Any]]
    result: dict[str, Any]
    ref: SourceRef


def read_reports(experiment: Experiment, documents: Documents) -> Reports:
    folder = experiment.folder
    return Reports(
        experiment,
        documents.get(folder / "result.json"),
        documents.get(folder / "tier_comparison.json"),
        {tier.name: _tier(tier, documents) for tier in tier_folders(folder)},
    )


def facts_of_reports(reports: Reports) -> dict[str, Any]:
    """All that they say, for `extra`, without the parts that stand elsewhere in full."""
    result, config = reports.result, reports.experiment.config
    kept = {name: plain(value) for name, value in result.items() if name not in ("config", "tier_results")}
    kept |= known(config=differing(mapping(result.get("config")), config))
    tiers = {name: told for name, tier in reports.tiers.items() if (told := _facts_of_tier(tier))}
    return known(tiers=tiers, result=kept, tier_comparison=reports.comparison)


def parts_of(reports: Reports) -> Iterator[Part]:
    """Every tier, each followed by its subtests."""
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


def _subtests(tier: str, told: TierReport, best: str) -> Iterator[Part]:
    """From the subtest's own report; where it has none, from what its tier says of it."""
    listed = {text(child.get("id")): child for child in map(mapping, sequence(told.report.get("children")))}
    for name in dict.fromkeys([*told.subtests, *listed]):
        own, child = mapping(told.subtests.get(name, {}).get("summary")), listed.get(name, {})
        if name and (own or child):
            yield Part(
                path=f"{tier}/{name}",
                score=number(own.get("mean_score", child.get("score"))),
                made=whole(own.get("total_runs")),
                passed=whole(own.get("passed")),
                pass_rate=number(own.get("pass_rate", child.get("pass_rate"))),
                cost=number(own.get("total_cost", child.get("cost"))),
                is_best=child.get("selected") is True or name == best,
                ref=told.ref,
            )


def _cost_of_pass(reports: Reports, tier: str) -> float | None:
    """In the tier's own result, in that of the experiment, or in a table there."""
    of_tier = mapping(mapping(reports.result.get("tier_results")).get(tier))
    listed = mapping(reports.result.get("tier_cost_of_pass"))
    told = (reports.tiers[tier].result.get("cost_of_pass"), of_tier.get("cost_of_pass"), listed.get(tier))
    return next((found for value in told if (found := number(value)) is not None), None)


def _facts_of_tier(tier: TierReport) -> dict[str, Any]:
    subtests = {name: told for name, report in tier.subtests.items() if (told := _of_report(report))}
    return _of_report(tier.report) | known(selection=tier.selection, subtests=subtests)


def _of_report(report: dict[str, Any]) -> dict[str, Any]:
    """The figures of a report, and apart from them the rest of it."""
    rest = {name: value for name, value in report.items() if name != "summary"}
    return known(**mapping(report.get("summary"))) | known(report=rest)
