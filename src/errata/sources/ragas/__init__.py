"""ragas: the table of a result, as CSV or JSON lines."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item, Reported, Run, Scorer, SourceInfo, SourceRef
from errata.sources.base import Match, Numbering, Row, convert_each, head_of, number_or_none, of_run
from errata.sources.ragas.rows import Reading, items_of
from errata.sources.ragas.tables import HEAD, NAME, Table, fuller, is_csv, is_lines

__all__ = ["NAME", "TITLE", "fuller", "read", "recognise"]

TITLE = "ragas: the table of a result, as CSV or JSON lines"


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if is_lines(head) or is_csv(head):
        return Match.sure("samples of ragas with measures beside them")
    return None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    table = Table(path, path.parent)
    run = Run(
        native_id=f"{NAME}-{table.mark}",
        source=SourceInfo(name=NAME),
        reported=tuple(_reported(table, SourceRef(file=path.name))),
        scorers=tuple(Scorer(name=name) for name in table.columns.measures),
        origin=str(path.parent),
        ref=SourceRef(file=path.name),
    )
    yield run
    reading = Reading(run, table.columns, Numbering())
    yield from of_run(run.id, convert_each(table.rows(), partial(items_of, reading), source=NAME))


def _reported(table: Table, ref: SourceRef) -> Iterator[Reported]:
    """What ragas prints of a result, and writes nowhere; of each measure so many rows have a value."""
    measured = dict.fromkeys(table.columns.measures, 0)
    for row in table.rows():
        data = row.data if isinstance(row, Row) and isinstance(row.data, dict) else {}
        for name in measured:
            measured[name] += number_or_none(data.get(name)) is not None
    for name, rows in measured.items():
        yield Reported(name=name, metric="mean", n=rows, headline=name == table.columns.primary, ref=ref)
