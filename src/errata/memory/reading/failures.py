"""Which failures a report names, wherever it does so: headings, lists, tables, fields, sentences."""

import re
from collections.abc import Iterable

from errata.memory.reading.cases import Lead, Vocabulary, lead_of, names_in, names_in_cell
from errata.memory.reading.drafts import Draft, Drafts
from errata.memory.reading.fields import Field, fields_in
from errata.memory.reading.labels import LabelWords
from errata.memory.reading.pieces import Piece
from errata.memory.reading.roles import FAILURE, columns_of, role_of
from errata.memory.reading.sections import About, about
from errata.memory.reading.words import Words
from errata.memory.spelling import model_name

_PASSED = re.compile(r"(?i)^\W*(?:pass(?:ed|es)?|ok|success|succeeded|green|✅|✔️?|yes|true)\b|^\W*[✅✔]")
_STEPS = re.compile(
    r"(?i)\b(filesystem|install|deploy|tsc|eslint|tests?|lint|typecheck|type-check|build|compile|verifier|judge)\b"
)
_FAILED_AT = re.compile(r"(?i)\bfail(?:ed|s|ing|ure)?\s+(?:at|in|on|during)\s+(?:the\s+)?[`\"']?([\w-]{2,40})")
_FAILS = re.compile(r"(?i)\b(?:fail(?:ed|s|ing|ure)?|broke|crashed)\b")
_PASSES = re.compile(r"(?i)\bpass(?:ed|es|ing)?\b|\bfixed\b|\bresolved\b|\bno longer\b")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[\"'`(*A-Z0-9])|\n")
_JOINT = re.compile(r"^[\s:;,.–—\-|·()\[\]→>*]+|[\s:;,–—\-|·(\[→>*]+$")
SHORTEST = 12
"""Characters of a text that explains something."""


class Subject:
    """Of which failure one is reading: that of the heading, of the list item, or of the last field that named one."""

    def __init__(self) -> None:
        self.heading: Draft | None = None
        self._items: list[tuple[int, Draft]] = []

    def at(self, depth: int) -> Draft | None:
        inner = next((draft for level, draft in reversed(self._items) if level < depth), None)
        return inner or self.heading or (self._items[-1][1] if self._items else None)

    def item(self, depth: int, draft: Draft) -> None:
        self._items = [(level, one) for level, one in self._items if level < depth] + [(depth, draft)]

    def new_heading(self, draft: Draft | None) -> None:
        self.heading, self._items = draft, []


