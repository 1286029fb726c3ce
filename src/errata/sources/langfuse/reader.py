"""The traces of an export, one after the other, with what stands elsewhere about each."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from errata.model import Item, Run
from errata.sources.base import Numbering, Row, convert_each
from errata.sources.langfuse import NAME
from errata.sources.langfuse.attempts import Read, Trace, Try, attempt_of, case_of, missing, name_of
from errata.sources.langfuse.rows import Export, Told, inside_of, named
from errata.sources.langfuse.runs import Link, Plan
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.values import text


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    with ExitStack() as stack:
        yield from Reading(Export(path), stack).items()


class Reading:
    def __init__(self, export: Export, stack: ExitStack) -> None:
        self._export = export
        self._plan = Plan(export)
        self._observations = Told(export.files.get("observation", []), export.root, stack)
        self._scores = Told(export.files.get("score", []), export.root, stack)
        self._runs: dict[str, Run] = {}
        self._numbering = Numbering()
        self._seen: set[int] = set()

    def items(self) -> Iterator[Item]:
        yield from self._plan.problems
        yield from self._observations.problems
        for file in self._export.traces:
            rows = json_rows(file, source=NAME, root=self._export.root, paged="data")
            yield from convert_each(rows, self._whole, source=NAME)
        yield from convert_each(self._observations.together(), self._observed, source=NAME)
        yield from self._missing()

    def _whole(self, row: Row) -> Iterator[Item]:
        told = named(row)
        data = told.data
        link: Link | None = None
        if "experimentItemId" in data:
            link = _experiment(data, row)
            data = data | {"id": data.get("traceId"), "timestamp": data.get("startTime")}
        ident = text(data.get("id"))
        if not ident:
            raise ValueError("a trace without an id")
        inside = inside_of(data, row, "observations")
        scores = inside_of(data, row, "scores")
        trace = Trace(data, row, inside or self._observations.of(ident), scores or self._scores.of(ident))
        yield from self._items(trace, link)

    def _observed(self, group: Row) -> Iterator[Item]:
        """Of observations alone: each tells what it knows of its trace."""
        rows = [named(row) for row in group.data]
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
        yield from self._items(Trace(data, rows[0], rows, self._scores.of(ident)), None)

    def _items(self, trace: Trace, link: Link | None) -> Iterator[Item]:
        if hash(trace.id) in self._seen:
            return
        read = Read(trace)
        links: list[Link | None] = [link] if link else [*self._plan.links.get(trace.id, [])]
        for one in links or [None]:
            known = self._runs.get(one.run if one else "")
            run = known or self._plan.run_of(one, trace.data, read.model, self._export.root, trace.row.ref)
            if known is None:
                yield run
            made = self._try(run, read, one)
            if made.number == 1:
                yield case_of(read, made)
            yield attempt_of(read, made)
            self._runs[one.run if one else ""] = run
        self._seen.add(hash(trace.id))

    def _try(self, run: Run, read: Read, link: Link | None) -> Try:
        name = name_of(read, link)
        index = self._numbering.next((run.id, name))
        primary = self._plan.primary(link.run) if link else ""
        return Try(run, name, index, primary, link, self._plan.items.get(link.item) if link else None)

    def _missing(self) -> Iterator[Item]:
        for trace, links in self._plan.links.items():
            for link in links if hash(trace) not in self._seen else []:
                if link.run not in self._runs:
                    self._runs[link.run] = self._plan.run_of(link, {}, "", self._export.root, link.ref)
                    yield self._runs[link.run]
                run = self._runs[link.run]
                number = self._numbering.next((run.id, link.item))
                yield from missing(run, link, trace, self._plan.items.get(link.item), number)


def _experiment(data: dict[str, Any], row: Row) -> Link:
    return Link(
        text(data.get("experimentId")),
        text(data.get("experimentName")),
        "",
        text(data.get("experimentItemId")),
        row.ref,
        data,
    )
