"""Dataset runs and experiments: which traces are tries at which items. Other traces are of no run."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Row, describe, unreadable
from errata.sources.langfuse.layout import NAME, Export, Kind
from errata.sources.langfuse.rows import inside_of, named, time_of
from errata.sources.langfuse.scores import reported_of, value_of
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.values import known, mapping, rest, sequence, text

_RUN = frozenset(("id", "name", "datasetName", "datasetRunItems", "createdAt"))


class Link(NamedTuple):
    """That a trace is a try at an item of a dataset."""

    run: str
    run_name: str
    dataset: str
    item: str
    ref: SourceRef
    data: dict[str, Any]


class Plan:
    """What is told of runs beside their traces."""

    def __init__(self, export: Export) -> None:
        self.problems: list[Unreadable] = []
        self.links: dict[str, list[Link]] = {}
        self.items: dict[str, Row] = {}
        self._runs: dict[str, dict[str, Any]] = {}
        self._scores: dict[str, list[Row]] = {}
        self._values: dict[str, Counter[str]] = {}
        """Run → how many of its traces have a value under each name."""
        self._export = export
        for row in self._rows("run"):
            self._runs[text(row.data.get("id"))] = row.data
            for at, one in enumerate(sequence(row.data.get("datasetRunItems"))):
                self._link(Row(mapping(one), row.ref.below("datasetRunItems", at)), text(row.data.get("datasetName")))
        for row in self._rows("run_item"):
            self._link(row, "")
        for row in self._rows("item"):
            self.items[text(row.data.get("id"))] = row
        for row in self._rows("score"):
            self._note(row)
        if self._scores:
            self._learn()

    def _rows(self, kind: Kind) -> Iterable[Row]:
        for file in self._export.files.get(kind, []):
            for row in json_rows(file, source=NAME, root=self._export.root, paged="data"):
                if isinstance(row, Unreadable):
                    self.problems.append(row)
                    continue
                try:
                    yield named(row)
                except ValueError as error:
                    self.problems.append(unreadable(NAME, row.ref, describe(error)))

    def _link(self, row: Row, dataset: str) -> None:
        data = row.data
        link = Link(
            text(data.get("datasetRunId")),
            text(data.get("datasetRunName")),
            dataset,
            text(data.get("datasetItemId")),
            row.ref,
            data,
        )
        self.links.setdefault(text(data.get("traceId")), []).append(link)

    def _note(self, row: Row) -> None:
        """Scores of traces are read with these; what is kept here is what is said of a whole run."""
        if text(row.data.get("traceId")):
            self._count(text(row.data.get("traceId")), row)
        elif run := text(row.data.get("datasetRunId")):
            self._scores.setdefault(run, []).append(row)
        else:
            self.problems.append(unreadable(NAME, row.ref, "a score of no trace and of no run"))

    def _learn(self) -> None:
        """The same for scores that stand in the traces themselves."""
        for file in self._export.traces:
            for row in json_rows(file, source=NAME, root=self._export.root, paged="data"):
                data = mapping(row.data) if isinstance(row, Row) else {}
                for score in inside_of(data, row, "scores") if isinstance(row, Row) else []:
                    self._count(text(data.get("id")), score, run=text(data.get("experimentId")))

    def _count(self, trace: str, score: Row, run: str = "") -> None:
        for one in {run} if run else {link.run for link in self.links.get(trace, [])}:
            names = self._values.setdefault(one, Counter())
            names[text(score.data.get("name"))] += value_of(score.data) is not None

    def reported(self, run: str) -> tuple[Reported, ...]:
        return reported_of(self._scores.get(run, []), self._values.get(run, Counter()))

    def primary(self, run: str) -> str:
        return next((one.scorer for one in self.reported(run) if one.headline), "")

    def run_of(self, link: Link | None, trace: dict[str, Any], model: str, origin: Path, ref: SourceRef) -> Run:
        project, environment = text(trace.get("projectId")), text(trace.get("environment"))
        if link is None:
            place = "/".join(part for part in (project, environment) if part)
            return Run(
                # what else was recorded there is in other exports: these must not take each other's place
                native_id="/".join(filter(None, (place, text(trace.get("id"))))),
                source=SourceInfo(name=NAME),
                name=environment,
                suite=project or "traces",
                subject=Subject(model=model),
                origin=str(origin),
                ref=ref,
            )
        told = self._runs.get(link.run, {})
        item = self.items.get(link.item)
        dataset = link.dataset or text(item.data.get("datasetName") if item else "")
        return Run(
            native_id=link.run,
            source=SourceInfo(name=NAME),
            name=link.run_name or text(told.get("name")),
            suite=dataset or text(link.data.get("experimentDatasetId")) or "dataset",
            subject=Subject(model=model),
            started_at=time_of(told.get("createdAt")),
            reported=self.reported(link.run),
            origin=str(origin),
            extra=rest(told, _RUN) | known(project=project, environment=environment),
            ref=link.ref,
        )
