"""Failures of a report while it is being read: the same case named twice is one failure, and the best word holds."""

import re
from collections.abc import Iterable, Iterator, Sequence

from errata.memory.reading.cases import Lead, lead_of
from errata.memory.reading.groups import GroupLabel
from errata.memory.reading.labels import LabelWords
from errata.memory.reading.markdown import Words
from errata.memory.reading.steps import canonical_step, only_step_in, step_in, step_in_field
from errata.memory.reading.vocabulary import Vocabulary
from errata.memory.spelling import Segments, ends_alike, folded, model_name, segments, without_number
from errata.model import SourceRef
from errata.model.prior_report import PriorFailure
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

MOST = 5_000
MOST_ALIKE = 50
"""Among more cases whose names end alike, an ending names none."""
REASONING = 600
STEP = 80
FIELD, LINE, PROSE, GUESS = 4, 3, 2, 1
"""What counts more: a field or cell of its own, the line that names the case, text about it, a hint in a text."""


class Draft:
    def __init__(self, case: str, line: int, *, sure: bool, run: str = "") -> None:
        self.case, self.parts, self.line, self.sure, self.run = case, segments(case), line, sure, run
        self.label = self.step = self.reasoning = ""
        self._label_rank = self._step_rank = 0
        self._denied: set[str] = set()
        self.has_reason = False
        """Whether the reasoning came from a field of its own."""
        self.passed = False
        self.runs: tuple[str, ...] = ()
        """Those where it failed, if the text about it lists them."""
        self.is_category = False
        self.is_unlabelled = False
        """Whether the text gives it no label on purpose, so that none of a group is meant."""
        self.section = 0
        """Under which heading it was named first."""

    def call(self, label: str, line: int, rank: int = LINE) -> None:
        if label and label not in self._denied and rank > self._label_rank:
            self.label, self.line, self._label_rank = label, line, rank

    def deny(self, label: str) -> None:
        """A text about it corrects this label, so another one may take its place."""
        self._denied.add(label)
        if self.label == label:
            self.label, self._label_rank = "", 0

    def failed_at(self, step: str, rank: int = LINE) -> None:
        if step and rank > self._step_rank:
            self.step, self._step_rank = one_line(step, STEP), rank

    def has_step(self, rank: int) -> bool:
        """At least with this rank."""
        return self._step_rank >= rank

    def explain(self, text: str, *, is_reason: bool = False) -> None:
        reason = one_line(text, REASONING)
        if reason and (not self.reasoning or (is_reason and not self.has_reason)):
            self.reasoning, self.has_reason = reason, is_reason

    def fill_from(self, other: "Draft") -> None:
        """What only the other one knows: a table over all runs, beside the lists of each."""
        if not self.label:
            self.label = other.label
        if not self.step:
            self.step = other.step
        self.explain(other.reasoning)

    @property
    def counts(self) -> bool:
        return not self.passed and not self.is_category and bool(self.sure or self.label or self.step)


