"""The actions taken that a report lists: in a section for them, or as `**Action taken**: …` below a failure."""

import re
from collections.abc import Iterator, Mapping, Sequence

from errata.memory.entries import columns_of, is_none
from errata.memory.reading.markdown import PlainText, ReportPart
from errata.memory.reading.sections import cell_fields, fields_in, in_topics
from errata.memory.reading.sections import columns_of as columns_of_failures
from errata.memory.spelling import date_in, ends_alike, folded, segments, without_date
from errata.memory.words import Vocabulary
from errata.model import Action, SourceRef
from errata.model.identity import fingerprint
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

WHAT = 400
_EDGES = " \t\n.:;,–—-*"
_FILE = lazy_regex(r"[\w@.+-]{0,80}(?:/[\w@.+-]{1,80}){0,12}\.[A-Za-z][A-Za-z0-9]{0,9}")
_FILE_IN_TEXT = lazy_regex(
    r"(?<![\w/.@-])[\w@+-][\w@.+/-]{0,200}\.(?:[cm]?[jt]sx?|json|md|toml|ya?ml|txt|py|rs|go|sh)\b"
)
_CLAUSE = lazy_regex(
    r"(?i)\s?\((addresses|addressing|fixes|resolves|for|closes)\b((?:[^()]|\([^()]{0,200}\)){0,600})\)"
)
_NOTES = lazy_regex(r"(?i)\s?\(((?:by\s|expected:)(?:[^()]|\([^()]{0,200}\)){0,400})\)\.?$")
"""Author and expected effect behind a description that has no column for them."""
_BY = lazy_regex(r"(?i)(?:^|[;,(])\s?by ((?:[^;,()]|\([^()]{0,60}\)){1,60})(?=[;,)]|$)")
_SIGNED = lazy_regex(r"(?i)[,;(] ?by ([\w.@-]{1,40}(?: [\w.@-]{1,40}){0,3})\)?\.?$")
_EXPECTED = lazy_regex(r"(?i)(?:^|;)\s?expected:\s?((?:[^;()]|\([^()]{0,200}\)){0,300})")
_MARK = lazy_regex(r"\A(?:\s{0,4}(?:\[[xX]\]|[✅✔☑]\ufe0f?)\s?|(?i:\W{0,2}(?:done|fixed|applied)\b[^:\n]{0,30}:\s))")
_STATES = (
    r"(?:planned|to[- ]?do|tbd|pending|deferred|postponed|rejected|declined|skipped|open|proposed|recommended|none|no"
    r"|in progress|won['’]?t|not (?:yet|done|applied|implemented))"
)
_OPEN = lazy_regex(
    rf"(?i)^\s{{0,4}}(?:\[ \]|[⏳🔜⬜❌🚧📋☐])|^\W{{0,4}}{_STATES}\b[^:\n]{{0,30}}(?::|$)"
    rf"|[(—–-] ?{_STATES}[^()\n]{{0,40}}\)?\W{{0,2}}$|\b(?:we|i) (?:should|could|might) |\bwill "
    r"|\b(?:is|are|was|were|has|have|had)(?: only| still)? (?:not|planned|pending|deferred|rejected|recommended)\b"
    r"|\bno (?:\w{1,20} ){0,2}(?:change|action|fix)|\bnot (?:written|done)\b|\bn['’]t been\b"
)
_NOTHING = lazy_regex(
    r"(?i)[\W_]{0,6}(?:none\b(?! of)|nothing\b|n/?a\b|not applicable|tbd\b"
    r"|no (?:\w{1,20} ){0,3}(?:actions?|changes?|fix(?:es)?)\b)"
)


def is_done(text: str) -> bool:
    return not (is_none(text) or _NOTHING.match(text) or _OPEN.search(text))


def actions_in(
    parts: Sequence[ReportPart], known: Vocabulary, subjects: Mapping[int, tuple[str, ...]], path: str, *, date: str
) -> Iterator[Action]:
    """In their order. Actions without a day get that of the report; those below a failure are about it."""
    day, cases, is_open = date, tuple[str, ...](), False
    for part in in_topics(parts, "actions"):
        ref = SourceRef(file=path, line=part.line)
        is_head = part.kind == "heading" or (part.kind == "text" and part.text.rstrip().endswith(":"))
        if is_head:
            is_open = part.level > 0 and not is_done(part.text) if part.kind == "heading" else is_open
            day = date_in(part.text) or (date if part.kind == "heading" else day)
            cases = subjects.get(part.line, ()) if folded(part.text).startswith("action-taken") else ()
        elif part.kind == "row" and not is_open:
            yield from _of_row(part, known, ref, date=day)
        elif part.level == (part.kind == "item") and not is_open and _is_entry(part.text):
            yield _of_text(part.words, cases, known, ref, date=day)
    for part in parts:
        at = columns_of_failures(part.header).get("action", len(part.cells)) if part.kind == "row" else 0
        cell = part.cells[at] if at < len(part.cells) else None
        if cell and tuple(text.text for text in part.cells) != part.header and _is_entry(cell.text):
            yield _of_text(cell, subjects.get(part.line, ()), known, SourceRef(file=path, line=part.line), date=date)
        for field in [*fields_in(part.words), *cell_fields(part)]:
            if field.role == "action" and _is_entry(field.value):
                words, ref = PlainText(field.value, part.words.codes), SourceRef(file=path, line=part.line + field.line)
                yield _of_text(words, subjects.get(part.line, ()), known, ref, date=date_in(field.remark) or date)


