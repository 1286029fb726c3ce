"""The files of an evaluation → its runs with the numbers that MLflow computed, and each trace."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import CodeVersion, Item, Reported, Run, Scorer, SourceInfo, SourceRef, Subject
from errata.sources.base import Row, children, convert_each, is_file, unreadable
from errata.sources.mlflow import NAME, kind_of
from errata.sources.mlflow.attempts import KINDS, MlflowSpans, attempt_of, case_of
from errata.sources.mlflow.traces import MlflowTrace, span_of
from errata.sources.shared.documents import Documents, files
from errata.sources.shared.json_rows import holds_one, json_rows
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import mapping, non_empty, number, rest, text

PAGED = "traces"
SUMMARY_CAP = 4 * 1024 * 1024
_METADATA = "mlflow.source.git."


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    log_files = MlflowFiles(path)
    documents = Documents(log_files.folder, NAME)
    run_summaries = summaries(log_files.summaries, documents)
    yield from documents.problems()
    reader = MlflowReader(log_files.folder, run_summaries, alone=holds_one(path, PAGED))
    for file in log_files.rows:
        rows = json_rows(file, source=NAME, root=log_files.folder, paged=PAGED)
        yield from convert_each(rows, reader.items, source=NAME, owner=reader.owner)


class MlflowFiles:
    """The files that are read together: a whole folder, or a file with the summaries beside it."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent if is_file(path) else path
        listed = files(self.folder) if is_file(path) else children(self.folder)
        kinds = {file: kind for file in listed if file.is_file() and (kind := kind_of(file))}
        self.summaries = [file for file, kind in kinds.items() if kind == "summary"]
        # the table repeats the traces: it is read after them, for traces that are only there
        self.rows = [file for wanted in ("traces", "table") for file, kind in kinds.items() if kind == wanted]
        if self.folder != path:
            self.rows = [path]


class MlflowSummary(NamedTuple):
    """The overall results of an evaluation."""

    metrics: dict[str, Any]
    ref: SourceRef
    more: dict[str, Any]

    @property
    def headline(self) -> str:
        return next((name for name in self.metrics if name.endswith("/mean")), "")

    @property
    def primary(self) -> str:
        return self.headline.removesuffix("/mean")


NO_SUMMARY = MlflowSummary({}, SourceRef(file=""), {})


class MlflowReader:
    """The reader's state: runs are yielded with their first trace, and each trace only once."""

    def __init__(self, folder: Path, run_summaries: dict[str, MlflowSummary], *, alone: bool) -> None:
        self._folder, self._summaries, self._alone = folder, run_summaries, alone
        self._runs: dict[str, Run] = {}
        self._seen: dict[int, str] = {}
        """The file of each trace."""
        self._numbering = CaseNumbering()

    def items(self, row: Row) -> Iterator[Item]:
        trace = MlflowTrace(row)
        first = self._seen.get(hash(trace.id))
        if first is not None:
            if first == row.ref.file:  # the table of an evaluation holds the traces of another file once more
                yield unreadable(NAME, row.ref, f"repeats the trace {trace.id}: only the first one is read")
            return
        summary = self._summaries.get(trace.run, NO_SUMMARY)
        known_run = self._runs.get(trace.native_run)
        run, parsed = known_run or run_of(trace, summary, self._folder, alone=self._alone), MlflowSpans(trace)
        if known_run is None:
            yield run
        index = self._numbering.next((run.id, parsed.case))
        case = case_of(run, parsed)
        if self._numbering.is_news(case):
            yield case
        yield attempt_of(run, parsed, summary.primary, index)
        # set last: a trace that can't be read leaves no state behind
        self._runs[trace.native_run] = run
        self._seen[hash(trace.id)] = row.ref.file

    def owner(self, row: Row) -> str:
        return self._runs[MlflowTrace(row).native_run].id


def summaries(files: list[Path], documents: Documents) -> dict[str, MlflowSummary]:
    by_run = {}
    for file in files:
        data = documents.get(file, cap=SUMMARY_CAP)
        metrics = {str(name): value for name, value in mapping(data.get("metrics")).items()}
        by_run[text(data.get("run_id"))] = MlflowSummary(
            metrics, documents.ref(file), rest(data, ("metrics", "run_id"))
        )
    return by_run


def run_of(trace: MlflowTrace, summary: MlflowSummary, origin: Path, *, alone: bool) -> Run:
    """A single trace is a run of its own: it must neither stand for the run it was recorded in nor replace it."""
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
        extra=non_empty(location=rest(location, ("mlflow_experiment",)), results=summary.more),
        ref=trace.ref,
    )


def _model(trace: MlflowTrace) -> str:
    spans = (span_of(mapping(one), trace.spans_ref, trace.id) for one in trace.spans)
    return next((span.model for span in spans if span.kind == "model" and span.model), "")


def _reported(summary: MlflowSummary) -> Iterator[Reported]:
    for name, value in summary.metrics.items():
        scorer, _, aggregation = name.rpartition("/")
        yield Reported(
            name=name,
            metric=aggregation or name,
            scorer=scorer,
            value=number(value),
            headline=name == summary.headline,
            ref=summary.ref.below("metrics", name),
        )


def _scorers(trace: MlflowTrace) -> Iterator[Scorer]:
    source_types = {}
    for assessment, _ in trace.assessments:
        if isinstance(assessment.get("feedback"), dict):
            source_types[text(assessment.get("assessment_name"))] = text(
                mapping(assessment.get("source")).get("source_type")
            )
    for name, kind in sorted(source_types.items()):
        yield Scorer(name=name, kind=KINDS.get(kind, "code"))
