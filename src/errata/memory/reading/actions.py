"""The actions, recommendations and patterns in a report."""

import re
from collections.abc import Iterator, Sequence

from errata.memory.entries import columns_of, is_none
from errata.memory.reading.cases import Vocabulary, names_in, names_in_cell
from errata.memory.reading.dates import date_in, without_date
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.sections import in_sections
from errata.memory.spelling import folded, segments
from errata.model import Action, SourceRef
from errata.model.identity import fingerprint
from errata.model.prior_report import PriorRecommendation
from errata.text.clean import one_line

WHAT = 400
_FILE = re.compile(r"[\w@.+-]*(?:/[\w@.+-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b")
_INNER = r"(?:[^()\[\]]|\([^()\[\]]*\)|\[[^()\[\]]*\])"
"""A character inside brackets, or brackets inside of them."""
_CLAUSE = re.compile(rf"(?i)\s*[(\[]\s*(?:addresses|addressing|fixes|resolves|for|closes|see)\b({_INNER}*)[)\]]")
_NOTES = re.compile(rf"(?i)\s*\(((?:by\s|expected:){_INNER}*)\)\.?$")
"""Author and expected effect behind a description that has no column for them."""
_BY = re.compile(r"(?i)(?:^|[;,(]\s*)by\s+((?:[^;,()]|\([^()]*\)){1,60}?)\s*(?=[;,)]|$)")
_SIGNED = re.compile(r"(?i)[,;(–—-]\s*by\s+([\w.@-]+(?:\s+[\w.@-]+){0,3})\)?\.?$")
_EXPECTED = re.compile(r"(?i)(?:^|;)\s*expected:\s*((?:[^;()]|\([^()]*\))*)")
_EDGES = " \t\n.:;,–—-*"


def actions_in(pieces: Sequence[MarkdownPiece], known: Vocabulary, path: str, *, date: str) -> Iterator[Action]:
    """In their order; none if the section states so. Actions without a day get the report's `date`."""
    for piece in in_sections(pieces, "actions"):
        read = _of_row if piece.kind == "row" else _of_line
        made = read(piece, known, path, date)
        if made is not None:
            yield made


def _of_line(piece: MarkdownPiece, known: Vocabulary, path: str, date: str) -> Action | None:
    text = piece.text.strip()
    if is_none(text) or piece.kind == "heading" or (piece.kind == "item" and piece.level > 1):
        return None
    if piece.kind == "text" and (piece.level or not date_in(text)):
        return None  # text around the list, or below one of its items
    rest, notes = _without_clause(re.sub(r"^\[[ xX]\]\s+", "", text))
    rest, signature = _without_author(rest)
    target = _target(piece.words)
    named = [name for _, name in sorted(names_in(piece.words, known)) if name != target]
    return _action(
        what=without_date(rest).lstrip(_EDGES + "`").removeprefix(target),
        path=target,
        addresses=named or _cases_in_path(target, known),
        date=date_in(text) or date,
        author=signature or _first(_BY, notes),
        expected=_first(_EXPECTED, notes),
        ref=SourceRef(file=path, line=piece.line),
    )


def _of_row(piece: MarkdownPiece, known: Vocabulary, path: str, date: str) -> Action | None:
    columns = columns_of(piece.header)
    cells = {name: cell for name, cell in zip(columns, piece.cells, strict=False) if name}
    texts = [cell.text for cell in piece.cells]
    if tuple(texts) == piece.header or all(is_none(text) or not re.search(r"\w", text) for text in texts):
        return None
    words = cells.get("what") or next((cell for cell in piece.cells if " " in cell.text), Words(""))
    target = _target(cells["path"]) or cells["path"].text if "path" in cells else _target(words)
    labelled = (
        names_in_cell(cells["addresses"], "") if "addresses" in cells else [name for _, name in names_in(words, known)]
    )
    what, clause = (words.text, "") if "addresses" in cells else _without_clause(words.text)
    match = _NOTES.search(what)
    notes = f"{clause};{match[1]}" if match else clause
    what = what[: match.start()] if match else what
    what = what if "date" in cells else without_date(what)
    return _action(
        what=what if "path" in cells else what.lstrip(_EDGES + "`").removeprefix(target),
        path=target,
        addresses=[name for name in labelled if name != target] or _cases_in_path(target, known),
        date=date_in(cells["date"].text if "date" in cells else " ".join(texts)) or date,
        author=cells["author"].text if "author" in cells else _first(_BY, notes),
        expected=cells["expected"].text if "expected" in cells else _first(_EXPECTED, notes),
        ref=SourceRef(file=path, line=piece.line),
    )


