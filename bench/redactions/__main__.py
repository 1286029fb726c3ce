"""Count and print what redaction takes out of real logs: `python -m bench.redactions LOGS...`.

Logs of public harnesses hold next to no secrets, so nearly every redaction is a false one. The texts are those of the
log: the strings of a JSON document with the names of their fields, a cell of a table, a line of any other file.
"""

import argparse
import csv
import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from errata.sources.shared.archives import zipfile
from errata.text.redact import redact_named

_REPLACED = re.compile(r"\[redacted:([a-z0-9-]+)\]")
LARGEST = 64 << 20
AROUND = 70


class Redaction(NamedTuple):
    kind: str
    file: str
    before: str
    after: str


class Counted(NamedTuple):
    lines: int
    redactions: list[Redaction]


def count(paths: list[Path]) -> Counted:
    """Each text once per file: a conversation repeats earlier turns."""
    lines, redactions = 0, []
    for file in _files(paths):
        seen: set[tuple[str, str]] = set()
        for name, text in _texts(file):
            if (name, text) in seen:
                continue
            seen.add((name, text))
            lines += text.count("\n") + 1
            redactions += _redactions(str(file), name, text)
    return Counted(lines, redactions)


def _redactions(file: str, name: str, text: str) -> Iterator[Redaction]:
    shown = redact_named(name, text)
    if shown == text:
        return
    if shown == "[redacted:named]":
        yield Redaction("named", file, f"{name} = {text[:AROUND]}", shown)
        return
    at = 0
    for match in _REPLACED.finditer(shown):
        head = shown[max(at, match.start() - AROUND) : match.start()]
        start = text.find(head, 0) + len(head)
        yield Redaction(match[1], file, text[max(0, start - AROUND) : start + AROUND], head + match[0])
        at = match.end()


def _files(paths: list[Path]) -> Iterator[Path]:
    for path in paths:
        yield from sorted(one for one in (path.rglob("*") if path.is_dir() else (path,)) if one.is_file())


def _texts(file: Path) -> Iterator[tuple[str, str]]:
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            for member in archive.namelist():
                if archive.getinfo(member).file_size <= LARGEST:
                    yield from _of_text(member, archive.read(member).decode("utf-8", "replace"))
    elif file.stat().st_size <= LARGEST:
        data = file.read_bytes()
        if data.startswith(b"SQLite format 3"):
            yield from _of_database(file)
        elif b"\x00" not in data[:4096]:
            yield from _of_text(file.name, data.decode("utf-8", "replace"))


def _of_text(name: str, text: str) -> Iterator[tuple[str, str]]:
    try:
        yield from _strings("", json.loads(text))
        return
    except ValueError:
        pass
    if name.endswith((".csv", ".tsv")):
        rows = csv.DictReader(text.splitlines(), delimiter="\t" if name.endswith(".tsv") else ",")
        yield from ((str(key), cell) for row in rows for key, cell in row.items() if isinstance(cell, str))
        return
    for line in text.split("\n"):
        try:
            yield from _strings("", json.loads(line))
        except ValueError:
            yield "", line


def _of_database(file: Path) -> Iterator[tuple[str, str]]:
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as connection:
        for (table,) in connection.execute("select name from sqlite_master where type = 'table'").fetchall():
            cursor = connection.execute(f'select * from "{table}"')
            names = [column[0] for column in cursor.description]
            for row in cursor:
                yield from (pair for name, cell in zip(names, row, strict=True) for pair in _strings(name, cell))


def _strings(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _strings(str(key), item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings("", item)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("logs", nargs="+", type=Path)
    parser.add_argument("--show", type=int, default=20, help="print at most N of each kind")
    options = parser.parse_args()
    counted = count(options.logs)
    shown: Counter[str] = Counter()
    for redaction in counted.redactions:
        shown[redaction.kind] += 1
        if shown[redaction.kind] <= options.show:
            print(f"{redaction.kind:<18} {redaction.file[-60:]}\n    {redaction.before!r}\n    {redaction.after!r}")
    print(f"{len(counted.redactions):,} redactions in {counted.lines:,} lines: {dict(shown)}")


if __name__ == "__main__":
    main()
