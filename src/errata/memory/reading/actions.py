"""What a report says was done: the lines or rows of its section "Actions taken"."""

import re
from collections.abc import Iterator, Sequence

from errata.memory.entries import columns_of, is_none
from errata.memory.reading.cases import Vocabulary, names_in, names_in_cell
from errata.memory.reading.dates import date_in, without_date
from errata.memory.reading.pieces import Piece
from errata.memory.reading.sections import in_sections
from errata.memory.reading.words import Words
from errata.memory.spelling import segments
from errata.model import Action, SourceRef
from errata.model.identity import fingerprint
from errata.text.clean import one_line

MOST = 500
WHAT = 400
_FILE = re.compile(r"[\w@.+-]*(?:/[\w@.+-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b")
_CLAUSE = re.compile(r"(?i)\s*[(\[]\s*(?:addresses|addressing|fixes|resolves|for|closes|see)\b([^()\[\]]*)[)\]]")
_BY = re.compile(r"(?i)(?:^|[;,(]\s*)by\s+([\w.@ -]{1,60}?)\s*(?=[;,)]|$)")
_SIGNED = re.compile(r"(?i)[,;(–—-]\s*by\s+([\w.@-]+(?:\s+[\w.@-]+){0,3})\)?\.?$")
_EXPECTED = re.compile(r"(?i);\s*expected:\s*([^;)]*)")
_EDGES = " \t\n.:;,–—-*"


def actions_in(pieces: Sequence[Piece], known: Vocabulary, path: str, *, date: str) -> Iterator[Action]:
    """In their order; none where the section says so. What has no day of its own has the report's, `date`."""
    for piece in in_sections(pieces, "actions"):
        read = _of_row if piece.kind == "row" else _of_line
        made = read(piece, known, path, date)
        if made is not None:
            yield made


def _of_line(piece: Piece, known: Vocabulary, path: str, date: str) -> Action | None:
    text = piece.text.strip()
    if is_none(text) or piece.kind == "heading" or (piece.kind == "item" and piece.level > 1):
        return None
    if piece.kind == "text" and (piece.level or not date_in(text)):
        return None  # what is said around the list, or below one of its items
    text, by = _without_author(re.sub(r"^\[[ xX]\]\s+", "", text))
    clause = _CLAUSE.search(text)
    target = _target(piece.words)
    named = [name for _, name in sorted(names_in(piece.words, known)) if name != target]
    told = f"{text[: clause.start()]}{text[clause.end() :]}" if clause else text
    what = without_date(told).lstrip(_EDGES + "`").removeprefix(target)
    notes = clause[1] if clause else ""
    return _action(
        what=what,
        path=target,
        addresses=named or _cases_in_path(target, known),
        date=date_in(text) or date,
        author=by or (found[1] if (found := _BY.search(notes)) else ""),
        expected=found[1] if (found := _EXPECTED.search(notes)) else "",
        ref=SourceRef(file=path, line=piece.line),
    )


def _of_row(piece: Piece, known: Vocabulary, path: str, date: str) -> Action | None:
    columns = columns_of(piece.header)
    cells = {name: cell for name, cell in zip(columns, piece.cells, strict=False) if name}
    texts = [cell.text for cell in piece.cells]
    if tuple(texts) == piece.header or all(is_none(text) or not re.search(r"\w", text) for text in texts):
        return None
    said = cells.get("what") or next((cell for cell in piece.cells if " " in cell.text), Words(""))
    target = _target(cells["path"]) or cells["path"].text if "path" in cells else _target(said)
    told = (
        names_in_cell(cells["addresses"], "") if "addresses" in cells else [name for _, name in names_in(said, known)]
    )
    return _action(
        what=said.text if "date" in cells else without_date(said.text),
        path=target,
        addresses=[name for name in told if name != target] or _cases_in_path(target, known),
        date=date_in(cells["date"].text if "date" in cells else " ".join(texts)) or date,
        author=cells["author"].text if "author" in cells else "",
        expected=cells["expected"].text if "expected" in cells else "",
        ref=SourceRef(file=path, line=piece.line),
    )


def _action(
    *, what: str, path: str, addresses: Sequence[str], date: str, author: str, expected: str, ref: SourceRef
) -> Action:
    said = one_line(what, WHAT).strip(_EDGES)
    cases = tuple(dict.fromkeys(one_line(name) for name in addresses))
    return Action(
        id=fingerprint(date, path, said, sorted(cases)),
        what=said,
        path=one_line(path),
        addresses=cases,
        date=date,
        author=one_line(author),
        expected_effect=one_line(expected),
        report=ref.file,
        ref=ref,
    )


def _without_author(text: str) -> tuple[str, str]:
    """`…, by Dana` at the end of a line."""
    found = _SIGNED.search(text)
    return (text[: found.start()], found[1]) if found else (text, "")


def _target(words: Words) -> str:
    """The file that was changed: what is marked as code and looks like one, else the first that looks so."""
    marked = [text.strip() for text in words.code_texts if _FILE.fullmatch(text.strip())]
    if marked:
        return marked[0]
    found = _FILE.search(words.text)
    return found[0] if found and not found[0][0].isdigit() else ""


def _cases_in_path(path: str, known: Vocabulary) -> list[str]:
    """`evals/003-mutations/002-cascade_remove/TASK.txt` belongs to a case."""
    parts = path.split("/")
    for size in range(len(parts), 0, -1):
        for start in range(len(parts) - size + 1):
            name = "/".join(parts[start : start + size])
            if segments(name) and known.has(name):
                return [name]
    return []
