"""OpenTelemetry traces as OTLP has them in JSON: a document, or the lines that a collector writes into a file."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item, SourceRef
from errata.sources.base import Match, Numbering, Row, convert_each, describe, head_of, unreadable
from errata.sources.otlp.batches import Batches
from errata.sources.otlp.layout import HEAD, NAME
from errata.sources.otlp.runs import run_of
from errata.sources.otlp.traces import Reading, items_of, owner_of

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "OpenTelemetry traces (OTLP JSON): GenAI conventions and OpenInference"

# a file of a collector may begin with other signals
_TRACES = re.compile(rb'(?:\A|\n)\s*\{\s*"resourceSpans"\s*:\s*\[')


def recognise(path: Path) -> Match | None:
    return Match.sure("`resourceSpans`") if _TRACES.search(head_of(path, HEAD)) else None


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
    runs = {tested: run_of(batches.survey, tested, resource, path) for tested in batches.survey.tested}
    yield from runs.values()
    yield from batches.problems
    reading = Reading(runs, batches.survey, Numbering(), resource)
    rows = (Row(pieces, pieces[0].ref) for pieces in batches.traces())
    yield from convert_each(rows, partial(items_of, reading), source=NAME, owner=partial(owner_of, reading))
