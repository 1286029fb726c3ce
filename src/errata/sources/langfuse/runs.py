"""Dataset runs and experiments: which traces are tries at which items, and the scores of traces and of whole runs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Check, Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Row, describe, unreadable
from errata.sources.langfuse import NAME, Kind
from errata.sources.langfuse.rows import Export, inside_of, named, time_of
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.scores import status_of_value
from errata.sources.shared.values import as_text, mapping, non_empty, number, rest, sequence, text

_RUN = frozenset(("id", "name", "datasetName", "datasetRunItems", "createdAt"))
_HEADLINE = ("id", "name", "datasetRunId")
_NO_MEASURE = ("TEXT", "CORRECTION")
_AVERAGES = ("{}", "avg_{}", "average_{}", "mean_{}", "{}_avg", "{}_average", "{}_mean")


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
            extra=rest(told, _RUN) | non_empty(project=project, environment=environment),
            ref=link.ref,
        )


def value_of(score: dict[str, Any]) -> float | str | bool | None:
    """By its type: a yes or no is a number, and of a category the number says nothing."""
    kind, value, words = score.get("dataType"), score.get("value"), score.get("stringValue")
    if kind == "BOOLEAN":
        told = number(value)
        return value if isinstance(value, bool) else None if told is None else bool(told)
    if kind in ("CATEGORICAL", *_NO_MEASURE):
        return text(words) or (value if isinstance(value, str) else None)
    return value if isinstance(value, bool | str) else number(value)


def checks_of(scores: list[Row], primary: str, steps: dict[str, int]) -> Iterator[Check]:
    """`primary` is the score that the headline of a run averages, where it has one: then it alone decides."""
    for order, row in enumerate(scores):
        score = JsonFields(row.data)
        score.drop("traceId")
        name, value, place = text(score.take("name")), value_of(row.data), text(score.take("observationId"))
        kind, native, words = score.take("dataType"), score.take("value"), score.take("stringValue")
        measures = kind not in _NO_MEASURE
        others = non_empty(
            id=score.take("id"),
            at=score.take("timestamp"),
            source=score.take("source"),
            type=kind,
            number=native if isinstance(value, str) else None,
            words=words if not isinstance(value, str) else None,
            observation=place if place not in steps else None,
            session=score.take("sessionId"),
            run=score.take("datasetRunId"),
        )
        yield Check(
            name=name,
            status=status_of_value(value) if measures else "not_applicable",
            order=order,
            value=value,
            is_primary=measures and name == primary,
            counts=measures and primary in ("", name),
            explanation=as_text(score.take("comment") or ""),
            step=steps.get(place),
            extra=rest(score.rest()) | others,
            ref=row.ref,
        )


def reported_of(scores: list[Row], values: Counter[str]) -> tuple[Reported, ...]:
    """The first number of the whole run is its headline. `values` tells how many traces have one under each name."""
    told = [(row, _averaged(row, values)) for row in scores if number(row.data.get("value")) is not None]
    headline = next((row for row, of in told if of), told[0][0] if told else None)
    return tuple(
        Reported(
            name=text(row.data.get("name")),
            metric="mean" if of else text(row.data.get("name")),
            scorer=of,
            value=number(row.data.get("value")),
            # whoever averages over a run does so over its traces, however often an item was tried
            n=values[of] if of else None,
            headline=row is headline,
            extra=rest(row.data, (*_HEADLINE, "value")) | non_empty(id=row.data.get("id")),
            ref=row.ref,
        )
        for row, of in told
    )


def _averaged(row: Row, values: Counter[str]) -> str:
    """The score of single traces that a number of a run is the mean of, as its name tells."""
    name = text(row.data.get("name"))
    return next((one for one in sorted(values) if name in {how.format(one) for how in _AVERAGES}), "")