class Drafts:
    def __init__(self) -> None:
        self._drafts: dict[tuple[str, Segments], Draft] = {}
        self._by_ending: dict[tuple[str, str], list[Draft]] = {}

    def draft_of(self, case: str, line: int, *, sure: bool = True, run: str = "") -> Draft:
        """The failure with this name, or with a name that ends like it; otherwise a new one."""
        draft = self.find(case, run) or self._new(case, line, sure=sure, run=run)
        draft.sure = draft.sure or sure
        return draft

    def find(self, case: str, run: str = "") -> Draft | None:
        parts = segments(case)
        if (run, parts) in self._drafts:
            return self._drafts[run, parts]
        near = self._by_ending.get((run, without_number(parts[-1])), []) if parts else []
        alike = [one for one in near if ends_alike(one.parts, parts)] if len(near) <= MOST_ALIKE else []
        if len(alike) != 1:
            return None
        if len("".join(parts)) > len("".join(alike[0].parts)):
            alike[0].case, alike[0].parts = case, parts
        self._drafts[run, parts] = alike[0]
        return alike[0]

    def _new(self, case: str, line: int, *, sure: bool, run: str) -> Draft:
        draft = Draft(case, line, sure=sure, run=run)
        if draft.parts and len(self._drafts) < MOST:
            self._drafts[run, draft.parts] = draft
            self._by_ending.setdefault((run, without_number(draft.parts[-1])), []).append(draft)
        return draft

    def all(self) -> list[Draft]:
        every = (one for some in self._by_ending.values() for one in some)
        return sorted((one for one in every if one.counts), key=lambda one: one.line)

    def label_groups(self, groups: Iterable[GroupLabel]) -> None:
        """`All 9 failed evals are MODEL_FAULT except …`: for those that have no label of their own."""
        by_reach = sorted(groups, key=lambda group: -group.filters)
        for draft in self.all():
            fitting = [group for group in by_reach if group.is_about(draft.case, draft.step, draft.run, draft.section)]
            if not draft.is_unlabelled:
                draft.label = draft.label or next((group.label for group in fitting if group.label), "")
            draft.step = draft.step or next((group.failed_at for group in fitting if group.failed_at), "")

    def failures(self, path: str) -> Iterator[PriorFailure]:
        for draft in self._apart():
            case = one_line(draft.case)
            for run in draft.runs or (draft.run,) if case else ():
                yield PriorFailure(
                    case=case,
                    label=draft.label,
                    failed_check=draft.step,
                    reasoning=draft.reasoning,
                    run=run,
                    ref=SourceRef(file=path, line=draft.line),
                )

    def _apart(self) -> list[Draft]:
        """Where a failure is listed for single runs and for all together, those of the runs."""
        kept = self.all()
        by_run = [one for one in kept if one.run]
        for whole in [one for one in kept if not one.run] if by_run else ():
            same = [one for one in by_run if ends_alike(one.parts, whole.parts)]
            for of_run in same:
                of_run.fill_from(whole)
            if same:
                kept.remove(whole)
        return kept


class CurrentFailure:
    """The failure that the text is about: of the list item, of the heading, or of the last field that named a case."""

    def __init__(self) -> None:
        self._heading: Draft | None = None
        self._beside: Sequence[Draft] = ()
        self.is_paragraph = False
        """Whether a paragraph, not a heading, begins with it: the next such paragraph is beside it, not below."""
        self._items: list[tuple[int, Draft]] = []
        self._listed = 0
        """Cases that were listed with no other text between them."""

    def at(self, depth: int) -> Draft | None:
        """A text behind a list of several is about none of them in particular."""
        last = self._items[-1][1] if self._items and self._listed < 2 else None
        return self.item_above(depth) or self._heading or last

    def item_above(self, depth: int) -> Draft | None:
        return next((draft for level, draft in reversed(self._items) if level < depth), None)

    @property
    def of_heading(self) -> Draft | None:
        return self._heading

    def item(self, depth: int, draft: Draft) -> None:
        self._items = [(level, one) for level, one in self._items if level < depth] + [(depth, draft)]
        self._listed += 1

    def beside(self, draft: Draft) -> Sequence[Draft]:
        """The others of a field that names several: `Evals: a, b`."""
        return self._beside if draft is self._heading else ()

    def heading(self, draft: Draft | None, *, is_paragraph: bool = False, beside: Sequence[Draft] = ()) -> None:
        self._heading, self._items, self._listed, self._beside = draft, [], 0, beside
        self.is_paragraph = is_paragraph

    def end_list(self) -> None:
        if self._listed > 1:
            self._items = []
        self._listed = 0

    def end_items(self, depth: int) -> None:
        self._items = [(level, one) for level, one in self._items if level < depth]


def is_gap(label: str) -> bool:
    return folded(label) == "known-gap"


