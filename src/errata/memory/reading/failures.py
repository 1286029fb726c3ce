"""Which failures a report names, wherever it does so: headings, lists, tables, fields, sentences."""

import re
from collections.abc import Iterable, Iterator

from errata.memory.reading.cases import names_in, names_in_cell
from errata.memory.reading.drafts import CaseNaming, Draft, Drafts, fill, has_passed
from errata.memory.reading.fields import FAILURE, LabelledField, columns_of, fields_in, role_of
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.sections import About, about
from errata.memory.spelling import folded

_VAGUE = frozenset(("category", "type", "kind", "class"))
"""Columns that may hold something else than labels."""


def read_row(piece: MarkdownPiece, naming: CaseNaming, subject: Draft | None, group: str) -> None:
    """`subject` is the failure of the heading above, `group` the label that it gives to all below."""
    columns = columns_of(piece.header, FAILURE)
    is_header = tuple(cell.text for cell in piece.cells) == piece.header
    names = [] if is_header else _names(piece, columns, naming)
    if not names and len(piece.cells) == 2 and "case" not in columns:
        role = role_of(piece.cells[0].text, FAILURE)
        if subject is not None and role:  # a table of names and values
            fill(subject, role, piece.cells[1], piece.line, naming.labels)
    if has_passed(_cell(piece, columns, "status").text):
        return
    for name in names:
        draft = naming.draft_of(name, piece.line)
        draft.call(_label(piece, columns, naming) or group, piece.line)
        for role in ("step", "reasoning"):
            fill(draft, role, _cell(piece, columns, role), piece.line, naming.labels)


def _names(piece: MarkdownPiece, columns: dict[str, int], naming: CaseNaming) -> list[str]:
    if "case" in columns:
        at = columns["case"]
        names = names_in_cell(piece.cells[at], piece.header[at]) if at < len(piece.cells) else []
        return [name for name in names if naming.is_case(name)]
    leads = [lead for lead in map(naming.lead, piece.cells) if lead and lead.sure]
    return [leads[0].name] if leads and _label(piece, columns, naming) else []


def _label(piece: MarkdownPiece, columns: dict[str, int], naming: CaseNaming) -> str:
    """In its own column, whatever it is; in any other, only what is a label."""
    named, labels = _cell(piece, columns, "label").text, naming.labels
    label = labels.find(named) or labels.exact(named) or next(filter(None, map(labels.find, _texts(piece))), "")
    if label or "label" not in columns or folded(piece.header[columns["label"]]) in _VAGUE:
        return label
    return labels.in_field(named)


def _texts(piece: MarkdownPiece) -> list[str]:
    return [cell.text for cell in piece.cells]


def _cell(piece: MarkdownPiece, columns: dict[str, int], role: str) -> Words:
    at = columns.get(role)
    return piece.cells[at] if at is not None and at < len(piece.cells) else Words("")


_FAILS = re.compile(r"(?i)\b(?:fail(?:ed|s|ing|ure)?|broke|crashed)\b")
_PASSES = re.compile(r"(?i)\bpass(?:ed|es|ing)?\b|\bfixed\b|\bresolved\b|\bno longer\b")
_END = re.compile(r"(?<=[.!?;])\s+(?=[\"'`(*A-Z0-9])")


def read_sentences(piece: MarkdownPiece, naming: CaseNaming) -> None:
    before: list[str] = []
    mentioned: list[tuple[str, str, str]] = []
    for sentence in _sentences(piece.words):
        names = [name for _, name in sorted(names_in(sentence, naming.vocabulary)) if naming.is_case(name)]
        label = naming.labels.find(sentence.text)
        if label and (names or len(before) == 1):
            mentioned += [(name, label, sentence.text) for name in names or before]
        elif names and _FAILS.search(sentence.text) and not _PASSES.search(sentence.text):
            mentioned += [(name, "", sentence.text) for name in names]
        before = list(dict.fromkeys(names)) or before
    alone = len({name for name, _, _ in mentioned}) == 1
    for name, label, text in mentioned:
        reason = piece.text if alone else text
        line = piece.line + piece.text.count("\n", 0, max(piece.text.find(name), 0))
        draft = naming.draft_of(name, line)
        draft.call(label, line)
        draft.failed_at(naming.step_in(reason))
        draft.explain(reason)


def _sentences(words: Words) -> Iterator[Words]:
    start = 0
    for end in [*(found.end() for found in _END.finditer(words.text)), len(words.text)]:
        yield words.cut(start, end)
        start = end


SHORTEST = 12
"""Characters of a text that explains something."""
LONGEST_NAME = 8
"""Words of a name in a field for cases."""


class CurrentFailure:
    """The failure that the text is about: of the list item, of the heading, or of the last field that named a case."""

    def __init__(self) -> None:
        self._heading: Draft | None = None
        self._items: list[tuple[int, Draft]] = []

    def at(self, depth: int) -> Draft | None:
        inner = next((draft for level, draft in reversed(self._items) if level < depth), None)
        return inner or self._heading or (self._items[-1][1] if self._items else None)

    def item(self, depth: int, draft: Draft) -> None:
        self._items = [(level, one) for level, one in self._items if level < depth] + [(depth, draft)]

    def heading(self, draft: Draft | None) -> None:
        self._heading, self._items = draft, []


