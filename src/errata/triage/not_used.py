"""Words that a rule would match in places where it may not look: shown, so that nobody wonders why they did not count.

A case named `rate_limit_guard`, or code of the model with "too many requests" in it, is not the provider's fault.
"""

import re
from collections.abc import Container, Iterator
from typing import Literal, NamedTuple

import msgspec

from errata.model import Attempt, Case
from errata.model.words import Owner, Phase
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.user_patterns import PatternMatch
from errata.triage.rulebook import Rule, Rulebook

MOST = 2
LOOKED_AT = 100_000
QUOTE = 60
OWNERS: tuple[Owner, ...] = ("provider", "environment")

Place = Literal["case_name", "task", "answer", "file"]

_WORDS: dict[Place, str] = {
    "case_name": "the case name",
    "task": "the task",
    "answer": "the model's own answer",
    "file": "the model's own file",
}
_PLACES = {
    "error": "the harness's error",
    "traceback": "its traceback",
    "check": "a step's own message",
    "assertion": "a broken assertion",
    "status": "the harness's status",
    "judge": "an invalid judgement",
    "log": "the harness's logs",
    "stop": "the stop reason",
}
_PHASES: dict[Phase, str] = {
    "setup": "setup",
    "subject": "the generation",
    "tool": "a tool",
    "environment": "the environment",
    "simulator": "the simulated user",
    "scoring": "the scoring",
    "aggregation": "the aggregation",
}


class NotUsed(msgspec.Struct, frozen=True):
    """One place with words that are not evidence there, and where the rule would have looked."""

    rule: str
    place: Place
    quote: str
    looks_at: str
    file: str | None = None
    line: int | None = None

    @property
    def where(self) -> str:
        return f"{_WORDS[self.place]} ({self.file}:{self.line})" if self.place == "file" else _WORDS[self.place]


class _Text(NamedTuple):
    place: Place
    text: str
    file: str | None = None


def not_used(
    name: str, attempt: Attempt, case: Case | None, book: Rulebook, *, used: Container[str] = ()
) -> tuple[NotUsed, ...]:
    """At most two such places; those of one rule stand together, and the rule that is met most often comes first."""
    places = list(_places(name, attempt, case))
    by_rule = []
    for rule in book.rules.values():
        if rule.owner in OWNERS and not rule.sources and rule.name not in used:
            hits = [hit for place in places if (hit := _hit(book, rule, place, attempt))]
            by_rule.append(hits)
    by_rule.sort(key=len, reverse=True)
    return tuple(hit for hits in by_rule for hit in hits)[:MOST]


def _places(name: str, attempt: Attempt, case: Case | None) -> Iterator[_Text]:
    """What the authors of the task and the subject wrote."""
    yield _Text("case_name", name)
    if case is not None and isinstance(case.input, str):
        yield _Text("task", case.input)
    if attempt.output.text:
        yield _Text("answer", attempt.output.text)
    for artefact in attempt.artefacts:
        if artefact.role in ("output", "patch") and artefact.text:
            yield _Text("file", artefact.text, artefact.path)


def _hit(book: Rulebook, rule: Rule, written: _Text, attempt: Attempt) -> NotUsed | None:
    text = written.text[:LOOKED_AT]
    for match in book.pattern_of(rule).finditer(text):
        if not re.search(r"[^\W\d_]", match[0]):
            continue  # a bare number means nothing outside of an error
        looks_at = _looks_at(rule, attempt)
        if written.place == "case_name":
            return NotUsed(rule.name, written.place, match[0], looks_at)
        line = text.count("\n", 0, match.start()) + 1 if written.file is not None else None
        return NotUsed(rule.name, written.place, _from_there(text, match), looks_at, written.file, line)
    return None


def _from_there(text: str, match: PatternMatch) -> str:
    end = _END.search(text, match.end())
    return one_line(text[match.start() : end.start() if end else len(text)], QUOTE)


_END = lazy_regex("[\n\"'`]")


def _looks_at(rule: Rule, attempt: Attempt) -> str:
    named = [_PLACES[kind] for kind in rule.where]
    places = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    phases = f" in {' or '.join(_PHASES[phase] for phase in rule.phases)}" if rule.phases else ""
    errors = [error for error in attempt.errors if not error.recovered]
    met = any(not rule.phases or not error.phase or error.phase in rule.phases for error in errors)
    none = ", and there was none" if rule.where == ("error",) and not met else ""
    return f"{places}{phases}{none}"
