"""Who says what where the other says what: a table of two reviewers' labels."""

from collections.abc import Mapping

from errata.cli.output import put
from errata.cli.table import put_table


def put_confusion(confusion: Mapping[str, Mapping[str, int]], *, rows: str, columns: str) -> None:
    """Only where they differ somewhere: what agrees everywhere needs no table."""
    others = sorted({label for given in confusion.values() for label in given})
    if all(list(given) == [label] for label, given in confusion.items()):
        return
    put(f"  {rows} below, {columns} across", hang=4)
    cells = [("  " + label, *(given.get(other, 0) or "·" for other in others)) for label, given in confusion.items()]
    put_table(("", *others), cells, right=others)


def ratio(value: float | None) -> str:
    """None where chance alone would agree everywhere: nothing can be said."""
    return "–" if value is None else f"{value:.2f}"
