"""Tables and lists on a page: columns as wide as they need, and no line wider than the page."""

import sys
from collections.abc import Iterable, Sequence

from errata.cli.fitting import WIDTH, columns, cut, fold, padded
from errata.cli.output import put, wash
from errata.text.clean import one_line

CUT_TO, NARROWEST = 14, 8
GAP = 2
BELOW = 4


def put_table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    give_way: Sequence[str] = (),
    whole: Sequence[str] = (),
    below: Sequence[str] = (),
    raw: bool = False,
) -> None:
    """The columns in `give_way` get narrower, one after the other, where a line would not fit the page.

    `below` has a text for each row, which stands under it. A cell of the columns in `whole` that had to be cut is
    repeated there.
    """
    cells = [[_one_line(cell, raw=raw) for cell in row] for row in rows]
    widths = [max([columns(name), *(columns(row[at]) for row in cells)]) for at, name in enumerate(header)]
    for name in give_way:
        _narrow(widths, [header.index(name)], CUT_TO)
    _narrow(widths, range(len(widths)), NARROWEST)
    _put_row(header, widths, header, right)
    for number, row in enumerate(cells):
        _put_row(row, widths, header, right)
        spilt = [cell for at, cell in enumerate(row) if header[at] in whole and columns(cell) > widths[at]]
        under = " · ".join([*spilt, *([_one_line(below[number], raw=raw)] if below and below[number] else [])])
        _put_under(under, len(spilt) + 1)


def _put_under(text: str, most: int) -> None:
    lines = fold(text, WIDTH - BELOW) if text else []
    if len(lines) > most:
        lines[most - 1 :] = [cut(" ".join(lines[most - 1 :]), WIDTH - BELOW)]
    for line in lines:
        sys.stdout.write(f"{' ' * BELOW}{line}\n")


def _one_line(cell: object, *, raw: bool) -> str:
    told = f"{cell:,}" if type(cell) is int else str(cell)
    return " ".join(wash(told, raw=raw).split())


def _put_row(row: Sequence[str], widths: Sequence[int], header: Sequence[str], right: Sequence[str]) -> None:
    parts = [padded(cut(cell, widths[at]), widths[at], right=header[at] in right) for at, cell in enumerate(row)]
    sys.stdout.write((" " * GAP).join(parts).rstrip() + "\n")


def _narrow(widths: list[int], which: Sequence[int], least: int) -> None:
    """Take from the widest of the columns until a line fits the page, or all are as narrow as they may be."""
    while sum(widths) + GAP * (len(widths) - 1) > WIDTH:
        widest = max(which, key=lambda at: widths[at], default=-1)
        if widest < 0 or widths[widest] <= least:
            return
        widths[widest] -= 1


def put_parts(label: str, parts: Sequence[str], note: str = "") -> None:
    """A label and its parts, broken between parts so that every line fits the page."""
    line = f"{label:<8} "
    for at, part in enumerate([*parts, note] if note else parts):
        joint = "" if at == 0 else "   " if note and at == len(parts) else " · "
        if at and columns(line) + len(joint) + columns(part) > WIDTH:
            put(line)
            line, joint = " " * 9, ""
        line += joint + part
    put(line, hang=9)


def some_of(names: Sequence[str], room: int) -> str:
    """As many names as fit a line, and how many more there are."""
    washed = [wash(one_line(name)) for name in names]
    shown = ""
    for at, one in enumerate(washed, 1):
        longer = f"{shown}, {one}" if shown else one
        more = f" and {len(washed) - at:,} more" if at < len(washed) else ""
        if columns(longer + more) > room:
            rest = f" and {len(washed) - at + 1:,} more"
            return shown + rest if shown else cut(one, room - len(more)) + more
        shown = longer
    return shown
