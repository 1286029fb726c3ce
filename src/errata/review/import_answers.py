"""Answers from a file that was filled in, row by row, as spreadsheets leave them."""

import codecs
import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import msgspec

from errata.errors import SettingsError
from errata.model import Reviewer
from errata.model.codec import strict_json
from errata.review.tables import ANSWERS
from errata.review.verdicts import KeptVerdict
from errata.text.lazy_regex import lazy_regex

LARGEST_CELL = 10_000_000
SNIFFED = 1 << 20
WHICH = ("attempt_id", "packet", "packet_id", "attempt", "id")
"""By what an answer may say which failure it is about, the surest first."""
_OPTIONAL = (
    "owner",
    "bucket",
    "underlying_mistake",
    "decisive_step",
    "decisive_agent",
    "decisive_reason",
    "second_candidate",
    "error_line",
)
_SEPARATOR = lazy_regex(r"sep=([,;\t|])\s*$", re.IGNORECASE)
_UNQUOTED = lazy_regex(r"^'(?=\s*[=+\-@＝＋－＠]|[\t\r\n])")


class FilledRow(NamedTuple):
    line: int
    which: str
    """The id of an attempt or of a packet."""
    answer: str
    """JSON, as any reviewer would have given it."""


class UnusableRow(NamedTuple):
    """A row that can't be taken as an answer, and why."""

    line: int
    why: str


Answers = Iterator[FilledRow | UnusableRow]


def read_answers(path: Path) -> Answers:
    """From JSON Lines, a JSON list or CSV, by the first character. Rows without an answer are skipped."""
    try:
        with path.open("rb") as file:
            opening = file.read(SNIFFED)
    except OSError as error:
        message = f"`{path}` can't be read: {error.strerror}"
        raise SettingsError(message, hint="name a file that `errata review export` wrote") from error
    encoding = _encoding(path, opening)
    start = opening.decode(encoding, "ignore").lstrip("\ufeff \t\r\n")[:1]
    with path.open(encoding=encoding, errors="replace", newline="") as text:
        if start == "[":
            yield from _listed(text)
        elif start == "{":
            yield from _lines(text)
        elif start:
            yield from _table(path, text)


def _encoding(path: Path, opening: bytes) -> str:
    """Usually UTF-8; files of spreadsheets in other encodings have a mark, or are not valid UTF-8."""
    if opening.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        with path.open("rb") as file:
            while chunk := file.read(SNIFFED):
                decoder.decode(chunk)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


def _listed(file: IO[str]) -> Answers:
    try:
        rows = strict_json(file.read())
    except ValueError as error:
        yield UnusableRow(getattr(error, "lineno", 1), f"not JSON: {error}")
        return
    for number, row in enumerate(rows, 1):
        yield from _row(number, row)


def _lines(file: IO[str]) -> Answers:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row = strict_json(line)
        except ValueError as error:
            yield UnusableRow(number, f"not JSON: {error}")
            continue
        yield from _row(number, row)


def _row(number: int, row: Any) -> Answers:
    if not isinstance(row, dict):
        yield UnusableRow(number, "an object was expected")
        return
    given = next((row[name] for name in ("verdict", "answer") if isinstance(row.get(name), dict)), row)
    if given is row and "places" in row:
        return  # a packet that nobody has answered
    which = next((row[name] for name in WHICH if isinstance(row.get(name), str) and row[name]), "")
    answer = {name: value for name, value in given.items() if name not in WHICH}
    yield from _filled_rows(number, which, answer)


def _filled_rows(number: int, which: str, answer: dict[str, Any]) -> Answers:
    if not any(value not in (None, "", [], {}) for value in answer.values()):
        return
    if not str(answer.get("label") or "").strip():
        yield UnusableRow(number, "there is an answer, but no label")
    elif not which:
        yield UnusableRow(number, f"does not name a failure: fill in {' or '.join(WHICH[:2])}")
    else:
        yield FilledRow(number, which, json.dumps(answer, ensure_ascii=False))


def _table(path: Path, file: IO[str]) -> Answers:
    csv.field_size_limit(LARGEST_CELL)
    header = file.readline()
    if match := _SEPARATOR.match(header):  # some spreadsheets name the separator in a line of its own
        separator, skipped = match[1], 1
    else:
        separator, skipped = max(",;\t", key=header.count), 0
        file.seek(0)
    rows = csv.reader(file, delimiter=separator)
    names = [name.strip().strip("\ufeff").lower().replace(" ", "_") for name in next(rows, [])]
    if "label" not in names or not set(WHICH) & set(names):
        hint = "it needs the columns `attempt_id` and `label`; `errata review export` writes such tables"
        raise SettingsError(f"`{path}` is not a table of answers: its columns are {', '.join(names[:12])}", hint=hint)
    yield from _cells(rows, names, skipped)


def _cells(rows: Any, names: list[str], skipped: int) -> Answers:
    line = rows.line_num + 1 + skipped
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            yield UnusableRow(line, f"not CSV from here on: {error}")
            return
        if cells is None:
            return
        row = {name: _UNQUOTED.sub("", cell).strip() for name, cell in zip(names, cells, strict=False)}
        which = next((row[name] for name in WHICH if row.get(name)), "")
        if not row.get("label") and any(row.get(name) for name in ANSWERS):
            yield UnusableRow(line, "there is an answer, but no label")
        elif row.get("label"):
            yield from _filled_rows(line, which, _answer(row))
        line = rows.line_num + 1 + skipped


def _answer(row: dict[str, str]) -> dict[str, Any]:
    """As a reviewer would say it; a note is what speaks against it, or could not be checked."""
    answer: dict[str, Any] = {name: row[name] for name in ("label", "cause", "reasoning") if row.get(name)}
    answer |= {name: row[name] for name in ("confidence", *_OPTIONAL) if row.get(name)}
    places = [name for name in row if re.fullmatch(r"evidence_place(?:_\d+)?", name) and row[name]]
    quotes = [(row[name], row.get(name.replace("place", "quote"), "")) for name in places]
    answer["evidence"] = [{"place": place, "quote": quote} for place, quote in quotes if quote]
    if row.get("note"):
        answer["doubts"] = [row["note"]]
    if "confidence" in answer:
        answer["confidence"] = answer["confidence"].lower()
    return answer


class KeptRow(msgspec.Struct, frozen=True):
    line: int
    case: str
    kept: KeptVerdict


class BadRow(msgspec.Struct, frozen=True):
    line: int
    case: str
    reasons: tuple[str, ...]


class ImportRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Whose answers they are, and to which packets."""

    reviewer: Reviewer
    at: str
    taxonomy: str = ""
    blind: bool = False
