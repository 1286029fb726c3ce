"""Is a changed log still a log? Checked by the sources alone, independently of triage.

A sample is sound where the change made no row unreadable, the attempt that it means is a failure, and what was injected
can be seen in the records at all.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from bench.triage.logs import FIXTURES, Target, copy_of, log_of
from bench.triage.samples import Sample, place_of
from errata import sources
from errata.model import Attempt, Case, Run, Unreadable
from errata.model.codec import to_json
from errata.model.identity import split_attempt_id

SHORTEST = 8
"""Shorter lines say too little to be looked for."""


class Read(msgspec.Struct):
    """All that the sources made of a log."""

    runs: dict[str, Run] = {}
    cases: dict[tuple[str, str], Case] = {}
    described: dict[str, Case] = {}
    """Attempt → its case as it was last described before it: rows of one case may differ."""
    attempts: list[Attempt] = []
    unreadable: int = 0

    def attempts_at(self, target: Target) -> list[Attempt]:
        return [one for one in self.attempts if is_meant(one.id, self.runs[one.run], target)]

    def visible_text(self, attempt: Attempt) -> str:
        """Everything that a reader of this attempt can see."""
        case = self.described.get(attempt.id) or self.cases.get((attempt.run, attempt.case))
        seen = (attempt, self.runs[attempt.run], *([case] if case else []))
        return "\n".join(_words(msgspec.json.decode(to_json(one))) for one in seen)


def unsound(sample: Sample, scratch: Path) -> str:
    """Why a sample can't be used; empty where it can."""
    if sample.template is None:
        assert sample.target is not None
        return _without_failure(read(FIXTURES / sample.fixture / "data"), sample.target)
    root = copy_of(sample.fixture, scratch)
    target = place_of(sample).inject(root, sample.template)
    after = read(root)
    if after.unreadable > _unreadable_before(sample.fixture):
        return f"{after.unreadable} rows can't be read, {_unreadable_before(sample.fixture)} before the change"
    return _without_failure(after, target) or _unseen(after, target, sample.template.text)


def read(path: Path) -> Read:
    log = Read(runs={}, cases={}, described={}, attempts=[])
    for item in (item for one in sources.find(path) for item in sources.read(one)):
        if isinstance(item, Run):
            log.runs[item.id] = item
        elif isinstance(item, Case):
            log.cases[item.run, item.key] = item
        elif isinstance(item, Attempt):
            log.attempts.append(item)
            if (item.run, item.case) in log.cases:
                log.described[item.id] = log.cases[item.run, item.case]
        elif isinstance(item, Unreadable):
            log.unreadable += 1
    return log


def is_meant(attempt: str, run: Run, target: Target) -> bool:
    """Whether an attempt's id is that of the target; a label without a number means every attempt at the case."""
    parts = split_attempt_id(attempt)
    if target.case != "*" and parts.case != target.case and not parts.case.endswith(f"/{target.case}"):
        return False
    if target.index and parts.index != target.index:
        return False
    names = f"{run.native_id} {run.subject.model} {' '.join(run.variant.values())}"
    return all(word in names for word in target.run.split())


@cache
def _unreadable_before(fixture: str) -> int:
    return read(log_of(fixture)).unreadable


def _without_failure(log: Read, target: Target) -> str:
    meant = log.attempts_at(target)
    if not meant:
        return f"no attempt at `{target.case}` of `{target.run}`"
    return "" if any(attempt.is_failure for attempt in meant) else "the attempt is not a failure"


def _unseen(log: Read, target: Target, text: str) -> str:
    visible = "\n".join(log.visible_text(attempt) for attempt in log.attempts_at(target))
    lost = [line for line in _lines(text) if line not in visible]
    return f"not to be seen: {lost[0]}" if lost else ""


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines() if len(line.strip()) >= SHORTEST)


def _words(value: object) -> str:
    """Every text of a record, names left out."""
    if isinstance(value, dict):
        return "\n".join(map(_words, value.values()))
    if isinstance(value, list):
        return "\n".join(map(_words, value))
    return value if isinstance(value, str) else ""
