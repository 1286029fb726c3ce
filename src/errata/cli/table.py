"""Tables and lists that fit the page: columns get narrower, rows stack, and no id is cut."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from errata.cli.colour import COLOURED_COLUMNS, coloured
from errata.cli.fitting import WIDTH, columns, cut, fold, padded
from errata.cli.output import pulled_left, put, wash, write_out
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

CUT_TO, NARROWEST = 14, 8
PROSE = 20
"""A column with blanks in its cells and wider than this holds text, which may be cut."""
GAP = 2
BELOW = 4
STACKED = 2


def put_table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    give_way: Sequence[str] = (),
    whole: Sequence[str] = (),
    below: Sequence[str] = (),
    below_lines: int = 1,
    raw: bool = False,
) -> None:
    """Print a table no wider than the page.

    Where a line would not fit, headers are folded first. Then text gets narrower and is cut: first the columns in
    `give_way`, one after the other. Words without a blank and the columns in `whole` are names, which are never cut: a
    row with a name that is too long stacks, and where most rows would, all of them do.

    `below` has a text for each row, printed under it on at most `below_lines` lines (0: on as many as it takes).
    """
    table = _Table(header, [[_one_line(cell, raw=raw) for cell in row] for row in rows], give_way, whole)
    notes = [_one_line(text, raw=raw) for text in below]
    if table.fits:
        for line in table.header_lines(right):
            _write(line)
    for number, row in enumerate(table.rows):
        for line in table.row_lines(row, right) if table.fits else table.stacked(row):
            _write(line)
        if notes and notes[number]:
            _put_below(notes[number], below_lines)


def _write(line: str) -> None:
    write_out(pulled_left(line.rstrip()) + "\n")


def _put_below(text: str, most: int) -> None:
    lines = fold(text, WIDTH - BELOW, whole_words=True)
    if most and len(lines) > most:
        last, *rest = lines[most - 1 :]
        # a slug or an id that fills the line stays whole
        lines[most - 1 :] = [last if columns(last) > WIDTH - BELOW else cut(" ".join([last, *rest]), WIDTH - BELOW)]
    for line in lines:
        _write(f"{' ' * BELOW}{line}")


_BREAKS = lazy_regex(r"[^\S\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]+")
"""Blanks and ends of lines; a blank of another kind may be part of an id, which stays as it is."""


def _one_line(cell: object, *, raw: bool) -> str:
    text = f"{cell:,}" if type(cell) is int else str(cell)
    return _BREAKS.sub(" ", wash(text, raw=raw)).strip(" ")


class _Table:
    def __init__(
        self, header: Sequence[str], rows: Sequence[Sequence[str]], give_way: Sequence[str], whole: Sequence[str]
    ) -> None:
        self.header, self.rows = header, rows
        self._whole = whole
        self._cells = [sorted(columns(row[at]) for row in rows) for at in range(len(header))]
        self.widths = [max([columns(name), *self._cells[at]]) for at, name in enumerate(header)]
        if not self.fits:
            self._fold_headers()
        text = [at for at in range(len(header)) if self._is_text(at)]
        for name in give_way:
            self._narrow([at for at in text if header[at] == name], CUT_TO)
        self._narrow(text, NARROWEST)
        if not self.fits:
            self._let_some_rows_stack()

    @property
    def fits(self) -> bool:
        return self._excess <= 0

    @property
    def _excess(self) -> int:
        return sum(self.widths) + GAP * (len(self.widths) - 1) - WIDTH

    def _is_text(self, at: int) -> bool:
        if self.header[at] in self._whole:
            return False
        return self.widths[at] > NARROWEST and any(" " in row[at] and columns(row[at]) > PROSE for row in self.rows)

    def _is_name(self, at: int, cell: str) -> bool:
        return self.header[at] in self._whole or " " not in cell

    def _fold_headers(self) -> None:
        for at, name in enumerate(self.header):
            words = [columns(word) for word in name.split()]
            self.widths[at] = max([*words, *self._cells[at], 0])

    def _narrow(self, which: Sequence[int], least: int) -> None:
        """Take from the widest of these columns until a line fits the page, or all are as narrow as they may be."""
        while not self.fits:
            widest = max(which, key=lambda at: self.widths[at], default=-1)
            if widest < 0 or self.widths[widest] <= least:
                return
            self.widths[widest] -= 1

    def _let_some_rows_stack(self) -> None:
        """Narrow the columns of names, where only a few rows have long ones."""
        before = list(self.widths)
        least = [max([NARROWEST, *(columns(word) for word in name.split())]) for name in self.header]
        while not self.fits:
            narrowable = [at for at, width in enumerate(self.widths) if width > least[at]]
            if not narrowable:
                break
            self.widths[min(narrowable, key=lambda at: (self._as_wide(at), -self.widths[at]))] -= 1
        long = sum(any(columns(cell) > self.widths[at] for at, cell in enumerate(row)) for row in self.rows)
        if not self.fits or 2 * long > len(self.rows):
            self.widths = before

    def _as_wide(self, at: int) -> int:
        """How many cells of a column are too long once it is narrower by one."""
        return len(self._cells[at]) - bisect_left(self._cells[at], self.widths[at])

    def header_lines(self, right: Sequence[str]) -> list[str]:
        """Folded headers end on one line, above their column."""
        folded = [fold(name, max(self.widths[at], 1)) for at, name in enumerate(self.header)]
        height = max(map(len, folded))
        filled = [[""] * (height - len(lines)) + lines for lines in folded]
        return [self._line([lines[number] for lines in filled], right, plain=True) for number in range(height)]

    def row_lines(self, row: Sequence[str], right: Sequence[str]) -> list[str]:
        """A name wider than its column gets a line of its own: the first above the row, others below with a title."""
        above, below = [], []
        rest = list(row)
        for at, cell in enumerate(row):
            if columns(cell) > self.widths[at] and self._is_name(at, cell):
                rest[at] = ""
                if at == 0:
                    above.append(cell)
                else:
                    below += [" " * BELOW + line for line in self._titled(at, cell, WIDTH - BELOW)]
        return [*above, self._line(rest, right), *below]

    def stacked(self, row: Sequence[str]) -> list[str]:
        """The first cell, and below it each other one behind the name of its column."""
        room = WIDTH - STACKED
        lines = [row[0]] if self._is_name(0, row[0]) else fold(row[0], WIDTH, whole_words=True)
        line, taken = "", 0
        for at, cell in enumerate(row):
            if at == 0 or cell in ("", "–"):
                continue
            width = columns(f"{self.header[at]} {cell}".strip())
            if taken and taken + 3 + width > room:
                lines.append(f"{' ' * STACKED}{line}")
                line, taken = "", 0
            if width > room:
                lines += [" " * STACKED + part for part in self._titled(at, cell, room)]
                continue
            shown = f"{self.header[at]} {self._painted(at, cell)}".strip()
            line, taken = (f"{line} · {shown}", taken + 3 + width) if taken else (shown, width)
        return [*lines, *([f"{' ' * STACKED}{line}"] if line else [])]

    def _titled(self, at: int, cell: str, room: int) -> list[str]:
        """A cell behind the name of its column; a name that does not fit there, below it in one piece."""
        title = self.header[at]
        if columns(f"{title} {cell}") > room and self._is_name(at, cell):
            return [title, cell]
        return fold(f"{title} {cell}", room, whole_words=True)

    def _painted(self, at: int, cell: str) -> str:
        return coloured(cell) if self.header[at] in COLOURED_COLUMNS else cell

    def _line(self, row: Sequence[str], right: Sequence[str], *, plain: bool = False) -> str:
        parts = []
        for at, cell in enumerate(row):
            fitted = padded(cut(cell, self.widths[at]), self.widths[at], right=self.header[at] in right)
            parts.append(fitted if plain else self._painted(at, fitted))
        return (" " * GAP).join(parts)


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
    """As many names as fit a line, the first in any case, and how many more there are."""
    shown = ""
    for at, name in enumerate(names, 1):
        cleaned = wash(one_line(name))
        longer = f"{shown}, {cleaned}" if shown else cleaned
        more = f" and {len(names) - at:,} more" if at < len(names) else ""
        if shown and columns(longer + more) > room:
            return f"{shown} and {len(names) - at + 1:,} more"
        shown = longer
    return shown
