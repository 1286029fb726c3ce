"""Failures that share an error text, and how many stand alone. By failure keys: the finer reading is a reviewer's."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, get_args

import msgspec

from errata.model import Attribution, FailureKey, Run
from errata.model.identity import split_attempt_id
from errata.model.run import case_name
from errata.model.words import Phase
from errata.runs.explanation import BY_DEFAULT
from errata.text.mask import mask
from errata.triage.reasons import LogLine

MOST = 50
WORDS = 3
"""A check that says fewer words than this besides its own name explains nothing."""

_PHASES: tuple[str, ...] = get_args(Phase)
_MASKED = re.compile(r"<\w+>")
_WORD = re.compile(r"(?<![<A-Za-z])[A-Za-z]{3,}(?![>A-Za-z])")
_EMPTY = frozenset(("fail", "failed", "fails", "failure", "pass", "passed", "test", "tests", "unset", "none", "scored"))


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    verbatim: bool
    """As the log has it, since all of them say the very same; else what differs is masked."""
    count: int
    cases: tuple[str, ...]


class Causes(msgspec.Struct, frozen=True):
    shared: tuple[Cause, ...]
    alone: int
    """Failures that share no error text with another."""


class _Said(NamedTuple):
    key: str
    """Equal for failures that say the same."""
    text: str
    """The very words; empty where they are another text than the key."""


class _Group:
    def __init__(self, first: _Said) -> None:
        self._first = first
        self._same = bool(first.text)
        self.members: dict[str, str] = {}

    def add(self, attempt: str, case: str, said: _Said) -> None:
        self.members[attempt] = case
        self._same = self._same and said.text == self._first.text

    @property
    def cause(self) -> Cause:
        text = self._first.text if self._same else self._first.key
        cases = tuple(dict.fromkeys(self.members.values()))
        return Cause(text=text, verbatim=self._same, count=len(self.members), cases=cases)


def causes_of(run: Run, attributions: Iterable[Attribution], lines: Mapping[str, Sequence[LogLine]]) -> Causes:
    """`lines` are what the logs of an attempt say went wrong, by attempt id."""
    groups: dict[str, _Group] = {}
    total = 0
    for said in attributions:
        total += 1
        case = case_name(run, split_attempt_id(said.attempt).case)
        for text in _said(said, lines.get(said.attempt, ())):
            groups.setdefault(text.key, _Group(text)).add(said.attempt, case, text)
    shared = [group for group in groups.values() if len(group.members) > 1]
    shared.sort(key=lambda group: -len(group.members))  # at equal size, what the harness says before what its logs say
    together = {member for group in shared for member in group.members}
    return Causes(tuple(_once(shared)), total - len(together))


def _once(groups: Sequence[_Group]) -> Iterator[Cause]:
    """Without those that only repeat, in other words or longer, what a larger group of the same failures says."""
    told: list[_Group] = []
    for group in groups:
        if not any(group.members.keys() <= one.members.keys() and _alike(group, one) for one in told[:MOST]):
            told.append(group)
            yield group.cause


def _alike(one: _Group, other: _Group) -> bool:
    mine, theirs = one.cause.text, other.cause.text
    return one.members.keys() == other.members.keys() or mine in theirs or theirs in mine


def _said(said: Attribution, lines: Sequence[LogLine]) -> Iterator[_Said]:
    key = said.failure_key
    quote = next((one.quote for one in said.signals if one.name == said.decided_by), "")
    if says_something(key):
        shape = _shape(key.exact, key.coarse)
        # what decided may be another text than what they share, or only a part of it
        whole = shape in (mask(quote), mask(quote, strings=False))
        yield _Said(shape, quote if whole else "" if _MASKED.search(shape) else shape)
    elif said.decided_by not in BY_DEFAULT and quote:
        yield _Said(mask(quote), quote)
    for line in {line.shared: line for line in lines}.values():
        yield _Said(line.shared, line.message)


def _shape(exact: str, coarse: str) -> str:
    return exact.removeprefix(f"{coarse}:").strip(": ")


def says_something(key: FailureKey) -> bool:
    """An error always does; of a check, only where more is said than that it failed."""
    if key.exact.partition(":")[0] in _PHASES:
        return True
    own = {word.lower() for word in _WORD.findall(key.coarse)} | _EMPTY
    return sum(word.lower() not in own for word in _WORD.findall(_shape(key.exact, key.coarse))) >= WORDS