class FailureReader:
    def __init__(self, labels: LabelWords, known: Iterable[str], model: str = "") -> None:
        self._labels, self._known, self._model = labels, Vocabulary(known), model_name(model).base
        self._sections: list[tuple[int, About, str]] = []
        """Level, what it is about, and the label that its heading gives to all below it."""
        self._subject = Subject()
        self._group: tuple[int, str] = (0, "")
        self._later: list[Piece] = []
        self.drafts = Drafts()

    def read(self, pieces: Iterable[Piece]) -> Drafts:
        for piece in pieces:
            match piece.kind:
                case "heading":
                    self._heading(piece)
                case "row" if self._about == "failures":
                    self._row(piece)
                case "item" | "text" if self._about == "failures":
                    self._said(piece)
        for piece in self._later:  # by now the names of the cases are known
            self._sentences(piece)
        return self.drafts

    @property
    def _about(self) -> About:
        return self._sections[-1][1] if self._sections else "failures"

    def _heading(self, piece: Piece) -> None:
        self._sections = [one for one in self._sections if one[0] < piece.level]
        lead = self._lead(piece.words)
        kind = (None if lead and lead.sure else about(piece.text)) or self._about
        label = self._labels.find(piece.text)
        inherited = self._sections[-1][2] if self._sections else ""
        self._sections.append((piece.level, kind, inherited if lead or not label else label))
        self._group = (0, "")
        self._subject.new_heading(None)
        if lead and kind == "failures" and (lead.sure or about(piece.text) is None):
            self._subject.new_heading(self._named(lead, piece, explains=False))

    def _said(self, piece: Piece) -> None:
        depth = piece.level if piece.kind == "item" else piece.level + 1
        if self._group[0] >= depth:
            self._group = (0, "")
        fields = fields_in(piece.words, FAILURE)
        if fields and self._fields(fields, piece, depth):
            return
        lead = self._lead(piece.words)
        if lead and (lead.sure or self._labels.find(lead.rest.text) or self._group_label):
            draft = self._named(lead, piece)
            if piece.kind == "item":
                self._subject.item(depth, draft)
            elif piece.words.bold[:1] or len(lead.rest.text) < SHORTEST:
                self._subject.new_heading(draft)
            return
        if not self._labelled_list(piece, depth):
            self._later.append(piece)
            subject = self._subject.at(depth)
            if subject is not None and len(piece.text) >= SHORTEST:
                subject.call(self._labels.find(piece.text), piece.line)
                subject.explain(piece.text)

    @property
    def _group_label(self) -> str:
        return self._group[1] or (self._sections[-1][2] if self._sections else "")

    def _lead(self, words: Words) -> Lead | None:
        """A name in front that is neither a label nor the model."""
        first = words.text[:200]
        found = lead_of(words)
        if found is None or self._labels.find(found.name) or model_name(found.name).base == self._model:
            return None
        if self._known.has(found.name):
            return Lead(found.name, True, found.rest)
        return found if first.strip() else None

    def _named(self, lead: Lead, piece: Piece, *, explains: bool = True) -> Draft:
        draft = self.drafts.named(lead.name, piece.line, sure=lead.sure)
        self._known.add(lead.name)
        rest = lead.rest.text
        if _PASSED.search(_JOINT.sub("", rest)) and not self._labels.find(rest):
            draft.passed = True
        draft.call(self._labels.find(rest) or self._group_label, piece.line)
        draft.failed_at(_step_in(rest))
        if explains:
            draft.explain(self._without_label(rest))
        return draft

    def _without_label(self, text: str) -> str:
        places = self._labels.places(text)
        told = f"{text[: places[0][0]]} {text[places[0][1] :]}" if places else text
        bare = _JOINT.sub("", _JOINT.sub("", told))
        return bare if len(bare) >= SHORTEST or not places else bare if len(bare.split()) > 1 else ""

    def _labelled_list(self, piece: Piece, depth: int) -> bool:
        """`Known gaps (2): a, b`, or only the label, with the cases below it."""
        places = self._labels.places(piece.text)
        if not places or piece.text[: places[0][0]].strip(" *`\"'-–—•[("):
            return False
        rest = piece.words.cut(places[0][1])
        names = [name for _, name in names_in(rest, self._known)]
        if not names:
            names = [name for name in names_in_cell(rest.cut(_after_colon(rest.text)), "") if self._is_name(name)]
        for name in names:
            self.drafts.named(name, piece.line).call(places[0][2], piece.line)
            self._known.add(name)
        if not names and len(rest.text.strip(" :()*0123456789")) < SHORTEST and self._subject.at(depth) is None:
            self._group = (depth, places[0][2])
            return True
        return bool(names)

    def _is_name(self, text: str) -> bool:
        lead = lead_of(Words(text))
        return lead is not None and not lead.rest.text.strip() and not self._labels.find(text)

    def _fields(self, fields: list[Field], piece: Piece, depth: int) -> bool:
        """Whether the piece was of fields of a failure."""
        used = False
        for field in fields:
            line = piece.line + field.line
            if field.role == "case":
                names = [name for name in names_in_cell(field.value, "") if len(name.split()) < 9]
                for name in names:
                    self._subject.new_heading(self.drafts.named(name, line))
                    self._known.add(name)
                used = used or bool(names)
                continue
            subject = self._subject.at(depth)
            if subject is not None:
                self._fill(subject, field.role, field.value, line)
                used = True
        return used

    def _fill(self, draft: Draft, role: str, value: Words, line: int) -> None:
        match role:
            case "label":
                draft.call(self._labels.given(value.text), line)
            case "step":
                draft.failed_at(_first(value.text))
            case "reasoning":
                draft.explain(value.text, told=True)
            case "status":
                draft.passed = draft.passed or _PASSED.search(value.text) is not None

    def _row(self, piece: Piece) -> None:
        columns = columns_of(piece.header, FAILURE)
        if tuple(cell.text for cell in piece.cells) == piece.header:
            if "case" not in columns and len(piece.cells) == 2:
                self._pair(piece)
            return
        if "case" in columns:
            at = columns["case"]
            names = names_in_cell(piece.cells[at], piece.header[at]) if at < len(piece.cells) else []
        else:
            leads = [lead for lead in map(self._lead, piece.cells) if lead and lead.sure]
            names = [leads[0].name] if leads and self._label_in(piece, columns) else []
        if not names and len(piece.cells) == 2:
            self._pair(piece)
        for name in names:
            self._row_of(name, piece, columns)

    def _pair(self, piece: Piece) -> None:
        """A table of names and values, below the heading of a case."""
        subject, role = self._subject.at(1), role_of(piece.cells[0].text, FAILURE)
        if subject is not None and role:
            self._fill(subject, role, piece.cells[1], piece.line)

    def _row_of(self, name: str, piece: Piece, columns: dict[str, int]) -> None:
        if _PASSED.search(self._cell(piece, columns, "status").text) or self._labels.find(name):
            return
        draft = self.drafts.named(name, piece.line)
        self._known.add(name)
        draft.call(self._label_in(piece, columns) or self._group_label, piece.line)
        for role in ("step", "reasoning"):
            self._fill(draft, role, self._cell(piece, columns, role), piece.line)

    def _label_in(self, piece: Piece, columns: dict[str, int]) -> str:
        """In its own column, whatever it is; in any other, only what is a label."""
        named = self._cell(piece, columns, "label").text
        known = self._labels.find(named) or next(filter(None, (self._labels.find(cell.text) for cell in piece.cells)), "")
        header = role_header = piece.header[columns["label"]] if "label" in columns else ""
        return known or (self._labels.given(named) if header and role_header.lower() not in _VAGUE else "")

    @staticmethod
    def _cell(piece: Piece, columns: dict[str, int], role: str) -> Words:
        at = columns.get(role)
        return piece.cells[at] if at is not None and at < len(piece.cells) else Words("")

    def _sentences(self, piece: Piece) -> None:
        """A case and a label in one sentence, or a label right after the only case that was named."""
        before: list[str] = []
        start = 0
        for end in [*(found.end() for found in _SENTENCE.finditer(piece.text)), len(piece.text)]:
            said = piece.words.cut(start, end)
            line = piece.line + piece.text.count("\n", 0, start)
            start = end
            names = list(dict.fromkeys(name for _, name in sorted(names_in(said, self._known)) if self._is_case(name)))
            label = self._labels.find(said.text)
            if label and (names or len(before) == 1):
                for name in names or before:
                    self._mention(name, label, said.text, line)
            elif names and _FAILS.search(said.text) and not _PASSES.search(said.text):
                for name in names:
                    self._mention(name, "", said.text, line)
            before = names or before

    def _is_case(self, name: str) -> bool:
        return not self._labels.find(name) and model_name(name).base != self._model

    def _mention(self, name: str, label: str, sentence: str, line: int) -> None:
        draft = self.drafts.named(name, line)
        draft.call(label, line)
        draft.failed_at(_step_in(sentence))
        draft.explain(sentence)


_VAGUE = frozenset(("category", "type", "kind", "class", "status"))
"""Columns that may hold something else than labels."""


def _first(value: str) -> str:
    """`tests (67%)` and `tsc; tests fail too` are `tests` and `tsc`."""
    return re.split(r"[(;,]|\s[–—-]\s", value.strip().strip("`*"), maxsplit=1)[0].strip()


def _step_in(text: str) -> str:
    told = _FAILED_AT.search(text) or _STEPS.search(text[:80])
    return told[1] if told else ""


def _after_colon(text: str) -> int:
    at = text.find(":")
    return at + 1 if 0 <= at < 40 else 0
