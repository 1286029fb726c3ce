"""The matrix of a comparison as a table for a spreadsheet: a line for each case, a column for each run."""

import csv
from pathlib import Path

from errata.compare.comparison import Comparison
from errata.errors import ErrataError
from errata.model.counts import Cell
from errata.text.clean import one_line
from errata.text.redact import redact
from errata.text.spreadsheet import quoted


def write_matrix(comparison: Comparison, path: Path) -> None:
    labels = [_told(column.label) for column in comparison.shown.columns]
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["case", "categories", *labels])
            for case, row in comparison.shown.rows.items():
                facts = comparison.cases[case]
                writer.writerow([_told(facts.name), _told(" ".join(facts.categories)), *map(_cell, row)])
    except OSError as error:
        raise ErrataError(f"`{path}` can't be written: {error.strerror}", hint="name another file") from error


def _cell(cell: Cell | None) -> str:
    """The state; of several attempts, how many passed."""
    if cell is None:
        return ""
    return cell.state if cell.attempts == 1 else f"{cell.state} {cell.passes}/{cell.attempts}"


def _told(text: str) -> str:
    return quoted(one_line(redact(text)))
