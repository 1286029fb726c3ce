"""Records in code blocks, as rows of a table: a list in YAML, an array or lines in JSON, columns of text or CSV."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from errata.memory.entries import columns_of as columns_of_actions
from errata.memory.reading.fields import FAILURE, columns_of
from errata.memory.reading.markdown import MarkdownPiece, Words, words_of
from errata.text.lazy_regex import lazy_regex

_FIRST = lazy_regex(r"(\s*)-\s+([A-Za-z][\w -]{0,40}):(?:\s+(.*))?")
_FIELD = lazy_regex(r"(\s*)([A-Za-z][\w -]{0,40}):(?:\s+(.*))?")
_BLOCK = lazy_regex(r"[|>][+-]?\d?")
"""The value is the text below."""

_COLUMNS = (re.compile(r"\s{2,}|\t|\s*\|\s*"), re.compile(r"\s*[,;]\s*"))
"""What parts the cells of a line."""

Record = dict[str, str]


def with_records(pieces: Iterable[MarkdownPiece]) -> Iterator[MarkdownPiece]:
    """Only records of failures or actions become rows: a report quotes other data, too."""
    for piece in pieces:
        records = [one for one in _records_in(piece.text) if one[1]] if piece.kind == "code" else []
        header = tuple(dict.fromkeys(name for _, record in records for name in record))
        yield piece  # it may also hold the fields of the run
        if not _is_known(header):
            continue
        yield MarkdownPiece(kind="row", line=piece.line, header=header, cells=tuple(map(Words, header)))
        for line, record in records:
            cells = tuple(words_of(record.get(name, "")) for name in header)
            yield MarkdownPiece(kind="row", line=piece.line + line, header=header, cells=cells)


def _is_known(header: tuple[str, ...]) -> bool:
    roles, columns = columns_of(header, FAILURE), columns_of_actions(header)
    return ("case" in roles and ("label" in roles or "step" in roles)) or ("what" in columns and "date" in columns)


def _records_in(text: str) -> list[tuple[int, Record]]:
    """Each with the line where it begins, counted from 0."""
    if text.lstrip()[:1] in ("[", "{"):
        return [(0, record) for record in _of_json(text)]
    in_yaml = list(_of_yaml(text)) if text.lstrip().startswith("- ") or re.search(r"\n\s*- ", text) else []
    return in_yaml or list(_of_columns(text))


def _of_json(text: str) -> Iterator[Record]:
    for part in (text, *text.splitlines()):
        try:
            value = msgspec.json.decode(part)
        except (msgspec.MsgspecError, RecursionError):
            continue
        for record in value if isinstance(value, list) else [value]:
            if isinstance(record, dict):
                yield {str(name): _text(field) for name, field in record.items()}
        if part is text:
            return


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return "" if value is None else str(value)


def _of_yaml(text: str) -> Iterator[tuple[int, Record]]:
    """A hyphen begins a record; deeper lines are its fields, or go on with the last one."""
    record, start, depth, last = Record(), 0, -1, ""
    for at, line in enumerate(text.splitlines()):
        indent = len(line) - len(line.lstrip())
        first = _FIRST.match(line)
        if first and (depth < 0 or indent <= depth):
            if record:
                yield start, record
            record, start, depth, last = {}, at, indent, first[2]
            record[last] = _value(first[3])
            continue
        if depth < 0 or not line.strip():
            continue
        if indent <= depth:  # the list has ended
            yield start, record
            record, depth = {}, -1
            continue
        field = _FIELD.match(line)
        if field and field[2] not in record and indent <= depth + 4:
            last = field[2]
            record[last] = _value(field[3])
        elif last:
            record[last] = (
                f"{record[last]}, {line.strip()[2:]}".strip(", ")
                if line.strip().startswith("- ")
                else (f"{record[last]} {line.strip()}".strip())
            )
    if record:
        yield start, record


def _of_columns(text: str) -> Iterator[tuple[int, Record]]:
    """A line of titles, and lines of as many cells below it."""
    titles, cut = list[str](), _COLUMNS[0]
    for at, line in enumerate(text.splitlines()):
        if not titles:
            cut = next((one for one in _COLUMNS if len(one.split(line.strip())) > 2), cut)
            parts = cut.split(line.strip())
            titles = parts if len(parts) > 2 and _is_known(tuple(parts)) else []
            continue
        cells = cut.split(line.strip(), maxsplit=len(titles) - 1)
        if len(cells) >= len(titles) - 1 > 1:
            yield at, dict(zip(titles, map(_value, cells), strict=False))
        elif line.strip(" -=+|"):
            titles = []


def _value(text: str | None) -> str:
    value = (text or "").strip()
    if _BLOCK.fullmatch(value):
        return ""
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value.strip("[]")