_PASSED = lazy_regex(r"(?i)^\W*(?:pass(?:ed|es)?|ok|success|succeeded|green|yes|true)\b|^\W*[✅✔]")
_PASSES_NOW = lazy_regex(
    r"(?i)^\W*(?:pass(?:ed|es)?|ok|success|succeeded|green)\b|^\W*[✅✔]|\bpass(?:es)?\s+now\b|\bnow\s+pass(?:es)?\b"
    r"|(?:\bnot|n['’]t|\bnever)\s+fail"
)
_REMARK = lazy_regex(r"^\s*\([^()]*\)|\((?:was|previously|formerly)\b[^()]*\)", re.IGNORECASE)
_JOINT = lazy_regex(r"^[\s:;,.–—\-|·()\[\]→>*]+|[\s:;,–—\-|·(\[→>*]+$")


class CaseNaming:
    def __init__(self, labels: LabelWords, vocabulary: Vocabulary, models: Iterable[str] = ()) -> None:
        self.labels, self.vocabulary, self.drafts = labels, vocabulary, Drafts()
        self._models = {model_name(model).base for model in models} - {""}
        self.run = ""
        """The run that the text is about, in a report about several."""
        self.section = 0
        self.category = ""
        """The category of the heading above."""

    def is_case(self, name: str) -> bool:
        """Neither a label nor a model, a category or a step."""
        return not (
            self.labels.find(name)
            or model_name(name).base in self._models
            or (self.vocabulary.is_category(name) and not self.vocabulary.has(name))
            or canonical_step(name)
        )

    def lead(self, words: Words) -> Lead | None:
        """The case at the start of a line."""
        lead = lead_of(words, self.vocabulary)
        if lead is None or not self.is_case(lead.name):
            return None
        is_sure = lead.sure and self.vocabulary.is_like_others(lead.name)
        return Lead(lead.name, is_sure or self.vocabulary.has(lead.name), lead.rest)

    def draft_of(self, case: str, line: int, *, sure: bool = True, run: str | None = None) -> Draft:
        self.vocabulary.add(case)
        draft = self.drafts.draft_of(case, line, sure=sure, run=self.run if run is None else run)
        draft.section = draft.section or self.section
        return draft

    def lead_named(self, lead: Lead, line: int, *, group: str = "", explains: bool = True) -> Draft:
        """The failure at the start of a line, with the rest of the line as its description."""
        draft = self.draft_of(lead.name, line, sure=lead.sure)
        rest = lead.rest.text
        label = self.labels.find(rest)
        draft.passed = draft.passed or (not label and passes_now(_JOINT.sub("", rest)))
        draft.call(label or group, line, LINE)
        draft.failed_at(self.step_in(rest), LINE)
        draft.failed_at(only_step_in(rest), GUESS)
        if explains:
            draft.explain(self._without_label(rest))
        return draft

    def step_in(self, text: str) -> str:
        step = step_in(text)
        return step if not self.labels.find(step) else ""

    def _without_label(self, text: str) -> str:
        bare = _REMARK.sub("", text)
        places = self.labels.places(bare)
        if places:
            bare = f"{bare[: places[0][0]].rstrip()} {bare[places[0][1] :].lstrip(' .')}"
        return _JOINT.sub("", _JOINT.sub("", bare))


def has_passed(status: str) -> bool:
    return _PASSED.search(status) is not None


def passes_now(text: str) -> bool:
    """Whether the text behind a case states that it passes; `yes` may answer anything."""
    return _PASSES_NOW.search(text) is not None


def fill(draft: Draft, role: str, value: Words, line: int, labels: LabelWords) -> None:
    """One field of a failure."""
    match role:
        case "label":
            draft.call(labels.in_field(value.text), line, FIELD)
        case "step":
            draft.failed_at(step_in_field(value.text), FIELD)
        case "reasoning":
            draft.explain(value.text, is_reason=True)
        case "status":
            draft.passed = draft.passed or has_passed(value.text)
