"""Words that a rule would match in places where it may not look: shown, so that nobody wonders why they did not count.

A case named `rate_limit_guard`, or a model that writes "too many requests" into its own code, is no provider's fault.
"""

import re
from collections.abc import Container, Iterator
from functools import cache
from typing import NamedTuple

import msgspec

from errata.model import Attempt, Case
from errata.model.words import Owner, Phase
from errata.text.clean import one_line
from errata.triage.rulebook import Rule, Rulebook

MOST = 2
LOOKED_AT = 100_000
QUOTE = 60
OWNERS: tuple[Owner, ...] = ("provider", "environment")

_PLACES = {
    "error": "the harness's error",
    "traceback": "its traceback",
    "check": "what a step says of itself",
    "assertion": "a broken assertion",
    "status": "the harness's status",
    "judge": "an invalid judgement",
    "log": "the harness's logs",
    "stop": "the reason of stopping",
}
_PHASES: dict[Phase, str] = {
    "setup": "the set-up",
    "subject": "the generation",
    "tool": "a tool",
    "environment": "the environment",
    "simulator": "the simulated user",
    "scoring": "the scoring",
    "aggregation": "the aggregation",
}


class NotUsed(msgspec.Struct, frozen=True):
    """One place with words that are no evidence there, and where the rule would have looked."""

    rule: str
    where: str
    quote: str
    looks_at: str


class _Place(NamedTuple):
    where: str
    text: str
    is_name: bool = False
    is_file: bool = False


def not_used(
    name: str, attempt: Attempt, case: Case | None, book: Rulebook, *, used: Container[str] = ()
) -> tuple[NotUsed, ...]:
    """At most two such places; those of one rule stand together, and the rule that is met most often comes first."""
    places = list(_places(name, attempt, case))
    by_rule = []
    for rule in book.rules.values():
        if rule.owner in OWNERS and rule.name not in used:
            found = [hit for place in places if (hit := _hit(rule, place, attempt))]
            by_rule.append(found)
    by_rule.sort(key=len, reverse=True)
    return tuple(hit for found in by_rule for hit in found)[:MOST]


def _places(name: str, attempt: Attempt, case: Case | None) -> Iterator[_Place]:
    """What the authors of the task and the subject wrote."""
    yield _Place("the case name", name, is_name=True)
    if case is not None and isinstance(case.input, str):
        yield _Place("the task", case.input)
    if attempt.output.text:
        yield _Place("the model's own answer", attempt.output.text)
    for artefact in attempt.artefacts:
        if artefact.role in ("output", "patch") and artefact.text:
            yield _Place(artefact.path, artefact.text, is_file=True)


def _hit(rule: Rule, place: _Place, attempt: Attempt) -> NotUsed | None:
    text = place.text[:LOOKED_AT]
    for found in _pattern(rule.match).finditer(text):
        if not re.search(r"[^\W\d_]", found[0]):
            continue  # a bare number means nothing outside of an error
        if place.is_name:
            return NotUsed(rule.name, place.where, found[0], _looks_at(rule, attempt))
        where = place.where
        if place.is_file:
            where = f"the model's own file ({where}:{text.count(chr(10), 0, found.start()) + 1})"
        return NotUsed(rule.name, where, _from_there(text, found), _looks_at(rule, attempt))
    return None


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.MULTILINE)


def _from_there(text: str, found: re.Match[str]) -> str:
    """The match and what follows it, to the end of its string or line."""
    end = _END.search(text, found.end())
    return one_line(text[found.start() : end.start() if end else len(text)], QUOTE)


_END = re.compile("[\n\"'`]")


def _looks_at(rule: Rule, attempt: Attempt) -> str:
    named = [_PLACES[kind] for kind in rule.where]
    places = " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)
    phases = f" in {' or '.join(_PHASES[phase] for phase in rule.phases)}" if rule.phases else ""
    errors = [error for error in attempt.errors if not error.recovered]
    met = any(not rule.phases or error.phase in rule.phases for error in errors)
    none = ", and there was none" if rule.where == ("error",) and not met else ""
    return f"{places}{phases}{none}"
