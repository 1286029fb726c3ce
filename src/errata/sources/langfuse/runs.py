"""Dataset runs and experiments: which traces are attempts at which items, and the scores of traces and runs."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import Check, Reported, Run, SourceInfo, SourceRef, Subject, Unreadable
from errata.sources.base import Row, describe, unreadable
from errata.sources.langfuse import NAME, Kind
from errata.sources.langfuse.rows import LangfuseExport, nested_rows, time_of, with_api_names
from errata.sources.shared.fields import JsonFields
from errata.sources.shared.json_rows import json_rows
from errata.sources.shared.scores import status_of_value
from errata.sources.shared.values import as_text, mapping, non_empty, number, rest, sequence, text

_RUN = frozenset(("id", "name", "datasetName", "datasetRunItems", "createdAt"))
_HEADLINE = ("id", "name", "datasetRunId")
_NO_MEASURE = ("TEXT", "CORRECTION")
_AVERAGES = ("{}", "avg_{}", "average_{}", "mean_{}", "{}_avg", "{}_average", "{}_mean")


class DatasetLink(NamedTuple):
    """Links a trace to a dataset item that it is an attempt at."""

    run: str
    run_name: str
    dataset: str
    item: str
    ref: SourceRef
    data: dict[str, Any]


class DatasetRuns:
    """Data about runs that is not in their traces."""

    def __init__(self, export: LangfuseExport) -> None:
        self.problems: list[Unreadable] = []
        self.links: dict[str, list[DatasetLink]] = {}
        self.items: dict[str, Row] = {}
        self._runs: dict[str, dict[str, Any]] = {}
        self._scores: dict[str, list[Row]] = {}
        self._values: dict[str, Counter[str]] = {}
        """Run → how many of its traces have a value under each name."""
        self._export = export
        for row in self._rows("run"):
            self._runs[text(row.data.get("id"))] = row.data
            for at, run_item in enumerate(sequence(row.data.get("datasetRunItems"))):
                self._link(
                    Row(mapping(run_item), row.ref.below("datasetRunItems", at)), text(row.data.get("datasetName"))
                )
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
                    yield with_api_names(row)
                except ValueError as error:
                    self.problems.append(unreadable(NAME, row.ref, describe(error)))

    def _link(self, row: Row, dataset: str) -> None:
        data = row.data
        link = DatasetLink(
            text(data.get("datasetRunId")),
            text(data.get("datasetRunName")),
            dataset,
            text(data.get("datasetItemId")),
            row.ref,
            data,
        )
        trace = text(data.get("traceId"))
        known = self.links.setdefault(trace, [])
        earlier = next((one for one in known if (one.run, one.item) == (link.run, link.item)), None)
        if earlier is None or not trace:
            known.append(link)
        elif earlier.ref.file == row.ref.file:  # a list of items beside the run may name the same ones
            why = f"repeats trace {trace} of item {link.item}, which is also at {earlier.ref}: only one of them is read"
            self.problems.append(unreadable(NAME, row.ref, why))

    def _note(self, row: Row) -> None:
        """Scores of traces are read with the traces; this keeps the scores of whole runs."""
        if text(row.data.get("traceId")):
            self._count(text(row.data.get("traceId")), row)
        elif run := text(row.data.get("datasetRunId")):
            self._scores.setdefault(run, []).append(row)
        else:
            self.problems.append(unreadable(NAME, row.ref, "a score without a trace or a run"))

    def _learn(self) -> None:
        for file in self._export.traces:
            for row in json_rows(file, source=NAME, root=self._export.root, paged="data"):
                data = mapping(row.data) if isinstance(row, Row) else {}
                for score in nested_rows(data, row, "scores") if isinstance(row, Row) else []:
                    self._count(text(data.get("id")), score, run=text(data.get("experimentId")))

    def _count(self, trace: str, score: Row, run: str = "") -> None:
        for linked_run in {run} if run else {link.run for link in self.links.get(trace, [])}:
            names = self._values.setdefault(linked_run, Counter())
            names[text(score.data.get("name"))] += value_of(score.data) is not None

    def reported(self, run: str) -> tuple[Reported, ...]:
        return reported_of(self._scores.get(run, []), self._values.get(run, Counter()))

    def primary(self, run: str) -> str:
        return next((one.scorer for one in self.reported(run) if one.headline), "")

    def run_of(self, link: DatasetLink | None, trace: dict[str, Any], model: str, origin: Path, ref: SourceRef) -> Run:
        project, environment = text(trace.get("projectId")), text(trace.get("environment"))
        if link is None:
            place = "/".join(part for part in (project, environment) if part)
            return Run(
                # other traces of this place are in other exports, which must not replace each other
                native_id="/".join(filter(None, (place, text(trace.get("id"))))),
                source=SourceInfo(name=NAME),
                name=environment,
                suite=project or "traces",
                subject=Subject(model=model),
                origin=str(origin),
                ref=ref,
            )
        run_data = self._runs.get(link.run, {})
        item = self.items.get(link.item)
        dataset = link.dataset or text(item.data.get("datasetName") if item else "")
        return Run(
            native_id=link.run,
            source=SourceInfo(name=NAME),
            name=link.run_name or text(run_data.get("name")),
            suite=dataset or text(link.data.get("experimentDatasetId")) or "dataset",
            subject=Subject(model=model),
            started_at=time_of(run_data.get("createdAt")),
            reported=self.reported(link.run),
            origin=str(origin),
            extra=rest(run_data, _RUN) | non_empty(project=project, environment=environment),
            ref=link.ref,
        )


def value_of(score: dict[str, Any]) -> float | str | bool | None:
    """By data type: a boolean is stored as a number, and the number of a category is meaningless."""
    kind, value, string_value = score.get("dataType"), score.get("value"), score.get("stringValue")
    if kind == "BOOLEAN":
        flag = number(value)
        return value if isinstance(value, bool) else None if flag is None else bool(flag)
    if kind in ("CATEGORICAL", *_NO_MEASURE):
        return text(string_value) or (value if isinstance(value, str) else None)
    return value if isinstance(value, bool | str) else number(value)


def checks_of(scores: list[Row], primary: str, steps: dict[str, int]) -> Iterator[Check]:
    """`primary` is the score that the run's headline averages; if there is one, it alone decides."""
    for order, row in enumerate(scores):
        score = JsonFields(row.data)
        score.drop("traceId")
        name, value, place = text(score.take("name")), value_of(row.data), text(score.take("observationId"))
        kind, native, string_value = score.take("dataType"), score.take("value"), score.take("stringValue")
        measures = kind not in _NO_MEASURE
        others = non_empty(
            id=score.take("id"),
            at=score.take("timestamp"),
            source=score.take("source"),
            type=kind,
            number=native if isinstance(value, str) else None,
            words=string_value if not isinstance(value, str) else None,
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
    """The first number of the whole run is its headline. `values`: how many traces have a value under each name."""
    numbers = [(row, _averaged_score(row, values)) for row in scores if number(row.data.get("value")) is not None]
    headline = next((row for row, scorer in numbers if scorer), numbers[0][0] if numbers else None)
    return tuple(
        Reported(
            name=text(row.data.get("name")),
            metric="mean" if scorer else text(row.data.get("name")),
            scorer=scorer,
            value=number(row.data.get("value")),
            # a mean over a run is a mean over its traces, even if an item was tried several times
            n=values[scorer] if scorer else None,
            headline=row is headline,
            extra=rest(row.data, (*_HEADLINE, "value")) | non_empty(id=row.data.get("id")),
            ref=row.ref,
        )
        for row, scorer in numbers
    )


def _averaged_score(row: Row, values: Counter[str]) -> str:
    """The trace score that a number of the run averages, by its name."""
    name = text(row.data.get("name"))
    return next((one for one in sorted(values) if name in {pattern.format(one) for pattern in _AVERAGES}), "")