def _is_entry(text: str) -> bool:
    return not text.startswith("<!--") and re.search(r"\w{2}", text) is not None and is_done(text)


def _of_text(words: PlainText, cases: Sequence[str], known: Vocabulary, ref: SourceRef, *, date: str) -> Action:
    text = _MARK.sub("", words.text)  # a check mark, or `Done:`
    day = date_in(text[:60])
    text = without_date(text) if day else text
    path = _target(words.codes, text)
    text, clause = _without_clause(text)
    bare, signed = text, _first(_SIGNED, text)
    if signed:
        bare = _SIGNED.sub("", text)
    bare = re.sub(rf"^\W{{0,6}}{re.escape(path)}`?[\s:,–—-]{{0,3}}", "", bare) if path else bare
    names = dict.fromkeys(_names(clause, known, marked=True) or [*cases, *_names(bare, known)])
    author, expected = _first(_BY, clause) or signed, _first(_EXPECTED, clause)
    return _action(bare, path, list(names), day or date, author, expected, ref)


def _of_row(part: ReportPart, known: Vocabulary, ref: SourceRef, *, date: str) -> Iterator[Action]:
    columns = columns_of(part.header)
    texts = tuple(cell.text for cell in part.cells)
    cells = {name: cell for name, cell in zip(columns, part.cells, strict=False) if name}
    what = cells.get("what", PlainText(""))
    status = cells.get("status", PlainText("")).text
    if (
        texts == part.header
        or not re.search(r"\w", what.text)
        or not is_done(what.text)
        or (status and not is_done(status))
    ):
        return
    text, notes = what.text, ""
    if match := _NOTES.search(text):
        text, notes = text[: match.start()], match[1]
    cases = cells.get("addresses", PlainText("")).text
    made = _of_text(PlainText(text, what.codes), known.names_in_cell(cases) if cases else (), known, ref, date=date)
    where = cells.get("path", PlainText(""))
    target = where.codes[0] if where.codes else where.text.strip(" `")
    yield _action(
        text if target or ("addresses" in cells and not made.path) else made.what,
        target or made.path,
        [name for name in made.addresses if not cases or name in known.names_in_cell(cases)],
        date_in(cells.get("date", PlainText("")).text) or made.date,
        cells.get("author", PlainText("")).text or _first(_BY, notes) or made.author,
        cells.get("expected", PlainText("")).text or _first(_EXPECTED, notes) or made.expected_effect,
        ref,
    )


def _action(
    what: str, path: str, addresses: Sequence[str], date: str, author: str, expected: str, ref: SourceRef
) -> Action:
    text = one_line(what.replace("`", ""), WHAT).strip(_EDGES)
    names = dict.fromkeys(one_line(name) for name in addresses)
    cases = tuple(name for name in names if not any(_is_end_of(name, other) for other in names))
    return Action(
        id=fingerprint(date, path, text, sorted(cases)),
        what=text,
        path=one_line(path),
        addresses=cases,
        date=date,
        author=one_line(author.strip()),
        expected_effect=one_line(expected).strip(" ."),
        report=ref.file,
        ref=ref,
    )


def _is_end_of(name: str, other: str) -> bool:
    return len(segments(name)) < len(segments(other)) and ends_alike(segments(name), segments(other))


def _without_clause(text: str) -> tuple[str, str]:
    """The text without a clause such as `(addresses …)`, and the clause; one with "addresses" comes first."""
    clauses = list(_CLAUSE.finditer(text))
    if not clauses:
        return text, ""
    clause = next((match for match in reversed(clauses) if match[1].lower().startswith("address")), clauses[0])
    return f"{text[: clause.start()]}{text[clause.end() :]}", clause[2]


def _names(text: str, known: Vocabulary, *, marked: bool = False) -> list[str]:
    return [name for _, name in known.names_in(text, marked=marked) if not _FILE.fullmatch(name)]


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1].strip() if match else ""


def _target(codes: Sequence[str], text: str) -> str:
    """The file that was changed: what is marked as code and looks like one, else the first that looks so."""
    marked = [code.strip() for code in codes if _FILE.fullmatch(code.strip()) and not re.match(r"\w+\.\w+\(", code)]
    match = _FILE_IN_TEXT.search(text)
    return marked[0] if marked else match[0] if match else ""
