"""Which run a report is about: its id, model, date and pass rate, from fields, title, sentences and the file's name."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from errata.memory.reading.cases import Vocabulary
from errata.memory.reading.dates import date_in
from errata.memory.reading.fields import RUN, columns_of, fields_in, role_of
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.sections import about
from errata.memory.report_names import FileName
from errata.memory.spelling import without_host
from errata.text.clean import one_line

LOOKED_AT = 80
"""How many pieces at the start of a report may describe its run."""
FIRST = 12
"""How many pieces may hold the report's own date."""
NAME = 120
MOST_WORDS = 6
REMARK_WORDS = 3
"""A longer text in brackets is a comment on the model, not a part of its name."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{3,79}")
_MORE_RUNS = re.compile(r"(?=.*\d)[A-Za-z0-9_-]{6,80}")
_ADDRESS = re.compile(r"/run/([A-Za-z0-9_-]{4,80})")
_RUN = re.compile(r"(?i)\brun\s+(?:id\s+)?[`(\[\"]?((?=[A-Za-z_-]{0,40}\d)[A-Za-z0-9_-]{5,80})")
_MODEL_LIKE = re.compile(r"(?<![\w/.-])[A-Za-z][\w.]*(?:[-/.:][\w.]+)+")
_NO_MODEL = frozenset(
    ("post-mortem", "post-run", "re-run", "follow-up", "per-eval", "per-failure", "deep-dive", "write-up")
)
_RATE = re.compile(r"(\d{1,7})\s*(?:/|of|out of)\s*(\d{1,7})")
_PASSED_OF = re.compile(
    r"(?i)(\d{1,7})\s*(?:/|of|out of)\s*(\d{1,7})\s+(?:\w+\s+){0,2}pass"
    r"|pass(?:ed|es)?\s+(\d{1,7})\s*(?:/|of|out of)\s*(\d{1,7})"
    r"|pass rate\W{0,4}(?:is|was|of)?\W{0,4}(?:[\d.]+\s*%\W{0,4})?(\d{1,7})\s*(?:/|of)\s*(\d{1,7})"
)
_PROVIDER = re.compile(r"\(\s*(?:via\s+)?([\w.-]{2,40})\s*\)\s*$")


class Head(msgspec.Struct, kw_only=True):
    run: str = ""
    model: str = ""
    provider: str = ""
    experiment: str = ""
    date: str = ""
    passed: int | None = None
    total: int | None = None


class _FieldValue(NamedTuple):
    role: str
    value: Words


def head_of(pieces: Sequence[MarkdownPiece], named: FileName, cases: Vocabulary) -> tuple[Head, list[str]]:
    """The fields of the head, and every model that it names: if it names several, none is *the* model."""
    first = _opening(pieces)
    fields = list(_fields_of(first))
    models = list(dict.fromkeys(filter(None, (_model(one.value.text) for one in fields if one.role == "model"))))
    head, counts = Head(), dict[str, int]()
    for field in fields:
        _take(head, field, counts)
    _counted(head, counts, first)
    if len(models) > 1:
        head.run = head.model = ""
        return head, models
    title = next((piece.text for piece in first if piece.kind == "heading" and piece.level == 1), "")
    head.run = head.run or _run_in(first) or named.run
    head.model = (
        head.model or "/".join(filter(None, (named.provider, named.model))) or _model_in(title, head.run, cases)
    )
    dates = (date_in(piece.text) for piece in first[:FIRST] if piece.kind != "row")
    head.date = head.date or named.date or next(filter(None, dates), "")
    return head, [head.model, *models]


def _opening(pieces: Sequence[MarkdownPiece]) -> Sequence[MarkdownPiece]:
    """Up to where it comes to the failures, or to anything else."""
    for at, piece in enumerate(pieces[:LOOKED_AT]):
        if piece.kind == "heading" and at and (about(piece.text) is not None or piece.level > 2):
            return pieces[:at]
    return pieces[:LOOKED_AT]


def _fields_of(pieces: Iterable[MarkdownPiece]) -> Iterable[_FieldValue]:
    listed = 0
    """The indentation of the list of runs, below a field for runs that has no value of its own."""
    for piece in pieces:
        is_row, fields = piece.kind == "row", fields_in(piece.words, RUN)
        if piece.kind in ("item", "text"):
            yield from (_FieldValue(field.role, field.value) for field in fields)
            if listed and piece.level > listed and not fields:
                yield _FieldValue("run", piece.words)
            else:
                listed = piece.level if [one.role for one in fields if not one.value.text.strip()] == ["run"] else 0
        elif is_row and len(piece.cells) == 2 and not {"run", "model"} <= set(columns_of(piece.header, RUN)):
            yield _FieldValue(role_of(piece.cells[0].text, RUN), piece.cells[1])
        elif is_row and tuple(cell.text for cell in piece.cells) != piece.header:
            columns = columns_of(piece.header, RUN)
            if {"run", "model"} <= set(columns):
                yield from (_FieldValue(role, piece.cells[at]) for role, at in columns.items() if at < len(piece.cells))


def _take(head: Head, field: _FieldValue, counts: dict[str, int]) -> None:
    text = field.value.text.strip()
    match field.role:
        case "run":
            run_id = _id_in(field.value)
            if not head.run or (_MORE_RUNS.fullmatch(run_id) and run_id not in head.run):
                head.run = f"{head.run}, {run_id}" if head.run else run_id
        case "model":
            _take_model(head, text)
        case "provider" | "experiment":
            setattr(head, field.role, getattr(head, field.role) or one_line(text.strip("`"), NAME))
        case "date":
            head.date = head.date or date_in(text)
        case "rate":
            rate = _RATE.search(text)
            if rate and head.total is None:
                head.passed, head.total = int(rate[1]), int(rate[2])
        case "passed" | "failed" | "total":
            rate, number = _RATE.match(text), re.match(r"\d{1,7}\b", text)
            if rate and field.role == "passed" and head.total is None:
                head.passed, head.total = int(rate[1]), int(rate[2])
            elif number:
                counts.setdefault(field.role, int(number[0]))


def _take_model(head: Head, text: str) -> None:
    provider = _PROVIDER.search(text)
    if provider and not head.provider and not head.model and not without_host(text)[1]:
        head.provider = provider[1]
    head.model = head.model or _model(text)


def _model(text: str) -> str:
    """With a remark that may tell two models apart, `nimbus (high)`; without the provider, `nimbus (openrouter)`."""
    written = re.split(r"\s*[,;]", text.strip("`* "), maxsplit=1)[0]
    bare, remarks = without_host(written)
    name = bare.strip("`* ")
    if not re.search(r"\w", name) or len(name.split()) > MOST_WORDS:
        return ""
    short = [remark for remark in remarks if remark and len(remark.split()) <= REMARK_WORDS]
    return one_line(" ".join([name, *(f"({remark})" for remark in short)]), NAME)


def _counted(head: Head, counts: dict[str, int], pieces: Iterable[MarkdownPiece]) -> None:
    """Without a field for the rate: from the counts, otherwise from the first sentence with a rate."""
    if head.total is None and "passed" in counts and ("total" in counts or "failed" in counts):
        head.passed = counts["passed"]
        head.total = counts.get("total", counts["passed"] + counts.get("failed", 0))
    if head.total is None:
        match = next(filter(None, (_PASSED_OF.search(piece.text) for piece in pieces if piece.kind != "row")), None)
        numbers = [int(part) for part in match.groups() if part] if match else []
        head.passed, head.total = numbers if len(numbers) == 2 else (None, None)


def _id_in(value: Words) -> str:
    address = _ADDRESS.search(value.text)
    if address:
        return address[1]
    for text in (*value.code_texts, value.text):
        match = _ID.match(text.strip().strip("`#"))
        if match:
            return match[0]
    return ""


def _run_in(pieces: Iterable[MarkdownPiece]) -> str:
    for piece in pieces:
        match = _ADDRESS.search(piece.text) or _RUN.search(piece.text)
        if match and piece.kind != "row":
            return match[1]
    return ""


def _model_in(title: str, run: str, cases: Vocabulary) -> str:
    """The first word of the title that is made like the name of a model."""
    for match in _MODEL_LIKE.finditer(title):
        name = match[0].rstrip(".:")
        if name.lower() not in _NO_MODEL and name != run and not date_in(name) and not cases.has(name):
            return name
    return ""
