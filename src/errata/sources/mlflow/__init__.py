"""MLflow 3 (and 2): traces with their assessments, the table of an evaluation, and its metrics."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Item, Run
from errata.sources.base import Match, Numbering, Row, convert_each
from errata.sources.mlflow.attempts import Told, attempt_of, case_of
from errata.sources.mlflow.layout import NAME, Files, are_one, kind_of
from errata.sources.mlflow.runs import NO_SUMMARY, Summary, run_of, summaries
from errata.sources.mlflow.trace import Trace
from errata.sources.shared.documents import Documents
from errata.sources.shared.json_rows import holds_one, json_rows

__all__ = ["NAME", "TITLE", "read", "recognise"]

PAGED = "traces"
TITLE = "MLflow: traces of GenAI with their assessments, or the folder with an evaluation's results"


def recognise(path: Path) -> Match | None:
    if path.is_dir():
        return Match.sure("traces or results of MLflow") if are_one(path) else None
    kind = kind_of(path)
    if kind == "traces":
        return Match.sure("traces with `info` and `trace_metadata`")
    return Match.sure("rows with `trace_id` and `trace`") if kind == "table" else None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    files = Files(path)
    documents = Documents(files.folder, NAME)
    told = summaries(files.summaries, documents)
    yield from documents.problems()
    reading = Reading(files.folder, told, alone=holds_one(path, PAGED))
    for file in files.rows:
        rows = json_rows(file, source=NAME, root=files.folder, paged=PAGED)
        yield from convert_each(rows, reading.items, source=NAME, owner=reading.owner)


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
