"""A run as a whole: which model, which evaluation, and what SWE-bench reports about it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, SourceInfo, SourceRef, Subject
from errata.sources.shared.values import count, known, number, rest, text
from errata.sources.swe_bench.layout import NAME, SUITE
from errata.sources.swe_bench.predictions import Predictions
from errata.sources.swe_bench.trajectory import Trajectory

LISTS = (
    "resolved",
    "unresolved",
    "error",
    "empty_patch",
    "incomplete",
    "infra_failure",
    "ambiguous_failure",
    "completed",
    "submitted",
)
_COUNTS = ("total", *LISTS)
_NOT_DEALT_WITH = frozenset(("incomplete", "submitted"))
_HOMES = frozenset(
    [*(f"{name}_ids" for name in LISTS), *(f"{name}_instances" for name in _COUNTS), "failure_reasons"]
) | frozenset(["schema_version"])


class Named(NamedTuple):
    """Who is evaluated, and in which evaluation. `model` is written as in paths."""

    run: str
    model: str = ""
    logs: Path | None = None


def named(report: Path, logs: list[Path], predictions: Predictions, rows: list[Path]) -> Named:
    """The report itself names neither: the folder of its logs does, else the predictions, else its own name.

    `rows` are results of OpenHands: it calls the report after them, and the folder after the run.
    """
    if any(path.parent == report.parent for path in rows):
        return Named(report.parent.name)
    for folder in logs:
        if report.name == f"{folder.name}.{folder.parent.name}.json":
            return Named(folder.parent.name, folder.name, folder)
    beside = [folder for folder in logs if folder.parent == report.parent]
    if len(beside) == 1:
        return Named(report.parent.name, beside[0].name, beside[0])
    stem = report.name.removesuffix(".json")
    for model in predictions.names:
        if model and stem.startswith(f"{model}."):
            return Named(stem.removeprefix(f"{model}."), model)
    model, _, run = stem.rpartition(".")
    return Named(run, model)


class Told(NamedTuple):
    """What is known of a run before its instances are read."""

    native: str
    model: str
    origin: Path
    ref: SourceRef
    suite: str = SUITE
    report: dict[str, Any] = {}
    reported: tuple[Reported, ...] = ()
    first: Trajectory | None = None
    """One of its trajectories: all are of one agent."""
    left_over: list[str] = []
    """Predictions that meet none of its instances."""


def run_of(told: Told) -> Run:
    first = told.first
    return Run(
        native_id=told.native,
        source=SourceInfo(name=NAME, format_version=_version(told.report)),
        name=told.native,
        subject=Subject(
            model=told.model or (first.model if first else ""),
            agent=first.agent if first else "",
            agent_version=first.version if first else "",
        ),
        suite=told.suite,
        expected_cases=count(told.report.get("total_instances")),
        measured_attempts=_measured(told.report),
        reported=told.reported or tuple(_reported(told.report, told.ref)),
        origin=str(told.origin),
        ref=told.ref,
        extra=rest(told.report, _HOMES) | known(predictions_left_over=told.left_over),
    )


def lists_of(document: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    """Instance → the lists of the report that name it."""
    found: dict[str, list[str]] = {}
    for name in LISTS:
        ids = document.get(f"{name}_ids")
        for instance in ids if isinstance(ids, list) else []:
            found.setdefault(text(instance) or str(instance), []).append(name)
    return {instance: tuple(found[instance]) for instance in sorted(found)}


def _measured(document: dict[str, Any]) -> int | None:
    """Where the report counts more instances than it still names; what has no patch is measured, too."""
    told = {name: count(document.get(f"{name}_instances")) or 0 for name in ("completed", "empty_patch", "error")}
    named = {name for name, lists in lists_of(document).items() if not set(lists) <= _NOT_DEALT_WITH}
    return sum(told.values()) if sum(told.values()) > len(named) else None


def _version(document: dict[str, Any]) -> str:
    version = document.get("schema_version")
    return "" if version is None else str(version)


def _reported(document: dict[str, Any], ref: SourceRef) -> Iterator[Reported]:
    """Resolved of all instances: what was not handed in, or not measured, stays in the denominator."""
    if not document:
        return
    total, resolved = number(document.get("total_instances")), number(document.get("resolved_instances"))
    value = resolved / total if total and resolved is not None else None
    n = count(document.get("total_instances"))
    yield Reported(name="resolved", metric="pass_rate", value=value, n=n, headline=True, ref=ref)
    for name in _COUNTS:
        key = f"{name}_instances"
        if (told := number(document.get(key))) is not None:
            metric = "passed" if name == "resolved" else "count"
            yield Reported(name=key, metric=metric, value=told, ref=ref.below(key))
