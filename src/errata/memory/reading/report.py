"""A markdown file → what it states about a run: its failures, and what was done, advised and seen in several."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from errata.memory.entries import is_none
from errata.memory.own_reports import from_memory, memory_in
from errata.memory.reading.actions import actions_in
from errata.memory.reading.markdown import SUMMARY, ReportPart, parts_of
from errata.memory.reading.sections import (
    CLOSED,
    FAILURES,
    LabelledField,
    cell_fields,
    columns_of,
    fields_in,
    head_of,
    in_topics,
    is_title,
    topic_of,
)
from errata.memory.report_files import parse_file_name
from errata.memory.spelling import (
    CaseSpellings,
    Segments,
    canonical_step,
    ends_alike,
    folded,
    is_gap,
    segments,
    step_in,
    step_in_field,
    step_in_sentence,
    without_number,
)
from errata.memory.words import LabelWords, Vocabulary, ids_in, is_numbered
from errata.model import SourceRef
from errata.model.prior_report import PriorFailure, PriorRecommendation, PriorReport
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

MOST = 5_000
MOST_GROUPS = 50
MOST_ALIKE = 50
"""Among more cases whose names end alike, an ending names none."""
TEXT = 600
STEP = 80
FIELD, LINE, PROSE, GROUP = 4, 3, 2, 1
"""What counts more: a field or cell of its own, the line that names the case, text about it, a group that it is in."""


def read_report(
    text: str, *, path: str, below: str = "", digest: str = "", labels: LabelWords, cases: CaseSpellings | None = None
) -> PriorReport:
    """`below` is its path from the folder of reports on; `labels` and `cases` are names that it may use."""
    parts = parts_of(text)
    known = Vocabulary(cases)
    for part in parts:
        for words in (part.words, *part.cells):
            known.learn(words.text)
    head, runs = head_of(parts, parse_file_name(below or path))
    reader = FailureReader(labels, known, {run.id for run in runs} if len(runs) > 1 else set())
    # a name may hold nothing but escapes
    failures = tuple(failure for draft in reader.read(parts) if (failure := draft.record(path)).case)
    known.named = CaseSpellings(failure.case for failure in failures)
    visible = PriorReport(
        path=path,
        digest=digest,
        **msgspec.structs.asdict(head),
        runs=runs,
        failures=failures,
        others=reader.others(path),
        actions=tuple(actions_in(parts, known, reader.subjects, path, date=head.date)),
        recommendations=tuple(recommendations_in(parts, known, path)),
        patterns=tuple(patterns_in(parts)),
        gaps=tuple(failure.case for failure in failures if is_gap(failure.label)),
    )
    memory = memory_in(parts)
    return visible if memory is None else from_memory(memory, visible)


def is_report(report: PriorReport) -> bool:
    return bool(report.failures or report.actions or (report.run and (report.model or report.total is not None)))


# --- the recommendations and patterns in a report


_GROUPS = (
    ("none", lazy_regex(r"^(?:no-action|nothing|none|leave)")),
    ("config", lazy_regex(r"^(?:lint|config|configuration|harness|tooling|runner|ci)\b")),
    ("model", lazy_regex(r"^(?:model|models)\b")),
    ("eval", lazy_regex(r"^(?:evals?|tasks?|graders?|tests?|benchmark|suite|guidelines?|prompts?)\b")),
)
_KNOWN_GROUPS = tuple(group for group, _ in _GROUPS)
_PREFIX = lazy_regex(r"\s{0,4}([A-Za-z][\w /&-]{0,40}?)\s?:\s")


def recommendations_in(parts: Sequence[ReportPart], known: Vocabulary, path: str) -> Iterator[PriorRecommendation]:
    group = ""
    for part in in_topics(parts, "recommendations"):
        if part.kind == "heading" or is_title(part):
            group = group_of(part.text) if part.level or part.kind != "heading" else ""
            continue
        text = _row_text(part) if part.kind == "row" else part.text
        own, text = _without_group(part, text)
        if is_none(text) or not re.search(r"\w", text):
            continue
        cases = tuple(dict.fromkeys(name for _, name in known.names_in(text)))
        ref = SourceRef(file=path, line=part.line)
        text = one_line(text.replace("`", ""), TEXT)
        yield PriorRecommendation(text=text, group=own or group, cases=cases, ref=ref)


def group_of(title: str) -> str:
    """The group of recommendations that a title means; unchanged if it is none of the four."""
    name = folded(title)
    return next((group for group, form in _GROUPS if form.search(name)), one_line(title, 40).rstrip(":"))


def _without_group(part: ReportPart, text: str) -> tuple[str, str]:
    match = _PREFIX.match(text)
    group = group_of(part.cells[0].text if part.kind == "row" and part.cells else match[1] if match else "")
    if group not in _KNOWN_GROUPS:
        return "", text
    return group, text.partition(" · ")[2] if part.kind == "row" else text[match.end() if match else 0 :]


def patterns_in(parts: Sequence[ReportPart]) -> Iterator[str]:
    """A heading inside such a section is a pattern, together with the text below it."""
    title: list[str] = []
    for part in in_topics(parts, "patterns"):
        if part.kind == "heading":
            yield from _pattern(title)
            title = [re.sub(r"^\d{1,3}[.)]\s", "", part.text).rstrip(".:")] if part.level else []
        elif part.kind != "comment":
            text = _row_text(part) if part.kind == "row" else part.text
            if title:
                title.append(text)
            else:
                yield from _pattern([text])
    yield from _pattern(title)


def _pattern(texts: Sequence[str]) -> Iterator[str]:
    text = one_line(": ".join([*texts[:1], " ".join(texts[1:])]).strip(": ").replace("`", ""), TEXT)
    if text and not is_none(text):
        yield text


def _row_text(part: ReportPart) -> str:
    texts = tuple(cell.text for cell in part.cells)
    return "" if texts == part.header else " · ".join(filter(None, texts))


# --- failures


class Draft:
    """A failure while the report is read: the same case named twice is one failure, and the best word holds."""

    def __init__(self, case: str, line: int, run: str) -> None:
        self.case, self.parts, self.line, self.run = case, segments(case), line, run
        self._values: dict[str, tuple[int, str]] = {}

    def __getitem__(self, role: str) -> str:
        return self._values.get(role, (0, ""))[1]

    def put(self, role: str, value: str, rank: int, line: int = 0) -> None:
        if value and rank > self._values.get(role, (0, ""))[0]:
            self._values[role] = rank, value
            self.line = line if line and role == "label" else self.line

    def record(self, path: str) -> PriorFailure:
        return PriorFailure(
            case=one_line(self.case),
            label=one_line(self["label"]),
            failed_check=one_line(self["step"], STEP),
            reasoning=one_line(self["reasoning"], TEXT),
            run=self.run,
            ref=SourceRef(file=path, line=self.line),
        )


class ReportSection(msgspec.Struct, kw_only=True):
    level: int = 0
    topic: str = ""
    label: str = ""
    step: str = ""
    category: str = ""
    drafts: list[Draft] = []
    is_of_all: bool = False
    """Its fields are those of every failure: `Global failure pattern (applies to all 72 failed evals)`."""


_PASSED = lazy_regex(r"(?i)\W{0,3}(?:pass(?:ed|es)?|ok|success|succeeded|green|yes|true)\b|\s{0,3}[✅✔]")
_RECORD = lazy_regex(r"[\s`*]{0,4}(?:[,:;|·(\[→>–—-]|\n|$)")
_ALL = lazy_regex(
    r"(?i)\b(?:(?:all|each|every)\b(?: [\w'`*]{1,30}){0,3} (?:fail\w{0,5}|evals?|cases?|tasks?|them|are)"
    r"|(?:the|all) (?:rest|remaining|others?)|others|everything else)\b"
)
_EXCEPT = lazy_regex(r"(?i)\b(?:except|other than|apart from|but|besides|excluding)\b")
_SENTENCE_END = lazy_regex(r"(?<=[.!?])\s")
_REMARK = lazy_regex(r"\([^()]{0,80}\)|[#\d]")


class FailureReader:
    def __init__(self, labels: LabelWords, known: Vocabulary, runs: set[str]) -> None:
        self._labels, self._known, self._runs = labels, known, runs
        self._drafts: list[Draft] = []
        self._by_ending: dict[str, list[Draft]] = {}
        self._by_name: dict[tuple[Segments, str], Draft] = {}
        self._stack = [ReportSection()]
        self._items: list[tuple[int, list[Draft]]] = []
        """The cases of the items around the current one, by their depth; 0 is a paragraph."""
        self._alone: tuple[str, int] | None = None
        """A line that is nothing but a case: a failure if fields follow."""
        self._group_line = 1
        self._groups: list[tuple[str, str, CaseSpellings]] = []
        """What is stated of all failures but some: a role and its value."""
        self.subjects: dict[int, tuple[str, ...]] = {}
        """By line: the cases that the text there is about."""

    def read(self, parts: Sequence[ReportPart]) -> list[Draft]:
        for at, part in enumerate(parts):
            if part.kind == "heading":
                self._heading(part, parts[at + 1 : at + 3], is_title=part.level == 1 and not self.subjects)
            elif part.kind == "row":
                self._row(part)
            elif part.kind != "comment":
                self._text(part, parts[at + 1 : at + 2])
            self.subjects[part.line] = tuple(draft.case for draft in self._subject(part.level))
        for role, value, without in self._groups[:MOST_GROUPS]:
            for draft in self._drafts:
                draft.put(role, "" if without.find(draft.case) else value, GROUP)
        return self._drafts

    def others(self, path: str) -> PriorFailure | None:
        """What is stated of all failures, for those that have no line."""
        draft = Draft("", self._group_line, "")
        for role, value, _ in self._groups[:MOST_GROUPS]:
            draft.put(role, value, GROUP)
        return draft.record(path) if draft["label"] else None

    def _find(self, parts: Segments, run: str) -> Draft | None:
        near = self._by_ending.get(without_number(parts[-1]), ())
        same = (draft for draft in near if draft.run == run and ends_alike(draft.parts, parts))
        return self._by_name.get((parts, run)) or (next(same, None) if len(near) <= MOST_ALIKE else None)

    def _add(self, names: Sequence[str], line: int, run: str = "") -> list[Draft]:
        """The drafts of some cases; what is read of the whole report's runs is not of one of them."""
        drafts = []
        run = run if run in self._runs else ""
        for name in names:
            parts = segments(name)
            draft = self._find(parts, run) if parts else None
            if draft is None:
                if not parts or len(self._drafts) == MOST:
                    continue
                draft = Draft(name, line, run)
                self._drafts.append(draft)
                self._by_ending.setdefault(without_number(parts[-1]), []).append(draft)
            elif len(parts) > len(draft.parts):
                draft.case, draft.parts = name, parts
            self._by_name[parts, run] = draft
            drafts.append(draft)
        return drafts

    def _put(self, drafts: Sequence[Draft], role: str, value: str, rank: int, line: int) -> None:
        for draft in drafts:
            draft.put(role, value, rank, line)

    def _call(self, drafts: Sequence[Draft], label: str, step: str, line: int) -> None:
        """By the line that names the cases, else by the section that it is in."""
        for role, own, of_section in (("label", label, self._stack[-1].label), ("step", step, self._stack[-1].step)):
            self._put(drafts, role, own, LINE, line)
            self._put(drafts, role, of_section, GROUP, line)

    def _read_field(self, role: str, text: str) -> tuple[str, str, int]:
        if role in ("label", "step"):
            return role, self._labels.in_field(text) if role == "label" else step_in_field(text), FIELD
        is_reason = role in ("reasoning", "error")
        return "reasoning", _prose(text) if is_reason else "", FIELD if role == "reasoning" else LINE

    def _subject(self, level: int) -> list[Draft]:
        inner = next((drafts for depth, drafts in reversed(self._items) if depth <= level and drafts), [])
        return inner or next((section.drafts for section in reversed(self._stack) if section.drafts), [])

    def _heading(self, part: ReportPart, following: Sequence[ReportPart], *, is_title: bool) -> None:
        self._items, self._alone = [], None
        self._stack = [section for section in self._stack if not section.level or section.level < part.level]
        outer = self._stack[-1]
        lead = self._known.lead_of(part.text, outer.category)
        topic: str = "" if is_title or (lead and lead.sure) else topic_of(part.text)
        if outer.topic in CLOSED or (outer.topic == FAILURES and topic in ("", "patterns", "run")):
            topic = outer.topic
        section = ReportSection(
            level=part.level, topic=topic, label=outer.label, step=outer.step, category=outer.category
        )
        self._stack.append(section)
        if topic in CLOSED or is_title:
            return
        category = self._category(part, lead.name if lead and lead.sure else "", following)
        if category:
            section.category = category
            return
        rest = lead.rest if lead else ""
        label, step = self._labels.find(rest), step_in(rest)
        is_alone = lead and not rest.strip() and self._is_name(lead.name)
        is_like_one = lead and (label or step or (outer.topic == FAILURES and ("/" in lead.name or is_alone)))
        if lead and (lead.sure or (is_like_one and _RECORD.match(rest))):
            section.drafts = self._add([lead.name], part.line)
            self._call(section.drafts, label, step, part.line)
        else:
            section.label = self._labels.in_title(part.text) or section.label
            section.step = canonical_step(_REMARK.sub("", part.text)) or section.step
            section.is_of_all = _ALL.search(part.text) is not None

    def _category(self, part: ReportPart, name: str, following: Sequence[ReportPart]) -> str:
        first = re.search(r"\d{2,4}-[A-Za-z][\w-]{0,60}(?!/)", part.text)
        if first and first[0] in self._known.categories and not name:
            return first[0]
        texts = [below.text or below.cells[0].text for below in following if below.text or below.cells]
        leads = [lead for lead in map(self._known.lead_of, texts) if lead and lead.sure]
        is_inner = following[:1] and (following[0].kind != "heading" or following[0].level > part.level)
        rest = _REMARK.sub("", part.text.replace(name, ""))
        if not (is_inner and leads and is_numbered(name)) or re.search(r"[A-Za-z]", rest):
            return ""
        self._known.categories.add(name)
        return name

    def _row(self, part: ReportPart) -> None:
        section, texts = self._stack[-1], [cell.text for cell in part.cells]
        fields = cell_fields(part)
        if section.topic in CLOSED or (tuple(texts) == part.header and not fields):
            return
        if fields and self._subject(0):
            for field in fields:
                self._put(self._subject(0), *self._read_field(field.role, field.value), part.line)
            return
        cells = self._cells(part, texts)
        names = self._names_in_row(cells)
        is_listed = section.topic == FAILURES or section.label or section.step or any("❌" in text for text in texts)
        is_called = any(cells.get(role) for role in ("label", "step", "status")) or "fail" in cells["title"].lower()
        if _PASSED.match(cells.get("status", "")) or not (is_listed or is_called):
            return
        run_at = columns_of(part.header, run=True).get("run", len(texts))
        for run in (ids_in(texts[run_at]) if run_at < len(texts) else []) or [""]:
            drafts = self._add(names, part.line, run)
            for role, text in cells.items():
                self._put(drafts, *self._read_field(role, text), part.line)
            self._call(drafts, "", "", part.line)

    def _cells(self, part: ReportPart, texts: Sequence[str]) -> dict[str, str]:
        columns = columns_of(part.header)
        cells = {role: texts[at].strip() for role, at in columns.items() if at < len(texts)}
        titles = [folded(title) for title in part.header[: len(texts)]]
        category = texts[titles.index("category")].strip("` ") if "category" in titles else ""
        if is_numbered(category) and cells.get("label", "").strip("` ") == category:
            del cells["label"]
        if "case" not in cells and (label := next(filter(self._labels.find, texts), "")):
            cells["case"] = next((text for text in texts if (lead := self._known.lead_of(text)) and lead.sure), "")
            cells.setdefault("label", label)
        cells["category"] = category if is_numbered(category) else ""
        return cells | {"title": part.header[columns["case"]] if "case" in columns else ""}

    def _names_in_row(self, cells: dict[str, str]) -> list[str]:
        """Complete with the category of their row, or of the heading over the table."""
        around = self._stack[-1].category
        names = [
            name for name in self._known.names_in_cell(cells.get("case", ""), cells["title"]) if self._is_name(name)
        ]
        pairs = ((cells["category"] or (around if is_numbered(name) else ""), name) for name in names)
        return [f"{category}/{name}" if category and "/" not in name else name for category, name in pairs]

    def _is_name(self, name: str) -> bool:
        is_word = " " not in name or re.fullmatch(r"turn \d+", name) is not None
        is_like_one = re.search(r"[-_/\d]", name) or self._known.is_sure(name, marked=True)
        return (
            is_word
            and bool(is_like_one)
            and re.search(r"[A-Za-z]", name) is not None
            and name not in self._known.categories
        )

    def _text(self, part: ReportPart, following: Sequence[ReportPart]) -> None:
        section = self._stack[-1]
        is_text = part.kind == "text"
        self._items = [one for one in self._items if one[0] < part.level or (one[0] == part.level and is_text)]
        fields = fields_in(part.words)
        if section.topic != "other" and not fields:
            self._group(part)
        if section.topic in CLOSED:
            return
        lead = self._known.lead_of(part.text) if part.has_parts else None
        if lead and (category := self._category(part, lead.name, following)):
            section.category = category
            return
        # `1. 003-crons` with fields in the lines below it
        is_read = self._record(part, section, has_fields=bool(fields)) if not fields or fields[0].line else False
        for field in fields:
            is_read = self._field(part, field, section) or is_read
        if is_read:
            return
        if is_title(part) and (label := self._labels.in_title(part.text)):
            self._stack.append(
                ReportSection(level=SUMMARY, topic=section.topic, label=label, category=section.category)
            )
        subject = self._subject(part.level)
        self._put(subject, "reasoning", _prose(part.text), PROSE, part.line)
        self._put(subject, "step", step_in_sentence(part.text), PROSE, part.line)
        if not subject:
            self._sentences(part)

    def _begin(self, part: ReportPart, names: Sequence[str]) -> list[Draft]:
        drafts = self._add(names, part.line)
        self._items = [one for one in self._items if one[0] < part.level] + [(part.level, drafts)]
        return drafts

    def _field(self, part: ReportPart, field: LabelledField, section: ReportSection) -> bool:
        if field.role == "case" and not section.drafts:
            names = [name for name in self._known.names_in_cell(field.value) if self._is_name(name)]
            if names:
                self._begin(part, names)
        elif self._alone and field.role in ("label", "step"):
            self._items, self._alone = [(0, self._add([self._alone[0]], self._alone[1]))], None
        role, value, rank = self._read_field(field.role, field.value)
        subject = self._subject(part.level)
        self._put(subject, role, value, rank, part.line + field.line)
        if not subject and section.is_of_all:
            self._groups.append((role, value, CaseSpellings(())))
            self._group_line = part.line
        return bool(subject) or field.role in ("label", "step")

    def _record(self, part: ReportPart, section: ReportSection, *, has_fields: bool) -> bool:
        lead = self._known.lead_of(part.text, section.category)
        if lead is None or not _RECORD.match(lead.rest):
            return False
        if lead.sure and not lead.rest.strip() and not section.drafts:
            self._alone = (lead.name, part.line)
        first = lead.rest.partition("\n")[0]
        label, step = self._labels.find(first), step_in(first)
        is_listed = (section.topic == FAILURES or section.label or section.step) and not section.drafts
        is_marked = bool(part.words.bold) or has_fields or (is_listed and part.kind == "item")
        if not (label or step or is_marked) or not (lead.sure or ((label or step) and self._is_name(lead.name))):
            return False
        drafts = self._begin(part, [lead.name])
        places = self._labels.places(first)
        behind = lead.rest[places[0][1] :] if places and not re.search(r"\w{3}", first[: places[0][0]]) else lead.rest
        self._call(drafts, label, step, part.line)
        self._put(drafts, "reasoning", _prose(re.sub(r"^\W{0,8}\([^()]{0,60}\)", "", behind)), LINE, part.line)
        return True

    def _sentences(self, part: ReportPart) -> None:
        """Labels and cases in one paragraph: each case gets the next label; `Model faults: a, b` the one before."""
        names, labels = self._known.names_in(part.text), self._labels.places(part.text)
        if not names or not labels:
            return
        labels_first = labels[0][0] < names[0][0] and (len(labels) == 1 or names[-1][0] > labels[-1][0])
        for at, name in names:
            before = [label for start, _, label in labels if start < at and labels_first]
            # in a later sentence only where it can be about no other case
            limit = _SENTENCE_END.search(part.text, at)
            others = [other for other, _ in names if limit and other > at]
            after = [
                label
                for start, _, label in labels
                if start > at and not (limit and limit.start() < start and min(others, default=start) < start)
            ]
            label = (before[-1:] or after[:1] or [""])[0]
            self._put(self._add([name], part.line) if label else [], "label", label, PROSE, part.line)

    def _group(self, part: ReportPart) -> None:
        """One label for all: `All 9 failed evals are MODEL_FAULT except 003-crons.`"""
        for sentence in _SENTENCE_END.split(part.text) if self._labels.find(part.text) else ():
            group, limit = _ALL.search(sentence), _EXCEPT.search(sentence)
            end = limit.start() if limit else len(sentence)
            given = {label for at, _, label in self._labels.places(sentence) if at < end}
            names = self._known.names_in(sentence)
            if group and len(given) == 1 and not any(at < end for at, _ in names):
                self._groups.append(("label", given.pop(), CaseSpellings(name for _, name in names)))
                self._group_line = part.line


def _prose(text: str) -> str:
    bare = text.replace("`", "").strip(" .:;,–—-*\n")
    return f"{bare}." if bare and text.rstrip().endswith(".") else bare if re.search(r"\w", bare) else ""
