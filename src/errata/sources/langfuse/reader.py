"""The traces of an export in order, each with its data from other files."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from errata.model import FileConflict, Item, Run
from errata.sources.base import Row, convert_each, unreadable
from errata.sources.langfuse import NAME
from errata.sources.langfuse.attempts import (
    AttemptPlace,
    LangfuseSpans,
    LangfuseTrace,
    attempt_of,
    case_of,
    missing,
    name_of,
)
from errata.sources.langfuse.rows import LangfuseExport, RowsByTrace, nested_rows, with_api_names
from errata.sources.langfuse.runs import DatasetLink, DatasetRuns
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.row_groups import split_copies
from errata.sources.shared.runs import CaseNumbering
from errata.sources.shared.values import text


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    with ExitStack() as stack:
        yield from LangfuseReader(LangfuseExport(path), stack).items()


class LangfuseReader:
    def __init__(self, export: LangfuseExport, stack: ExitStack) -> None:
        self._export = export
        self._plan = DatasetRuns(export)
        self._observations = RowsByTrace(export.files.get("observation", []), export.root, stack)
        self._scores = RowsByTrace(export.files.get("score", []), export.root, stack)
        self._runs: dict[str, Run] = {}
        self._numbering = CaseNumbering()
        self._seen: set[int] = set()
        self._rows: set[int] = set()
        """File and trace of each row."""
        self._linked, self._unlinked = False, 0

    def items(self) -> Iterator[Item]:
        yield from self._plan.problems
        yield from self._observations.problems
        for file in self._export.traces:
            rows = json_rows(file, source=NAME, root=self._export.root, paged="data")
            yield from convert_each(rows, self._trace_of_row, source=NAME)
        yield from convert_each(self._observations.together(), self._trace_of_observations, source=NAME)
        yield from self._missing()
        if self._linked and self._unlinked:
            traces = "1 trace belongs" if self._unlinked == 1 else f"{self._unlinked:,} traces belong"
            conflict = FileConflict(text=f"{traces} to no item of a dataset run, which makes a separate run")
            yield from (replace(run, conflicts=(conflict,)) for name, run in self._runs.items() if name)

    def _trace_of_row(self, row: Row) -> Iterator[Item]:
        renamed = with_api_names(row)
        data = renamed.data
        link: DatasetLink | None = None
        if "experimentItemId" in data:
            link = _experiment(data, row)
            data = data | {"id": data.get("traceId"), "timestamp": data.get("startTime")}
        ident = text(data.get("id"))
        if not ident:
            raise ValueError("a trace without an id")
        place = hash((row.ref.file, ident))
        if place in self._rows:
            yield unreadable(NAME, row.ref, f"repeats trace {ident}, which is earlier in the file: only one is read")
            return
        self._rows.add(place)
        inside = nested_rows(data, row, "observations")
        scores = nested_rows(data, row, "scores")
        trace = LangfuseTrace(data, row, inside or self._observations.of(ident), scores or self._scores.of(ident))
        yield from self._items(trace, link)

    def _trace_of_observations(self, group: Row) -> Iterator[Item]:
        """A trace exported only as observations: they hold some of its fields."""
        rows, copies = split_copies(map(with_api_names, group.data), "an observation", source=NAME)
        ident = text(rows[0].data.get("traceId"))
        if not ident:
            raise ValueError("an observation without a trace")
        top = next((row.data for row in rows if not row.data.get("parentObservationId")), rows[0].data)
        names = {
            "sessionId": "sessionId",
            "userId": "userId",
            "traceName": "name",
            "tags": "tags",
            "release": "release",
        }
        data: dict[str, Any] = {name: top[one] for one, name in names.items() if top.get(one)}
        data |= {key: top.get(key) for key in ("projectId", "environment")}
        data |= {"id": ident, "timestamp": top.get("startTime"), "latency": top.get("latency")}
        yield from self._items(LangfuseTrace(data, rows[0], list(rows), self._scores.of(ident)), None)
        yield from copies

    def _items(self, trace: LangfuseTrace, link: DatasetLink | None) -> Iterator[Item]:
        if hash(trace.id) in self._seen:
            return
        read = LangfuseSpans(trace)
        links: list[DatasetLink | None] = [link] if link else [*self._plan.links.get(trace.id, [])]
        self._linked = self._linked or bool(links)
        self._unlinked += not links
        for run_link in links or [None]:
            known_run = self._runs.get(run_link.run if run_link else "")
            run = known_run or self._plan.run_of(run_link, trace.data, read.model, self._export.root, trace.row.ref)
            if known_run is None:
                yield run
            place = self._try(run, read, run_link)
            case = case_of(read, place)
            if self._numbering.is_news(case):
                yield case
            yield attempt_of(read, place)
            self._runs[run_link.run if run_link else ""] = run
        self._seen.add(hash(trace.id))

    def _try(self, run: Run, read: LangfuseSpans, link: DatasetLink | None) -> AttemptPlace:
        name = name_of(read, link)
        index = self._numbering.next((run.id, name))
        primary = self._plan.primary(link.run) if link else ""
        return AttemptPlace(run, name, index, primary, link, self._plan.items.get(link.item) if link else None)

    def _missing(self) -> Iterator[Item]:
        for trace, links in self._plan.links.items():
            for link in links if hash(trace) not in self._seen else []:
                if link.run not in self._runs:
                    self._runs[link.run] = self._plan.run_of(link, {}, "", self._export.root, link.ref)
                    yield self._runs[link.run]
                run = self._runs[link.run]
                number = self._numbering.next((run.id, link.item))
                yield from missing(run, link, trace, self._plan.items.get(link.item), number)


def _experiment(data: dict[str, Any], row: Row) -> DatasetLink:
    return DatasetLink(
        text(data.get("experimentId")),
        text(data.get("experimentName")),
        "",
        text(data.get("experimentItemId")),
        row.ref,
        data,
    )