class FailureReader:
    def __init__(self, naming: CaseNaming) -> None:
        self._naming = naming
        self._sections: list[tuple[int, About, str]] = []
        """Level, what it is about, and the label that its heading gives to all below it."""
        self._subject = CurrentFailure()
        self._group: tuple[int, str] = (0, "")
        """How deep in a list, and the label given there."""
        self._later: list[MarkdownPiece] = []

    def read(self, pieces: Iterable[MarkdownPiece]) -> Drafts:
        for piece in pieces:
            if piece.kind == "heading":
                self._heading(piece)
            elif self._about != "failures":
                continue
            elif piece.kind == "row":
                read_row(piece, self._naming, self._subject.at(1), self._label)
            elif piece.kind != "comment":
                self._line(piece)
        for piece in self._later:  # the names of all cases are known here
            read_sentences(piece, self._naming)
        return self._naming.drafts

    @property
    def _about(self) -> About:
        return self._sections[-1][1] if self._sections else "failures"

    @property
    def _label(self) -> str:
        """The label in the heading above."""
        return self._group[1] or (self._sections[-1][2] if self._sections else "")

    def _heading(self, piece: MarkdownPiece) -> None:
        self._sections = [one for one in self._sections if one[0] < piece.level]
        lead, subject = self._naming.lead(piece.words), about(piece.text)
        kind = (None if lead and lead.sure else subject) or self._about
        labels = self._naming.labels
        alone = labels.exact(piece.text) if piece.level > 2 else ""  # a chapter "Model" is about the model
        label = "" if lead else labels.find(piece.text) or alone
        self._group = (0, "")
        self._sections.append((piece.level, kind, label or self._label))
        self._subject.heading(None)
        if lead and kind == "failures" and (lead.sure or subject is None):
            self._subject.heading(self._naming.lead_named(lead, piece.line, group=self._label, explains=False))

    def _line(self, piece: MarkdownPiece) -> None:
        depth = piece.level if piece.kind == "item" else piece.level + 1
        if piece.kind == "item" and self._group[0] >= depth:
            self._group = (0, "")
        if self._fields(fields_in(piece.words, FAILURE), piece, depth) or self._lead(piece, depth):
            return
        if not self._labelled(piece, depth):
            self._later.append(piece)
            subject = self._subject.at(depth)
            if subject is not None and len(piece.text) >= SHORTEST:
                subject.call(self._naming.labels.find(piece.text), piece.line)
                subject.explain(piece.text)

    def _lead(self, piece: MarkdownPiece, depth: int) -> bool:
        """Whether a line starts with a case; the lines below it describe that case."""
        lead = self._naming.lead(piece.words)
        if lead is None or not (lead.sure or self._naming.labels.find(lead.rest.text) or self._label):
            return False
        draft = self._naming.lead_named(lead, piece.line, group=self._label)
        if piece.kind == "item":
            self._subject.item(depth, draft)
        elif piece.words.bold or len(lead.rest.text) < SHORTEST:
            self._subject.heading(draft)
        return True

    def _labelled(self, piece: MarkdownPiece, depth: int) -> bool:
        """`Known gaps (2): a, b`, or only the label, with the cases below it."""
        places = self._naming.labels.places(piece.text)
        if not places or piece.text[: places[0][0]].strip(" *`\"'-–—•[("):
            return False
        rest, label = piece.words.cut(places[0][1]), places[0][2]
        names = [name for _, name in names_in(rest, self._naming.vocabulary)] or self._listed(rest)
        for name in names:
            self._naming.draft_of(name, piece.line).call(label, piece.line)
        is_title = len(rest.text.strip(" :()*0123456789")) < SHORTEST and self._subject.at(depth) is None
        if not names and is_title:
            self._group = (depth if piece.kind == "item" else 0, label)
        return bool(names) or is_title

    def _listed(self, rest: Words) -> list[str]:
        """Names that nothing but a colon before them and a comma between them makes known."""
        _, colon, after = rest.text.partition(":")
        names = names_in_cell(rest.cut(len(rest.text) - len(after)), "") if colon else []
        leads = [(name, self._naming.lead(Words(name))) for name in names]
        return [name for name, lead in leads if lead and not lead.rest.text.strip()]

    def _fields(self, fields: list[LabelledField], piece: MarkdownPiece, depth: int) -> bool:
        """Whether the piece was of fields of a failure."""
        used = False
        for field in fields:
            line = piece.line + field.line
            if field.role == "case":
                names = [name for name in names_in_cell(field.value, "") if _is_name(name)]
                for name in names:
                    self._subject.heading(self._naming.draft_of(name, line))
                used = used or bool(names)
            elif (subject := self._subject.at(depth)) is not None:
                fill(subject, field.role, field.value, line, self._naming.labels)
                used = True
        return used


def _is_name(text: str) -> bool:
    """A count is none, nor is a whole sentence."""
    return len(text.split()) <= LONGEST_NAME and not re.match(r"\d[\d.,]*(?:\s|%|$)", text)
