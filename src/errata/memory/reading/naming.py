"""The cases that a report names, as far as it has been read, and the failure that each stands for."""

import re
from collections.abc import Iterable

from errata.memory.reading.cases import Lead, Vocabulary, lead_of
from errata.memory.reading.drafts import Draft, Drafts
from errata.memory.reading.labels import LabelWords
from errata.memory.reading.words import Words
from errata.memory.spelling import model_name

_PASSED = re.compile(r"(?i)^\W*(?:pass(?:ed|es)?|ok|success|succeeded|green|yes|true)\b|^\W*[✅✔]")
_STEPS = r"(?:filesystem|install|deploy|tsc|eslint|tests?|lint|type-?check|build|compile|verifier|judge|\w+_\w+)"
_FAILED_AT = re.compile(rf"(?i)\bfail(?:ed|s|ing|ure)?\s+(?:at|in|on|during)\s+(?:the\s+)?[`\"']?({_STEPS})\b")
_STEP_NEAR = re.compile(rf"(?i)^[^\w\n]{{0,6}}(?:failed\s+)?({_STEPS})\b(?=\s*(?:step\b|[),;:.%\d(–—-]|$))")
_REMARK = re.compile(r"^\s*\([^()]*\)|\((?:was|previously|formerly)\b[^()]*\)", re.IGNORECASE)
_JOINT = re.compile(r"^[\s:;,.–—\-|·()\[\]→>*]+|[\s:;,–—\-|·(\[→>*]+$")


class Naming:
    def __init__(self, labels: LabelWords, vocabulary: Vocabulary, models: Iterable[str] = ()) -> None:
        self.labels, self.vocabulary, self.drafts = labels, vocabulary, Drafts()
        self._models = {model_name(model).base for model in models}

    def is_case(self, name: str) -> bool:
        """Neither a label nor a model."""
        return not self.labels.find(name) and model_name(name).base not in self._models

    def lead(self, words: Words) -> Lead | None:
        """The case that stands in front."""
        found = lead_of(words)
        if found is None or not self.is_case(found.name):
            return None
        return Lead(found.name, found.sure or self.vocabulary.has(found.name), found.rest)

    def named(self, case: str, line: int, *, sure: bool = True) -> Draft:
        self.vocabulary.add(case)
        return self.drafts.named(case, line, sure=sure)

    def lead_named(self, lead: Lead, line: int, *, group: str = "", explains: bool = True) -> Draft:
        """The failure that a line begins with, and what the rest of the line says of it."""
        draft = self.named(lead.name, line, sure=lead.sure)
        rest = lead.rest.text
        label = self.labels.find(rest)
        draft.passed = draft.passed or (not label and has_passed(_JOINT.sub("", rest)))
        draft.call(label or group, line)
        draft.failed_at(self.step_in(rest))
        if explains:
            draft.explain(self._without_label(rest))
        return draft

    def step_in(self, text: str) -> str:
        found = _FAILED_AT.search(text) or _STEP_NEAR.search(text)
        return found[1] if found and not self.labels.find(found[1]) else ""

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
            draft.call(labels.given(value.text), line)
        case "step":
            draft.failed_at(first_step(value.text))
        case "reasoning":
            draft.explain(value.text, told=True)
        case "status":
            draft.passed = draft.passed or has_passed(value.text)
