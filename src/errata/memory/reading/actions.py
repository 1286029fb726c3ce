"""The actions taken that a report lists."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest

import msgspec

from errata.memory.entries import columns_of
from errata.memory.reading.action_entries import (
    FIELD,
    SHORT,
    Context,
    Entry,
    dated_lines,
    entries_in,
    fields_below,
    is_frame,
    outcome,
    points_elsewhere,
    states_of_row,
    within,
)
from errata.memory.reading.action_words import (
    announces_changes,
    changes_evaluation,
    is_change,
    is_checked,
    is_entry_of_a_list,
    is_own_change,
    is_refused,
    says_nothing_was_done,
    state_of,
    state_of_cell,
    state_of_sentence,
    without_marks,
)
from errata.memory.reading.cases import names_in, names_in_cell
from errata.memory.reading.dates import date_in, without_date
from errata.memory.reading.fields import FAILURE
from errata.memory.reading.fields import columns_of as columns_of_failures
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.sections import about
from errata.memory.reading.sentences import sentences, speaks_of_the_past
from errata.memory.reading.steps import canonical_step
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.spelling import ends_alike, folded, segments
from errata.model import Action, SourceRef
from errata.model.identity import fingerprint
from errata.model.prior_report import PriorFailure
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

WHAT = 400
_FILE = lazy_regex(r"[\w@.+-]*(?:/[\w@.+-]+)*\.[A-Za-z][A-Za-z0-9]{0,9}\b")
_INNER = r"(?:[^()\[\]]|\([^()\[\]]*\)|\[[^()\[\]]*\])"  # a character inside brackets, or brackets inside of them
_CLAUSE = lazy_regex(rf"(?i)\s*[(\[]\s*(?:addresses|addressing|fixes|resolves|for|closes|see)\b({_INNER}*)[)\]]")
_NOTES = lazy_regex(rf"(?i)\s*\(((?:by\s|expected:){_INNER}*)\)\.?$")
"""Author and expected effect behind a description that has no column for them."""
_BY = lazy_regex(r"(?i)(?:^|[;,(]\s*)by\s+((?:[^;,()]|\([^()]*\)){1,60}?)\s*(?=[;,)]|$)")
_SIGNED = lazy_regex(r"(?i)[,;(–—-]\s*by\s+([\w.@-]+(?:\s+[\w.@-]+){0,3})\)?\.?$")
_EXPECTED = lazy_regex(r"(?i)(?:^|;)\s*expected:\s*((?:[^;()]|\([^()]*\))*)")
_EDGES = " \t\n.:;,–—-*"
_ABOUT_CASES = lazy_regex(
    r"(?i)^\W*(?:this\s+|it\s+|which\s+|that\s+)?(?:address(?:es|ed)|fix(?:es|ed)|resolve[sd]|for|closes|affects)\b"
)
_OF_A_WORD = lazy_regex(
    r"\b(?:of|for|in)\s+(?:the\s+)?([a-z]{3,30})(?=[\s,.;:)]|$)|\bthe\s+([a-z]{3,30})\s+(?:eval|case|task|test|grader)\b"
)
"""`the grader of timestamps`, `the upsert eval`: a single word, where a case is called so."""
_GROUP_OF_STEP = lazy_regex(
    r"(?i)\b(?:all|both|the|these|those|every)\b[^.;]{0,25}?([a-z]+)[- ](?:only\s+)?(?:failures?|evals?|cases?|group)\b"
)
_VAGUE_COLUMNS = ("action", "actions", "change", "changes", "fix", "fixes", "resolution")  # also what should be done
_PARAGRAPH_NUMBER = lazy_regex(r"\s*(?:§\s*)?\d+(?:\.\d+)+\.?\s+")  # `6.1. …`
_TALLY = lazy_regex(r"\W*\d+\s+\w+(?:\W+\d+\s+\w+)+\W*")
_STILL_OPEN = lazy_regex(r"(?i)\bnot (?:yet )?done\b|\bpartly\b|\bhalf\b")
_INLINE = lazy_regex(
    r"(?i)^\W*(?:actions?\s+(?:taken|done)|(?:fix|fixes|change|changes)\s+(?:applied|made)|what\s+(?:i|we)\s+did|fixed\s+by|resolved\s+by)"
    r"\s*(\([^()\n]{0,40}\))?\W*[:：–—-]\s*"
)


class ActionReader:
    def __init__(
        self, known: Vocabulary, path: str, *, date: str, subjects: Mapping[int, str], failures: Sequence[PriorFailure]
    ) -> None:
        self._known, self._path, self._date, self._subjects = known, path, date, subjects
        self._failures = failures
        self._reads_all = True
        """Whether actions may stand anywhere, because the report has no section for them."""

    def read(self, pieces: Sequence[MarkdownPiece]) -> Iterator[Action]:
        """In their order; none if a section states so. Actions without a day get that of the report."""
        entries = list(entries_in(pieces, self._known, year=self._date[:4]))
        section = [entry for entry in entries if entry.context.is_actions and not entry.context.is_partial]
        # a section that points elsewhere is none: `See the ticked boxes above.`
        points = bool(section) and all(points_elsewhere(entry.piece.text) for entry in section)
        self._reads_all = not section or points
        for entry in entries:
            if not (points and entry in section):
                yield from self._of_entry(entry)
            if self._reads_all and not entry.context.is_actions:
                yield from self._elsewhere(entry.piece, entry.context)

    def _elsewhere(self, piece: MarkdownPiece, context: Context) -> Iterator[Action]:
        """In a report without a section for actions: entries that are marked as done, and sentences of its author."""
        is_ticked = piece.kind == "item" and (context.is_advice or is_checked(piece.text))
        done = Context(level=0, is_actions=True, date=context.date)
        if piece.kind == "item" and context.is_advice and (result := outcome(piece.words)):
            if state_of_sentence(result.text) == "done":
                yield self._of_words(piece.words, piece.line, done)
        elif is_ticked and state_of(piece.text) == "done" and not _STILL_OPEN.search(piece.text):
            yield self._of_words(piece.words, piece.line, done)
        elif piece.kind in ("item", "text"):
            before = ""
            for sentence in sentences(piece.words):
                if is_own_change(sentence.text, before) and not speaks_of_the_past(sentence.text):
                    line = piece.line + piece.text.count("\n", 0, piece.text.find(sentence.text))
                    subject = next(filter(None, map(self._subject, range(line, piece.line - 1, -1))), [])
                    yield self._of_words(sentence, line, msgspec.structs.replace(done, cases=tuple(subject)))
                before = sentence.text

    def _of_entry(self, entry: Entry) -> Iterator[Action]:
        piece, context = entry.piece, entry.context
        if not context.is_actions:
            yield from self._inline(piece, is_advice=context.is_advice)
        elif context.state == "open":
            return
        elif piece.kind == "row":
            yield from self._of_row(piece, context)
        elif piece.kind == "item":
            yield from self._of_item(entry)
        elif piece.kind == "heading":
            yield from self._of_heading(entry)
        elif number := _PARAGRAPH_NUMBER.match(piece.text):
            item = msgspec.structs.replace(piece, kind="item", words=piece.words.cut(number.end()))
            yield from self._of_item(Entry(item, context))
        else:
            for line in dated_lines(piece):
                yield from self._of_paragraph(line, context) if line is piece else self._of_item(Entry(line, context))

    def _of_item(self, entry: Entry) -> Iterator[Action]:
        piece, context = entry.piece, entry.context
        items = [one for one in entry.below if not FIELD.match(one.text)]
        if is_frame(piece, self._known) and items:
            inner = within(piece, context, self._known, 0)
            for item in items if inner.state != "open" else ():
                if is_entry_of_a_list(item.text, is_log=context.is_log or inner.state == "done"):
                    yield self._of_words(item.words, item.line, inner)
            return
        fields = fields_below(entry.below)
        is_open = state_of(fields.get("status", Words("")).text) == "open"
        is_done = context.is_log or context.state == "done" or state_of(fields.get("status", Words("")).text) == "done"
        is_one = (
            not is_refused(piece.text) if context.state == "done" else is_entry_of_a_list(piece.text, is_log=is_done)
        )
        if not is_open and _has_text(piece.text) and is_one:
            yield self._of_words(piece.words, piece.line, context, fields)

    def _of_heading(self, entry: Entry) -> Iterator[Action]:
        """`### Relaxed the lint rule`, with its file, day and cases below."""
        fields = fields_below(entry.below)
        if state_of(fields.get("status", Words("")).text) != "open":
            yield self._of_words(entry.piece.words, entry.piece.line, entry.context, fields)

    def _of_paragraph(self, piece: MarkdownPiece, context: Context) -> Iterator[Action]:
        """Each sentence that reports a change; one that only names cases belongs to the one before it."""
        made: Action | None = None
        day = ""
        if says_nothing_was_done(piece.text):
            return
        for sentence in sentences(piece.words):
            line = piece.line + piece.text.count("\n", 0, piece.text.find(sentence.text))
            cases = self._cases(sentence, "")
            if announces_changes(sentence.text):
                day = date_in(sentence.text) or day
                continue
            if made is not None and cases and _ABOUT_CASES.match(sentence.text) and not is_change(sentence.text):
                made = _with_cases(made, cases)
                continue
            is_done = (
                context.state == "done"
                and not says_nothing_was_done(sentence.text)
                and state_of(sentence.text) != "open"
                and not _TALLY.fullmatch(sentence.text)
            )
            if not (is_change(sentence.text) or changes_evaluation(sentence.text) or (is_done and made is None)):
                continue
            if made is not None:
                yield made
            day = date_in(sentence.text) or day
            made = self._of_words(sentence, line, msgspec.structs.replace(context, date=context.date or day))
        if made is not None:
            yield made

    def _inline(self, piece: MarkdownPiece, *, is_advice: bool) -> Iterator[Action]:
        """`- **Action taken**: …` inside the text about a failure, or a column of its own."""
        if piece.kind == "row":
            yield from self._of_column(piece, is_advice=is_advice)
            return
        match = _INLINE.match(piece.text) if piece.kind in ("item", "text") else None
        if match:
            context = Context(level=0, is_actions=True, is_log=True, state="done", date=date_in(match[1] or ""))
            rest = msgspec.structs.replace(piece, words=piece.words.cut(match.end()))
            yield from self._of_paragraph(rest, context)

    def _is_log(self, piece: MarkdownPiece) -> bool:
        """A row with a day, a file and a change, and no failure."""
        if {"label", "step"} & set(columns_of_failures(piece.header, FAILURE)):
            return False
        return {"date", "path"} <= set(self._cells(piece))

    def _has_state(self, piece: MarkdownPiece) -> bool:
        """A row of advice with a cell for what became of it: `Done 2026-06-02`."""
        return any(state_of_cell(cell.text) == "done" and len(cell.text.split()) <= SHORT for cell in piece.cells)

    def _of_column(self, piece: MarkdownPiece, *, is_advice: bool) -> Iterator[Action]:
        columns = columns_of(piece.header)
        if len(piece.cells) == 2 and about(piece.cells[0].text) == "actions":  # a table of names and values
            cell = piece.cells[1]
            if is_entry_of_a_list(cell.text, is_log=bool(date_in(cell.text))) and _has_text(cell.text):
                yield self._of_words(cell, piece.line, Context(level=0, is_actions=True))
            return
        if {"what", "status"} <= set(columns) or (is_advice and self._reads_all and self._has_state(piece)):
            yield from self._of_row(piece, Context(level=0, is_actions=True), needs_done=True)
            return
        if not is_advice and self._is_log(piece):
            yield from self._of_row(piece, Context(level=0, is_actions=True, is_log=True))
            return
        titles = [
            at for at, title in enumerate(piece.header) if about(title) == "actions" or folded(title) in _VAGUE_COLUMNS
        ]
        if not titles or tuple(cell.text for cell in piece.cells) == piece.header or titles[0] >= len(piece.cells):
            return
        cell, is_log = piece.cells[titles[0]], folded(piece.header[titles[0]]) not in _VAGUE_COLUMNS
        if not _has_text(cell.text) or not is_entry_of_a_list(cell.text, is_log=is_log):
            return
        if not is_log and not is_change(cell.text):
            return
        others = [other for at, other in enumerate(piece.cells) if at != titles[0]]
        cases = [name for other in others for _, name in names_in(other, self._known)]
        yield self._of_words(cell, piece.line, Context(level=0, is_actions=True, cases=tuple(dict.fromkeys(cases))))

    def _of_words(self, words: Words, line: int, context: Context, fields: Mapping[str, Words] | None = None) -> Action:
        fields = fields or {}
        text = without_marks(words.text.strip())
        rest, notes = _without_clause(text)
        rest, signature = _without_author(rest)
        target = _target(fields["path"]) or fields["path"].text.strip() if "path" in fields else _target(words)
        named = self._cases(fields.get("addresses", Words("")), "") or self._cases(words, target)
        year = (self._date or "")[:4]
        day = date_in(words.text, year=year) or date_in(fields["date"].text if "date" in fields else "", year=year)
        return _action(
            what=without_date(rest).lstrip(_EDGES + "`").removeprefix(target),
            path=target,
            addresses=named or self._cases_in_path(target) or list(context.cases) or self._subject(line),
            date=day or context.date or self._date,
            author=signature or _first(_BY, notes) or fields.get("author", Words("")).text,
            expected=_first(_EXPECTED, notes) or fields.get("expected", Words("")).text,
            ref=SourceRef(file=self._path, line=line),
        )

    def _of_row(self, piece: MarkdownPiece, context: Context, *, needs_done: bool = False) -> Iterator[Action]:
        cells = self._cells(piece)
        texts = [cell.text for cell in piece.cells]
        is_empty = all(says_nothing_was_done(text) or not re.search(r"\w", text) for text in texts)
        states = set(map(state_of_cell, states_of_row(cells, texts)))
        is_done = "done" in states
        if tuple(texts) == piece.header or is_empty or "open" in states or (needs_done and not is_done):
            return
        words = cells["what"]
        if says_nothing_was_done(words.text) or not is_entry_of_a_list(
            words.text, is_log=context.is_log or is_done or "date" in cells
        ):
            return
        target = _target(cells["path"]) or cells["path"].text if "path" in cells else _target(words)
        if "addresses" in cells:
            named = self._cases(cells["addresses"], "") or names_in_cell(cells["addresses"], "")
        else:
            named = [name for cell in piece.cells for name in self._cases(cell, target)]
        what, clause = (words.text, "") if "addresses" in cells else _without_clause(words.text)
        match = _NOTES.search(what)
        notes = f"{clause};{match[1]}" if match else clause
        what = without_marks(what[: match.start()] if match else what)
        what = what if "date" in cells else without_date(what)
        year = (self._date or "")[:4]
        yield _action(
            what=what if "path" in cells else what.lstrip(_EDGES + "`").removeprefix(target),
            path=target,
            addresses=[name for name in named if name != target] or self._cases_in_path(target) or list(context.cases),
            date=date_in(cells["date"].text if "date" in cells else "", year=year)
            or date_in(cells["status"].text if "status" in cells else " ".join(texts), year=year)
            or context.date
            or self._date,
            author=cells["author"].text if "author" in cells else _first(_BY, notes),
            expected=cells["expected"].text if "expected" in cells else _first(_EXPECTED, notes),
            ref=SourceRef(file=self._path, line=piece.line),
        )

    def _cells(self, piece: MarkdownPiece) -> dict[str, Words]:
        """By the titles of their columns; where these say nothing, by what a cell holds."""
        columns = columns_of(piece.header)
        cells = {name: cell for name, cell in zip(columns, piece.cells, strict=False) if name}
        others = [cell for name, cell in zip_longest(columns, piece.cells) if cell and not name]
        for cell in others:
            text = cell.text.strip(" `*")
            if date_in(text) and not re.search(r"\w", without_date(text)):
                cells.setdefault("date", cell)
            elif _FILE.fullmatch(text):
                cells.setdefault("path", cell)
            elif is_frame(MarkdownPiece(kind="text", line=0, words=cell), self._known) and self._cases(cell, ""):
                cells.setdefault("addresses", cell)
        left = [cell for cell in others if cell not in cells.values()] or list(piece.cells)
        return {"what": max(left, key=lambda cell: len(cell.text), default=Words("")), **cells}

    def _cases(self, words: Words, target: str) -> list[str]:
        named = [name for _, name in sorted(names_in(words, self._known)) if name != target]
        alone = (match[1] or match[2] for match in _OF_A_WORD.finditer(words.text))
        named = named or [name for name in alone if self._known.has(name, is_code=True)]
        if named:
            return list(dict.fromkeys(named))
        match = _GROUP_OF_STEP.search(words.text)
        step = canonical_step(match[1]) if match else ""
        return [one.case for one in self._failures if step and one.failed_check == step]

    def _subject(self, line: int) -> list[str]:
        return [self._subjects[line]] if line in self._subjects else []

    def _cases_in_path(self, path: str) -> list[str]:
        """`evals/003-mutations/002-cascade_remove/TASK.txt` belongs to a case."""
        parts = path.split("/")
        for size in range(len(parts), 0, -1):
            for start in range(len(parts) - size + 1):
                name = "/".join(parts[start : start + size])
                if segments(name) and self._known.has(name):
                    return [name]
        return []


def _has_text(text: str) -> bool:
    """More than what is left of an entry that was struck out."""
    return len(re.findall(r"\w{2,}", re.sub(r"\([^()]*\)", "", text))) > 1


def _with_cases(action: Action, cases: Sequence[str]) -> Action:
    return msgspec.structs.replace(action, addresses=tuple(dict.fromkeys((*action.addresses, *cases))))


def _action(
    *, what: str, path: str, addresses: Sequence[str], date: str, author: str, expected: str, ref: SourceRef
) -> Action:
    text = one_line(what, WHAT).strip(_EDGES)
    names = dict.fromkeys(one_line(name) for name in addresses)
    cases = tuple(name for name in names if not any(_is_end_of(name, other) for other in names))
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


def _is_end_of(name: str, other: str) -> bool:
    """Whether another name is the same and longer."""
    return len(segments(name)) < len(segments(other)) and ends_alike(segments(name), segments(other))


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
