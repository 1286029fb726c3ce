"""A file of traces → its runs, one per subject, and the items of each trace."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from errata.model import Item, Run, SourceInfo, SourceRef, Subject
from errata.sources.base import Numbering, Row, convert_each, describe, unreadable
from errata.sources.otlp import NAME, names
from errata.sources.otlp.attributes import Attributes
from errata.sources.otlp.batches import Batches, TraceSubject, TraceSurvey
from errata.sources.otlp.traces import FileContext, items_of, owner_of
from errata.sources.shared.spans import moment
from errata.sources.shared.values import non_empty, rest, settings, text


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    try:
        batches = Batches(path)
    except OSError as error:
        yield unreadable(NAME, SourceRef(file=path.name), describe(error))
        return
    yield from _items(batches, path)


def _items(batches: Batches, path: Path) -> Iterator[Item]:
    first = next(batches.traces(), [])
    resource = first[0].resource if first else {}
    runs = {tested: run_of(batches.survey, tested, resource, path) for tested in batches.survey.subjects}
    yield from runs.values()
    yield from batches.problems
    context = FileContext(runs, batches.survey, Numbering(), resource)
    rows = (Row(pieces, pieces[0].ref) for pieces in batches.traces())
    yield from convert_each(rows, partial(items_of, context), source=NAME, owner=partial(owner_of, context))


def run_of(survey: TraceSurvey, tested: TraceSubject, resource: dict[str, Any], path: Path) -> Run:
    """A run of traces, which have no run of their own."""
    attributes = Attributes(resource.get("attributes"))
    begun, ended = survey.times(tested)
    environment: dict[str, Any] = settings(non_empty(**{str(key): value for key, value in attributes.all.items()}))
    return Run(
        native_id=survey.first or path.name,
        source=SourceInfo(name=NAME),
        name=text(attributes.get("service.name")),
        subject=Subject(**tested._asdict()),
        suite=text(attributes.get(*names.SUITE)) or "traces",
        started_at=moment(begun),
        finished_at=moment(ended),
        environment=environment,
        origin=str(path.parent),
        extra=non_empty(resource=rest(resource, ("attributes",))),
        ref=SourceRef(file=path.name),
    )
