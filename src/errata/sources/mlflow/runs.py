"""The runs that traces belong to, and the numbers that MLflow made of their scores."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Code, Reported, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.sources.mlflow.assessments import KINDS
from errata.sources.mlflow.layout import NAME, SUMMARY_CAP
from errata.sources.mlflow.spans import span_of
from errata.sources.mlflow.trace import Trace
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import known, mapping, number, rest, text

_METADATA = "mlflow.source.git."


class Summary(NamedTuple):
    """What the results of an evaluation say of the whole."""

    metrics: dict[str, Any]
    ref: SourceRef
    more: dict[str, Any]

    @property
    def headline(self) -> str:
        return next((name for name in self.metrics if name.endswith("/mean")), "")

    @property
    def primary(self) -> str:
        return self.headline.removesuffix("/mean")


NO_SUMMARY = Summary({}, SourceRef(file=""), {})


def summaries(files: list[Path], documents: Documents) -> dict[str, Summary]:
    """By the run that they are of."""
    found = {}
    for file in files:
        data = documents.get(file, cap=SUMMARY_CAP)
        metrics = {str(name): value for name, value in mapping(data.get("metrics")).items()}
        found[text(data.get("run_id"))] = Summary(metrics, documents.ref(file), rest(data, ("metrics", "run_id")))
    return found


def run_of(trace: Trace, summary: Summary, origin: Path, *, alone: bool) -> Run:
    """A trace alone is a run of its own: it must not stand for the one that it was made in, nor take its place."""
    metadata = trace.metadata
    location = mapping(trace.info.get("trace_location"))
    git = {part: text(metadata.get(f"{_METADATA}{part}")) for part in ("repoURL", "commit")}
    return Run(
        native_id=trace.id if alone else trace.run or f"{trace.native_run}-{trace.id}",
        group=trace.native_run if alone else trace.experiment,
        source=SourceInfo(name=NAME, format_version=text(metadata.get("mlflow.trace_schema.version"))),
        suite=f"experiment-{trace.experiment}" if trace.experiment else "traces",
        subject=Subject(model=_model(trace), agent=text(metadata.get("mlflow.modelId"))),
        reported=() if alone else tuple(_reported(summary)),
        scorers=tuple(_scorers(trace)),
        code=Code(repo=git["repoURL"], commit=git["commit"]) if any(git.values()) else None,
        origin=str(origin),
        extra=known(location=rest(location, ("mlflow_experiment",)), results=summary.more),
        ref=trace.ref,
    )


def _model(trace: Trace) -> str:
    spans = (span_of(mapping(one), trace.spans_ref, trace.id) for one in trace.spans)
    return next((span.model for span in spans if span.kind == "model" and span.model), "")


def _reported(summary: Summary) -> Iterator[Reported]:
    for name, value in summary.metrics.items():
        scorer, _, how = name.rpartition("/")
        yield Reported(
            name=name,
            metric=how or name,
            scorer=scorer,
            value=number(value),
            headline=name == summary.headline,
            ref=summary.ref.below("metrics", name),
        )


def _scorers(trace: Trace) -> Iterator[Scorer]:
    told = {}
    for one, _ in trace.assessments:
        if isinstance(one.get("feedback"), dict):
            told[text(one.get("assessment_name"))] = text(mapping(one.get("source")).get("source_type"))
    for name, kind in sorted(told.items()):
        yield Scorer(name=name, kind=KINDS.get(kind, "code"))
