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


def say(text: str = "") -> None:
    """Talk: progress and hints."""
    click.echo(text, err=True)


def put(text: str = "", *, raw: bool = False) -> None:
    """Data, cleaned and redacted."""
    sys.stdout.write(clean(text if raw else redact(text)) + "\n")


def put_json(value: Any, *, raw: bool = False) -> None:
    """One JSON object on one line."""
    plain = msgspec.to_builtins(value)
    encoded = msgspec.json.encode(plain if raw else redact_tree(plain)).decode("utf-8")
    sys.stdout.write(_HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", encoded) + "\n")


# what JSON lets through unescaped and a terminal would act on
_HIDDEN = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def put_table(header: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = ()) -> None:
    """Columns as wide as they need, the last one cut so that a line fits the page."""
    cells = [[one_line(redact(str(cell))) for cell in row] for row in rows]
    widths = [max([len(name), *(len(row[at]) for row in cells)]) for at, name in enumerate(header)]
    _narrow(widths)
    for row in [list(header), *cells]:
        parts = []
        for at, cell in enumerate(row):
            text = cell if len(cell) <= widths[at] else f"{cell[: widths[at] - 1]}…"
            parts.append(text.rjust(widths[at]) if header[at] in right else text.ljust(widths[at]))
        sys.stdout.write("  ".join(parts).rstrip() + "\n")


def _narrow(widths: list[int]) -> None:
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH and max(widths) > 8:
        widths[widths.index(max(widths))] -= 1


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
