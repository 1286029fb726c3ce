"""Printing: data to stdout, talk to stderr, nothing from a log unwashed."""

import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import click
import msgspec

from errata.text.clean import clean, one_line
from errata.text.redact import redact, redact_tree

WIDTH = 100
CUT_TO, NARROWEST = 12, 8


def say(text: str = "") -> None:
    """Talk: progress and hints, washed like data."""
    click.echo(clean(redact(text)), err=True)


def put(text: str = "", *, raw: bool = False) -> None:
    """Data, cleaned and redacted."""
    sys.stdout.write(clean(text if raw else redact(text)) + "\n")


def put_json(value: Any, *, raw: bool = False) -> None:
    """One JSON object on one line. Every field of a record is there, whatever its value, but for empty notes."""
    plain = _plain(value)
    encoded = msgspec.json.encode(plain if raw else redact_tree(plain)).decode("utf-8")
    sys.stdout.write(_HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded) + "\n")


# what JSON lets through unescaped and a terminal would act on
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


_NOTES = ("extra", "ref")


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        fields = {name: getattr(value, name) for name in value.__struct_fields__}
        return {name: _plain(field) for name, field in fields.items() if field or name not in _NOTES}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    # a path that is not UTF-8 can't be written as JSON
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value


def put_table(
    header: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    right: Sequence[str] = (),
    cut: Sequence[str] = (),
    raw: bool = False,
) -> None:
    """Columns as wide as they need; those named in `cut` give way first, so that a line fits the page."""
    cells = [[one_line(str(cell) if raw else redact(str(cell))) for cell in row] for row in rows]
    widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(header)]
    _narrow(widths, [at for at, name in enumerate(header) if name in cut], CUT_TO)
    _narrow(widths, range(len(widths)), NARROWEST)
    for row in [list(header), *cells]:
        parts = []
        for at, cell in enumerate(row):
            text = cell if len(cell) <= widths[at] else f"{cell[: widths[at] - 1]}…"
            parts.append(text.rjust(widths[at]) if header[at] in right else text.ljust(widths[at]))
        sys.stdout.write("  ".join(parts).rstrip() + "\n")


def _narrow(widths: list[int], columns: Sequence[int], least: int) -> None:
    """Take from the widest of the columns until a line fits the page, or all are as narrow as they may be."""
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH:
        widest = max(columns, key=lambda at: widths[at], default=-1)
        if widest < 0 or widths[widest] <= least:
            return
        widths[widest] -= 1


def put_parts(label: str, parts: Sequence[str], note: str = "") -> None:
    """A label and its parts, broken between parts so that every line fits the page."""
    line = f"{label:<8} "
    for at, part in enumerate([*parts, note] if note else parts):
        joint = "" if at == 0 else "   " if note and at == len(parts) else " · "
        if at and len(line) + len(joint) + len(part) > WIDTH:
            put(line)
            line, joint = " " * 9, ""
        line += joint + part
    put(line)


def number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def money(value: float | None, digits: int = 4) -> str:
    return "–" if value is None else f"${value:,.{digits}f}"


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} {100 * part / whole:.1f} %" if whole else f"{part}/{whole}"


def plural(count: int, word: str, words: str = "") -> str:
    return f"{count:,} {word if count == 1 else words or word + 's'}"
