"""Failures of a report while it is being read: the same case named twice is one failure, and the first word holds."""

import re
from collections.abc import Iterable, Iterator

from errata.memory.reading.cases import Lead, Vocabulary, lead_of
from errata.memory.reading.labels import LabelWords
from errata.memory.reading.markdown import Words
from errata.memory.spelling import Segments, ends_alike, folded, model_name, segments
from errata.model import SourceRef
from errata.model.prior_report import PriorFailure
from errata.text.clean import one_line

MOST = 5_000
MOST_ALIKE = 50
"""Among more cases whose names end alike, an ending names none."""
REASONING = 600
STEP = 80


class Draft:
    def __init__(self, case: str, line: int, *, sure: bool) -> None:
        self.case, self.parts, self.line, self.sure = case, segments(case), line, sure
        self.label = self.step = self.reasoning = ""
        self.has_reason = False
        """Whether the reasoning came from a field of its own."""
        self.passed = False

    def call(self, label: str, line: int) -> None:
        if label and not self.label:
            self.label, self.line = label, line

    def failed_at(self, step: str) -> None:
        self.step = self.step or one_line(step, STEP)

    def explain(self, text: str, *, is_reason: bool = False) -> None:
        reason = one_line(text, REASONING)
        if reason and (not self.reasoning or (is_reason and not self.has_reason)):
            self.reasoning, self.has_reason = reason, is_reason


class Drafts:
    def __init__(self) -> None:
        self._drafts: dict[Segments, Draft] = {}
        self._by_ending: dict[str, list[Draft]] = {}

    def draft_of(self, case: str, line: int, *, sure: bool = True) -> Draft:
        """The failure with this name, or with a name that ends like it; otherwise a new one."""
        draft = self._find(case) or self._new(case, line, sure=sure)
        draft.sure = draft.sure or sure
        return draft

    def _find(self, case: str) -> Draft | None:
        parts = segments(case)
        if parts in self._drafts:
            return self._drafts[parts]
        near = self._by_ending.get(parts[-1], []) if parts else []
        alike = [one for one in near if ends_alike(one.parts, parts)] if len(near) <= MOST_ALIKE else []
        if len(alike) != 1:
            return None
        if len(parts) > len(alike[0].parts):
            alike[0].case, alike[0].parts = case, parts
        self._drafts[parts] = alike[0]
        return alike[0]

    def _new(self, case: str, line: int, *, sure: bool) -> Draft:
        draft = Draft(case, line, sure=sure)
        if draft.parts and len(self._drafts) < MOST:
            self._drafts[draft.parts] = draft
            self._by_ending.setdefault(draft.parts[-1], []).append(draft)
        return draft

    def failures(self, path: str) -> Iterator[PriorFailure]:
        for draft in sorted((one for some in self._by_ending.values() for one in some), key=lambda one: one.line):
            case = one_line(draft.case)
            if case and not draft.passed and (draft.sure or draft.label or draft.step):
                yield PriorFailure(
                    case=case,
                    label=draft.label,
                    failed_check=draft.step,
                    reasoning=draft.reasoning,
                    ref=SourceRef(file=path, line=draft.line),
                )


def is_gap(label: str) -> bool:
    return folded(label) == "known-gap"


_PASSED = re.compile(r"(?i)^\W*(?:pass(?:ed|es)?|ok|success|succeeded|green|yes|true)\b|^\W*[✅✔]")
_STEPS = r"(?:filesystem|install|deploy|tsc|eslint|tests?|lint|type-?check|build|compile|verifier|judge|\w+_\w+)"
_FAILED_AT = re.compile(rf"(?i)\bfail(?:ed|s|ing|ure)?\s+(?:at|in|on|during)\s+(?:the\s+)?[`\"']?({_STEPS})\b")
_STEP_NEAR = re.compile(rf"(?i)^[^\w\n]{{0,6}}(?:failed\s+)?({_STEPS})\b(?=\s*(?:step\b|[),;:.%\d(–—-]|$))")
_REMARK = re.compile(r"^\s*\([^()]*\)|\((?:was|previously|formerly)\b[^()]*\)", re.IGNORECASE)
_JOINT = re.compile(r"^[\s:;,.–—\-|·()\[\]→>*]+|[\s:;,–—\-|·(\[→>*]+$")


class CaseNaming:
    def __init__(self, labels: LabelWords, vocabulary: Vocabulary, models: Iterable[str] = ()) -> None:
        self.labels, self.vocabulary, self.drafts = labels, vocabulary, Drafts()
        self._models = {model_name(model).base for model in models}

    def is_case(self, name: str) -> bool:
        """Neither a label nor a model."""
        return not self.labels.find(name) and model_name(name).base not in self._models

    def lead(self, words: Words) -> Lead | None:
        """The case at the start of a line."""
        lead = lead_of(words)
        if lead is None or not self.is_case(lead.name):
            return None
        return Lead(lead.name, lead.sure or self.vocabulary.has(lead.name), lead.rest)

    def draft_of(self, case: str, line: int, *, sure: bool = True) -> Draft:
        self.vocabulary.add(case)
        return self.drafts.draft_of(case, line, sure=sure)

    def lead_named(self, lead: Lead, line: int, *, group: str = "", explains: bool = True) -> Draft:
        """The failure at the start of a line, with the rest of the line as its description."""
        draft = self.draft_of(lead.name, line, sure=lead.sure)
        rest = lead.rest.text
        label = self.labels.find(rest)
        draft.passed = draft.passed or (not label and has_passed(_JOINT.sub("", rest)))
        draft.call(label or group, line)
        draft.failed_at(self.step_in(rest))
        if explains:
            draft.explain(self._without_label(rest))
        return draft

    def step_in(self, text: str) -> str:
        match = _FAILED_AT.search(text) or _STEP_NEAR.search(text)
        return match[1] if match and not self.labels.find(match[1]) else ""

    def _without_label(self, text: str) -> str:
        bare = _REMARK.sub("", text)
        places = self.labels.places(bare)
        if places:
            bare = f"{bare[: places[0][0]].rstrip()} {bare[places[0][1] :].lstrip(' .')}"
        return _JOINT.sub("", _JOINT.sub("", bare))


def has_passed(status: str) -> bool:
    return _PASSED.search(status) is not None


def first_step(value: str) -> str:
    """`tests (67%)` and `tsc; tests fail too` are `tests` and `tsc`."""
    return re.split(r"[(;,]|\s[–—-]\s", value.strip().strip("`*"), maxsplit=1)[0].strip()


def fill(draft: Draft, role: str, value: Words, line: int, labels: LabelWords) -> None:
    """One field of a failure."""
    match role:
        case "label":
            draft.call(labels.in_field(value.text), line)
        case "step":
            draft.failed_at(first_step(value.text))
        case "reasoning":
            draft.explain(value.text, is_reason=True)
        case "status":
            draft.passed = draft.passed or has_passed(value.text)
