"""Failures of a report while it is being read: the same case named twice is one failure, and the first word holds."""

from collections.abc import Iterator

from errata.memory.reading.labels import KNOWN_GAP
from errata.memory.spelling import ends_alike, segments
from errata.model import SourceRef
from errata.model.prior_report import PriorFailure
from errata.text.clean import one_line

MOST = 5_000
REASONING = 600
STEP = 80


class Draft:
    def __init__(self, case: str, line: int, *, sure: bool) -> None:
        self.case, self.line, self.sure = case, line, sure
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
        self._by_ending: dict[str, list[Draft]] = {}
        self._count = 0

    def named(self, case: str, line: int, *, sure: bool = True) -> Draft:
        """The failure of this name, or of one that this is the end of; else a new one."""
        parts = segments(case)
        alike = self._by_ending.setdefault(parts[-1] if parts else "", [])
        same = [one for one in alike if segments(one.case) == parts]
        near = same or [one for one in alike if ends_alike(segments(one.case), parts)]
        if len(near) == 1:
            draft = near[0]
            draft.case = max(draft.case, case, key=lambda name: len(segments(name)))
            draft.sure = draft.sure or sure
            return draft
        draft = Draft(case, line, sure=sure)
        if self._count < MOST:
            self._count += 1
            alike.append(draft)
        return draft

    def failures(self, path: str) -> Iterator[PriorFailure]:
        for draft in sorted((one for some in self._by_ending.values() for one in some), key=lambda one: one.line):
            if not draft.passed and (draft.sure or draft.label or draft.step):
                yield PriorFailure(
                    case=one_line(draft.case),
                    label=draft.label,
                    failed_check=draft.step,
                    reasoning=draft.reasoning,
                    ref=SourceRef(file=path, line=draft.line),
                )


def is_gap(label: str) -> bool:
    return label == KNOWN_GAP
