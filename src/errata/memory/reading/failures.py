"""Which failures a report names, wherever it does so: headings, lists, tables, fields, sentences."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from errata.memory.reading.cases import (
    Lead,
    is_at_step,
    is_record,
    is_sentence,
    names_in,
    names_in_cell,
    names_that_follow,
)
from errata.memory.reading.drafts import PROSE, CaseNaming, CurrentFailure, Draft, Drafts, fill, passes_now
from errata.memory.reading.fields import FAILURE, LabelledField, fields_in
from errata.memory.reading.groups import GroupLabel
from errata.memory.reading.markdown import Kind, MarkdownPiece, Words
from errata.memory.reading.rows import read_row
from errata.memory.reading.run_names import ReportRuns
from errata.memory.reading.sections import ASIDE, MESSAGE, About, is_title, topic_of
from errata.memory.reading.sentences import read_sentences, sentences
from errata.memory.reading.step_evidence import StepCounts, StepEvidence
from errata.memory.reading.steps import only_step_in, step_behind, step_in_front, step_of_group, steps_in_order
from errata.memory.reading.vocabulary import is_numbered

SHORTEST = 12
"""Characters of a text that explains something."""
LONGEST_NAME = 8
"""Words of a name in a field for cases."""


class _Section(NamedTuple):
    level: int
    about: About
    label: str
    """What its heading gives to all below it."""
    run: str
    step: str
    """That its heading gives to all below it."""


class _Later(NamedTuple):
    """A text whose names are understood when all cases are known."""

    piece: MarkdownPiece
    run: str
    section: int
    has_subject: bool
    step: str = ""
    """That the heading above gives to all below it."""


class FailureReader:
    def __init__(self, naming: CaseNaming, runs: ReportRuns) -> None:
        self._naming, self._runs = naming, runs
        naming.run = runs.default
        self._sections: list[_Section] = []
        self._subject = CurrentFailure()
        self._group: tuple[int, str] = (0, "")
        """How deep in a list, and the label given there."""
        self._group_step: tuple[int, str] = (0, "")
        """The same for a step."""
        self._run: tuple[int, str] = (0, "")
        """How deep in a list, and the run named there."""
        self._category: tuple[int, str] = (0, "")
        """How deep in a list, and the category named there; its cases stand below it."""
        self._introduction = False
        """Whether the label and the step of the group are those of a sentence in front of it."""
        self._later: list[_Later] = []
        self._steps, self._evidence = StepCounts(), StepEvidence()
        self.subjects: dict[int, str] = {}
        """Line → the failure whose section holds it."""

    def read(self, pieces: Iterable[MarkdownPiece]) -> Drafts:
        groups: list[GroupLabel] = []
        for piece in pieces:
            self._read(piece)
        for later in self._later:  # the names of all cases are known here
            self._naming.run, self._naming.section = later.run, later.section
            self._steps.note(later.piece.text)
            groups += read_sentences(later.piece, self._naming, may_add=not later.has_subject, step=later.step)
        drafts = self._naming.drafts
        self._steps.fill(drafts.all(), self._evidence)
        drafts.label_groups(groups)
        return drafts

    def _read(self, piece: MarkdownPiece) -> None:
        if piece.kind == "heading":
            self._heading(piece)
            return
        if self._about == "failures" and piece.kind not in ("comment", "code"):
            if piece.kind == "row":
                self._steps.add(piece)
                read_row(piece, self._naming, self._subject.at(1), self._label, self._runs)
            else:
                for line in self._records(piece):
                    self._line(line)
                    self._note_subject(line)
                    if line.kind == "text":
                        self._subject.end_list()
        elif self._about in ("patterns", "other") and piece.kind in ("text", "item"):
            self._later.append(_Later(piece, self._naming.run, self._naming.section, has_subject=True))
        if piece.line not in self.subjects:
            self._note_subject(piece)

    def _note_subject(self, piece: MarkdownPiece) -> None:
        depth = 99 if piece.kind == "item" else piece.level + 1
        if (subject := self._subject.at(depth)) is not None and not subject.is_category:
            self.subjects[piece.line] = subject.case
            if self._about == "failures" and piece.kind in ("text", "item", "code"):
                self._evidence.add(subject, piece)

    def _records(self, piece: MarkdownPiece) -> list[MarkdownPiece]:
        """The lines of a paragraph where each begins with a case: nobody wraps a text like that."""
        starts = [0, *(found.end() for found in re.finditer(r"\n", piece.text))]
        begins = [at for at in starts if (lead := self._naming.lead(piece.words.cut(at))) and is_record(lead)]
        if begins[:1] != [0]:
            return [piece]
        if len(begins) == 1 or piece.kind != "text":
            first = piece.text.find("\n") + 1
            has_fields = first and fields_in(piece.words.cut(first), FAILURE)
            return [_lines(piece, 0, first - 1), _lines(piece, first, None, kind="text")] if has_fields else [piece]
        ends = [*begins[1:], len(piece.text)]
        return [
            part for begin, end in zip(begins, ends, strict=True) for part in self._records(_lines(piece, begin, end))
        ]

    @property
    def _about(self) -> About:
        return self._sections[-1].about if self._sections else "failures"

    @property
    def _label(self) -> str:
        """The label in the heading above."""
        return self._group[1] or (self._sections[-1].label if self._sections else "")

    @property
    def _outer_run(self) -> str:
        return self._sections[-1].run if self._sections else self._runs.default

    @property
    def _step(self) -> str:
        return self._group_step[1] or (self._sections[-1].step if self._sections else "")

    def _heading(self, piece: MarkdownPiece) -> None:
        self._sections = [one for one in self._sections if one.level < piece.level]
        lead, subject = self._naming.lead(piece.words), topic_of(piece)
        if subject in ("other", "patterns") and self._named_later(piece):  # `Did anybody ever pass 004-retry?`
            subject = None
        kind = (None if lead and lead.sure else subject) or self._about
        labels = self._naming.labels
        alone = labels.exact(piece.text) if piece.level > 2 else ""  # a chapter "Model" is about the model
        is_group = kind == "failures" and piece.level > 1 and not step_of_group(piece.text)
        meant = labels.in_title(piece.text) or labels.in_words(piece.text) if is_group else ""
        label = "" if lead else labels.find(piece.text) or alone or meant
        self._group, self._introduction = (0, ""), False
        run = self._runs.named_in(piece.text) or self._outer_run
        step = ("" if lead else step_of_group(piece.text)) or (self._sections[-1].step if self._sections else "")
        self._group_step = (0, "")
        self._sections.append(_Section(piece.level, kind, label or self._label, run, step))
        self._run, self._naming.run = (0, ""), run
        self._naming.section += 1
        if piece.header == ASIDE:  # an action in the middle of the text about a failure
            return
        category = self._subject.of_heading
        self._subject.heading(None)
        self._naming.category = self._naming.vocabulary.category_in_front(piece.text)
        self._category = (0, self._naming.category)
        if piece.header == MESSAGE:
            return
        if lead is None and kind == "failures":
            lead = self._named_later(piece)
        if lead and kind == "failures" and (lead.sure or (subject is None and piece.level > 1)):
            lead = self._below_category(lead, category)
            draft = self._naming.lead_named(lead, piece.line, group=self._label, explains=False)
            draft.failed_at(self._step)
            self._subject.heading(draft)

    def _named_later(self, piece: MarkdownPiece) -> Lead | None:
        """`## Known gap: 002-queries/010-pagination`: a heading that names one case, but not in front."""
        names = {name for _, name in names_in(piece.words, self._naming.vocabulary) if self._naming.is_case(name)}
        return Lead(names.pop(), True, piece.words) if len(names) == 1 else None

    def _line(self, piece: MarkdownPiece) -> None:
        depth = piece.level if piece.kind == "item" else piece.level + 1
        if piece.kind == "item" and self._group[0] >= depth:
            self._group = (0, "")
        if piece.kind == "item" and self._group_step[0] >= depth:
            self._group_step = (0, "")
        if piece.kind == "item":
            self._subject.end_items(depth)
            self._change_category(piece, depth)
        self._change_run(piece, depth)
        if self._is_step_list(piece) and self._stepped(piece, depth):
            return
        if self._fields(fields_in(piece.words, FAILURE), piece, depth):
            return
        if self._lead(piece, depth):
            if piece.kind == "text":  # its other sentences may name others
                may_add = bool(self._step) and not piece.words.bold
                step = self._step if may_add else ""
                self._later.append(_Later(piece, self._naming.run, self._naming.section, not may_add, step))
            return
        if self._introduced(piece):
            self._later.append(_Later(piece, self._naming.run, self._naming.section, has_subject=False))
            return
        if not self._labelled(piece, depth) and not self._stepped(piece, depth):
            subject = self._subject.at(depth)
            later = _Later(piece, self._naming.run, self._naming.section, subject is not None, self._step)
            self._later.append(later)
            if subject is not None and len(piece.text) >= SHORTEST:
                subject.runs = subject.runs or (() if subject.run else tuple(self._runs.failed_in(piece.text)))
                subject.call(self._naming.labels.find(piece.text), piece.line, PROSE)
                subject.failed_at(self._naming.step_in(piece.text), PROSE)
                subject.explain(piece.text)

    def _change_run(self, piece: MarkdownPiece, depth: int) -> None:
        """`- jn7aa01 (nimbus): …` with its failures below, or a line of bold words."""
        outer = self._outer_run
        if piece.kind == "item" and self._run[0] >= depth:
            self._run = (0, "")
        named = self._runs.named_in(piece.text) if is_title(piece) or piece.kind == "item" else ""
        if named and not self._naming.lead(piece.words):
            self._run = (depth if piece.kind == "item" else 0, named)
            self._subject.heading(None)
        self._naming.run = self._run[1] or outer

    def _change_category(self, piece: MarkdownPiece, depth: int) -> None:
        named = self._naming.vocabulary.category_in_front(piece.text)
        if named:
            self._category = (depth, named)
        elif self._category[0] >= depth:
            self._category = (0, "")

    def _lead(self, piece: MarkdownPiece, depth: int) -> bool:
        """Whether a line starts with a case; the lines below it describe that case."""
        lead = self._naming.lead(piece.words)
        if lead is None:
            return False
        in_front = self._naming.labels.find(piece.text[: piece.text.find(lead.name.rpartition("/")[2])])
        above_label = self._label and self._naming.vocabulary.is_like_others(lead.name)  # not `saveResult`
        if not (lead.sure or in_front or self._naming.labels.find(lead.rest.text) or above_label or is_at_step(lead)):
            return False
        is_beside = self._subject.is_paragraph and piece.kind == "text"
        above = self._subject.item_above(depth) or (None if is_beside else self._subject.of_heading)
        lead = self._below_category(lead, above)
        following = [name for name in names_that_follow(lead.rest) if self._naming.is_case(name)]
        behind = lead.rest.text.rpartition(following[-1])[2] if following else ""
        steps = steps_in_order([lead.name, *following], lead.rest.text)
        self._naming.draft_of(lead.name, piece.line, sure=lead.sure).failed_at(steps.get(lead.name, ""))
        draft = self._naming.lead_named(lead, piece.line, group=in_front or self._label)
        draft.passed = draft.passed or (bool(behind) and not draft.label and passes_now(behind))
        draft.failed_at(self._step)
        for name in following:
            other = self._naming.draft_of(name, piece.line)
            other.call(draft.label, piece.line)
            other.failed_at(steps.get(name) or draft.step)
            other.passed = other.passed or draft.passed
        if piece.kind == "item":
            self._subject.item(depth, draft)
        elif piece.words.bold or len(lead.rest.text) < SHORTEST:
            self._subject.heading(draft, is_paragraph=True)
        return True

    def _below_category(self, lead: Lead, above: Draft | None) -> Lead:
        """`002-queries` with `009-text_search` below it is not a case."""
        if self._category[1] and "/" not in lead.name and re.search(r"[_-]", lead.name):
            return lead._replace(name=f"{self._category[1]}/{lead.name}")
        if above is None or above.label or len(above.parts) != 1 or not is_numbered(above.case):
            return lead
        if "/" in lead.name and not lead.name.startswith(f"{above.case}/"):
            return lead
        above.is_category = True
        self._naming.vocabulary.add_category(above.case)
        return lead if "/" in lead.name else lead._replace(name=f"{above.case}/{lead.name}")

    def _introduced(self, piece: MarkdownPiece) -> bool:
        """`These twelve are all MODEL_FAULT at the filesystem step:`, with the cases below it."""
        if piece.kind != "text" or piece.level or not piece.text.rstrip().endswith(":"):
            return False
        last = list(sentences(piece.words))[-1]
        if any(self._naming.is_case(name) for _, name in names_in(piece.words, self._naming.vocabulary)):
            return False
        label, step = self._naming.labels.find(last.text), only_step_in(last.text)
        is_known = bool(label or step) and len(self._naming.labels.places(last.text)) < 2
        if not is_known and not (self._introduction and is_title(piece)):
            return False
        self._group, self._group_step, self._introduction = (0, label), (0, step), is_known
        self._subject.heading(None)
        return is_known

    def _labelled(self, piece: MarkdownPiece, depth: int) -> bool:
        """`Known gaps (2): a, b`, or only the label, with the cases below it."""
        is_group = (is_title(piece) or _is_bold_item(piece)) and not step_of_group(piece.text)
        if is_group and (label := self._naming.labels.in_title(piece.text)):
            self._group = (depth if piece.kind == "item" else 0, label)
            self._subject.heading(None)
            return True
        places = self._naming.labels.places(piece.text)
        if not places or piece.text[: places[0][0]].strip(" *`\"'-–—•[(#\n") or len(places) > 1:
            return False
        rest, label = piece.words.cut(places[0][1]), places[0][2]
        places_of = {name: at for at, name in names_in(rest, self._naming.vocabulary)}
        names = list(places_of) or self._listed(rest)
        for name in names:
            draft = self._naming.draft_of(name, piece.line)
            draft.call(label, piece.line)
            draft.failed_at(step_behind(rest.text, places_of[name]) if name in places_of else "")
            if len(set(names)) == 1:
                draft.failed_at(self._naming.step_in(rest.text))
                draft.explain(rest.text.partition(name)[2].strip(" `*:,;–—-"))
        is_label_alone = len(rest.text.strip(" :()*0123456789")) < SHORTEST
        is_heading = is_title(piece) or self._subject.at(depth) is None
        if not names and is_label_alone and is_heading:
            self._group = (depth if piece.kind == "item" else 0, label)
            self._subject.heading(None)
        return bool(names) or (is_label_alone and is_heading)

    def _is_step_list(self, piece: MarkdownPiece) -> bool:
        """`tests (3): a, b`: the name of a step, where "tests:" might also name cases."""
        return re.match(r"(?i)\W*tests?\W*\(\s*\d+|\W*tests\W*:", piece.text) is not None

    def _stepped(self, piece: MarkdownPiece, depth: int) -> bool:
        """`eslint (2): a, b`, or only the step, with the cases below it."""
        step, end = step_in_front(piece.text)
        if not step:
            return False
        rest = piece.words.cut(end)
        names = [name for _, name in names_in(rest, self._naming.vocabulary) if self._naming.is_case(name)]
        is_list = (
            not re.search(r"[.;]\s|\b(?:is|are|was|because|rejects?|fails?)\b", rest.text) or ":" in piece.text[:end]
        )
        for name in names if is_list else ():
            draft = self._naming.draft_of(name, piece.line)
            draft.failed_at(step)
            draft.call(self._label, piece.line)
        if not names and is_title(piece) and step_of_group(piece.text):
            self._group_step = (depth if piece.kind == "item" else 0, step)
            self._subject.heading(None)
            return True
        if not names and piece.kind == "item" and not re.search(r"\w", rest.text):
            self._group_step = (depth, step)
            return True
        return bool(names) and is_list and not self._naming.labels.find(rest.text)

    def _listed(self, rest: Words) -> list[str]:
        """Names that nothing but a colon before them and a comma between them makes known."""
        _, colon, after = rest.text.partition(":")
        names = names_in_cell(rest.cut(len(rest.text) - len(after)), "") if colon else []
        if is_sentence(after, names):
            return []
        leads = [(name, self._naming.lead(Words(name))) for name in names]
        return [name for name, lead in leads if lead and not lead.rest.text.strip()]

    def _fields(self, fields: list[LabelledField], piece: MarkdownPiece, depth: int) -> bool:
        """Whether the piece was of fields of a failure."""
        used = False
        for field in fields:
            line = piece.line + field.line
            if field.role == "case":
                names = [name for name in names_in_cell(field.value, "") if self._is_name(name)]
                names = [] if is_sentence(field.value.text, names) else names
                drafts = [self._naming.draft_of(name, line) for name in names]
                for draft in drafts[-1:]:
                    self._subject.heading(draft, beside=drafts[:-1])
                used = used or bool(names)
            elif (subject := self._subject.at(depth)) is not None:
                for draft in (subject, *self._subject.beside(subject)):
                    fill(draft, field.role, field.value, line, self._naming.labels)
                    if field.role == "label":
                        draft.failed_at(self._naming.step_in(field.value.text), PROSE)
                    elif field.role == "step":  # `Failed at: tests. The task asks … MODEL_FAULT.`
                        draft.call(self._naming.labels.find(field.value.text), line, PROSE)
                used = True
        return used

    def _is_name(self, text: str) -> bool:
        """A count is none, nor is a whole sentence, or one about a case: `evals: sort the rows in 007-multi_index`."""
        words = text.split()
        if len(words) > LONGEST_NAME or re.match(r"\d[\d.,]*(?:\s|%|$)", text) or not self._naming.is_case(text):
            return False
        if len(words) > 1 and not self._naming.vocabulary.is_like_others(text):  # `tests: expected 2, received 3`
            return False
        return len(words) < 4 or not any(True for _ in names_in(Words(text), self._naming.vocabulary))


def _is_bold_item(piece: MarkdownPiece) -> bool:
    """`- **Known gaps**`"""
    bare = re.sub(r"\([^()]*\)", "", piece.text).strip().rstrip(":").strip()
    return piece.kind == "item" and any(piece.text[start:end].strip(" :") == bare for start, end in piece.words.bold)


def _lines(piece: MarkdownPiece, begin: int, end: int | None, *, kind: Kind | None = None) -> MarkdownPiece:
    line = piece.line + piece.text.count("\n", 0, begin)
    return msgspec.structs.replace(piece, kind=kind or piece.kind, words=piece.words.cut(begin, end), line=line)
