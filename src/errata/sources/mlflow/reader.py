"""The files of an evaluation → its runs, with the numbers that MLflow made of their scores, and each trace."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import CodeVersion, Item, Reported, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.sources.base import Numbering, Row, convert_each
from errata.sources.mlflow import NAME, kind_of
from errata.sources.mlflow.attempts import KINDS, Told, attempt_of, case_of
from errata.sources.mlflow.traces import Trace, span_of
from errata.sources.shared.documents import Documents, children, files, is_file
from errata.sources.shared.json_rows import holds_one, json_rows
from errata.sources.shared.values import known, mapping, number, rest, text

PAGED = "traces"
SUMMARY_CAP = 4 * 1024 * 1024
_METADATA = "mlflow.source.git."


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    found = Files(path)
    documents = Documents(found.folder, NAME)
    told = summaries(found.summaries, documents)
    yield from documents.problems()
    reading = Reading(found.folder, told, alone=holds_one(path, PAGED))
    for file in found.rows:
        rows = json_rows(file, source=NAME, root=found.folder, paged=PAGED)
        yield from convert_each(rows, reading.items, source=NAME, owner=reading.owner)


class Files:
    """What is read together: a folder as a whole, or a file with the numbers that stand beside it."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent if is_file(path) else path
        listed = files(self.folder) if is_file(path) else children(self.folder)
        found = {file: kind for file in listed if file.is_file() and (kind := kind_of(file))}
        self.summaries = [file for file, kind in found.items() if kind == "summary"]
        # the table repeats the traces: it comes after them, for what they do not have
        self.rows = [file for wanted in ("traces", "table") for file, kind in found.items() if kind == wanted]
        if self.folder != path:
            self.rows = [path]


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


class Reading:
    """What was read so far: runs are announced with their first trace, and a trace is told once."""

    def __init__(self, folder: Path, told: dict[str, Summary], *, alone: bool) -> None:
        self._folder, self._told, self._alone = folder, told, alone
        self._runs: dict[str, Run] = {}
        self._seen: set[int] = set()
        self._numbering = Numbering()

    def items(self, row: Row) -> Iterator[Item]:
        trace = Trace(row)
        if hash(trace.id) in self._seen:
            return
        summary = self._told.get(trace.run, NO_SUMMARY)
        known = self._runs.get(trace.native_run)
        run, told = known or run_of(trace, summary, self._folder, alone=self._alone), Told(trace)
        if known is None:
            yield run
        index = self._numbering.next((run.id, told.case))
        if index == 1:
            yield case_of(run, told)
        yield attempt_of(run, told, summary.primary, index)
        # noted last: a trace that can't be read takes nothing along
        self._runs[trace.native_run] = run
        self._seen.add(hash(trace.id))

    def owner(self, row: Row) -> str:
        return self._runs[Trace(row).native_run].id


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
        code=CodeVersion(repo=git["repoURL"], commit=git["commit"]) if any(git.values()) else None,
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
