"""Failures of a report while it is being read: the same case named twice is one failure, and the first word holds."""

from collections.abc import Iterator

from errata.memory.spelling import Segments, ends_alike, folded, segments
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
        self.told = False
        """Whether the reasoning stood in a field of its own."""
        self.passed = False

    def call(self, label: str, line: int) -> None:
        if label and not self.label:
            self.label, self.line = label, line

    def failed_at(self, step: str) -> None:
        self.step = self.step or one_line(step, STEP)

    def explain(self, text: str, *, told: bool = False) -> None:
        reason = one_line(text, REASONING)
        if reason and (not self.reasoning or (told and not self.told)):
            self.reasoning, self.told = reason, told


class Drafts:
    def __init__(self) -> None:
        self._drafts: dict[Segments, Draft] = {}
        self._by_ending: dict[str, list[Draft]] = {}

    def named(self, case: str, line: int, *, sure: bool = True) -> Draft:
        """The failure of this name, or of one that this is the end of; else a new one."""
        draft = self._known(case) or self._new(case, line, sure=sure)
        draft.sure = draft.sure or sure
        return draft

    def _known(self, case: str) -> Draft | None:
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