def _action(
    *, what: str, path: str, addresses: Sequence[str], date: str, author: str, expected: str, ref: SourceRef
) -> Action:
    text = one_line(what, WHAT).strip(_EDGES)
    cases = tuple(dict.fromkeys(one_line(name) for name in addresses))
    return Action(
        id=fingerprint(date, path, text, sorted(cases)),
        what=text,
        path=one_line(path),
        addresses=cases,
        date=date,
        author=one_line(author),
        expected_effect=one_line(expected),
        report=ref.file,
        ref=ref,
    )


def _without_clause(text: str) -> tuple[str, str]:
    """The text without a clause such as `(addresses …)`, and the clause; one with "addresses" comes first."""
    clauses = list(_CLAUSE.finditer(text))
    if not clauses:
        return text, ""
    clause = next((one for one in reversed(clauses) if "addresses" in one[0][:14].lower()), clauses[0])
    return f"{text[: clause.start()]}{text[clause.end() :]}", clause[1]


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1] if match else ""


def _without_author(text: str) -> tuple[str, str]:
    """`…, by Dana` at the end of a line."""
    match = _SIGNED.search(text)
    return (text[: match.start()], match[1]) if match else (text, "")


def _target(words: Words) -> str:
    """The file that was changed: what is marked as code and looks like one, else the first that looks so."""
    marked = [text.strip() for text in words.code_texts if _FILE.fullmatch(text.strip())]
    if marked:
        return marked[0]
    match = _FILE.search(words.text)
    return match[0] if match and not match[0][0].isdigit() else ""


def _cases_in_path(path: str, known: Vocabulary) -> list[str]:
    """`evals/003-mutations/002-cascade_remove/TASK.txt` belongs to a case."""
    parts = path.split("/")
    for size in range(len(parts), 0, -1):
        for start in range(len(parts) - size + 1):
            name = "/".join(parts[start : start + size])
            if segments(name) and known.has(name):
                return [name]
    return []


TEXT = 600
_GROUPS = (
    ("none", re.compile(r"^(?:no-action|nothing|none|leave)")),
    ("config", re.compile(r"^(?:lint|config|configuration|harness|tooling|runner|ci)\b")),
    ("model", re.compile(r"^(?:model|models)\b")),
    ("eval", re.compile(r"^(?:evals?|tasks?|graders?|tests?|benchmark|suite|guidelines?|prompts?)\b")),
)
_PREFIX = re.compile(r"^\s*([A-Za-z][\w /&-]{0,40}?)\s*:\s+")


def recommendations_in(pieces: Sequence[MarkdownPiece], known: Vocabulary, path: str) -> Iterator[PriorRecommendation]:
    group = ""
    for piece in in_sections(pieces, "recommendations"):
        if piece.kind == "heading" or _is_title(piece):
            group = group_of(piece.text)
            continue
        text, own = _without_group(piece)
        if is_none(text) or not re.search(r"\w", text):
            continue
        cells = piece.cells or (piece.words,)
        cases = tuple(dict.fromkeys(name for words in cells for _, name in sorted(names_in(words, known))))
        ref = SourceRef(file=path, line=piece.line)
        yield PriorRecommendation(text=one_line(text, TEXT), group=own or group, cases=cases, ref=ref)


def patterns_in(pieces: Sequence[MarkdownPiece]) -> Iterator[str]:
    for piece in in_sections(pieces, "patterns"):
        text = _row_text(piece) if piece.kind == "row" else "" if piece.kind == "heading" else piece.text
        if text and not is_none(text):
            yield one_line(text, TEXT)


def group_of(title: str) -> str:
    """The group of recommendations that a title means; unchanged if it is none of the four."""
    name = folded(title)
    return next((group for group, form in _GROUPS if form.search(name)), one_line(title, 40).rstrip(":"))


def _is_title(piece: MarkdownPiece) -> bool:
    """A paragraph of nothing but bold words."""
    bare = piece.text.strip().rstrip(":")
    return piece.kind == "text" and any(
        piece.text[start:end].strip().rstrip(":") == bare for start, end in piece.words.bold
    )


def _without_group(piece: MarkdownPiece) -> tuple[str, str]:
    if piece.kind == "row":
        group = group_of(piece.cells[0].text) if piece.cells else ""
        is_group = group in ("eval", "config", "model", "none")
        return (_row_text(piece).partition(" · ")[2], group) if is_group else (_row_text(piece), "")
    text = piece.text
    match = _PREFIX.match(text)
    group = group_of(match[1]) if match else ""
    if match is None or group not in ("eval", "config", "model", "none"):
        return text, ""
    return text[match.end() :], group


def _row_text(piece: MarkdownPiece) -> str:
    texts = tuple(cell.text for cell in piece.cells)
    return "" if texts == piece.header else " · ".join(filter(None, texts))
