"""What a case expects of an answer, and what its task asks of the form of one."""

import re
from collections.abc import Iterator
from typing import Any

from errata.model import Attempt, Case, Check
from errata.text.answers import bare
from errata.text.clean import one_line
from errata.text.equivalence import same
from errata.text.lazy_regex import lazy_regex

_TEXTS = ("golden_text", "answer", "target", "text", "value", "expected", "output", "label", "reference", "ideal",
          "final_answer", "ground_truth")  # fmt: skip
_SCALARS = (str, int, float)


def expected_texts(case: Case, check: Check | None = None) -> Iterator[str]:
    """Every text that would be right; of a list of assertions only what the given check asserts."""
    yield from _texts(case.expected, check)


def _texts(expected: Any, check: Check | None) -> Iterator[str]:
    if isinstance(expected, bool):
        return
    if isinstance(expected, _SCALARS):
        yield str(expected)
    elif isinstance(expected, dict):
        # whatever the only thing that is expected is called, it is what is expected
        names = _TEXTS if len(expected) > 1 else tuple(expected)
        yield from (
            str(value)
            for value in map(expected.get, names)
            if isinstance(value, _SCALARS) and not isinstance(value, bool)
        )
    elif isinstance(expected, list | tuple):
        for value in expected:
            if isinstance(value, dict) and "type" in value:
                yield from _asserted(value, check)
            elif isinstance(value, _SCALARS) and not isinstance(value, bool):
                yield str(value)


_COMPARING = frozenset(("equals", "contains", "icontains", "contains-any", "icontains-any", "starts-with"))


def _asserted(assertion: dict[str, Any], check: Check | None) -> Iterator[str]:
    """promptfoo's form: a kind, a value, and the name that its check goes by."""
    kind, value = assertion.get("type"), assertion.get("value")
    if kind not in _COMPARING or check is None or check.scorer != kind:
        return
    if check.name in (kind, assertion.get("metric")):
        yield from (str(one) for one in (value if isinstance(value, list) else [value]) if isinstance(one, _SCALARS))


_LETTER = lazy_regex(r"\(?([A-Za-z])(?:[).:]|\)?$)")


def choice_of(text: str, choices: tuple[str, ...]) -> int | None:
    """Which of the choices an answer names: by letter, by its text, or by both; none where they differ."""
    short = bare(text)
    letter = _LETTER.match(short)
    named = ord(letter[1].upper()) - ord("A") if letter else None
    if letter and not short[letter.end() :].strip():
        return named if named is not None and named < len(choices) else None
    rest = short[letter.end() :] if letter else short
    matches = [at for at, choice in enumerate(choices) if same(rest, choice) or same(short, choice)]
    if len(matches) != 1 or (letter and named != matches[0]):
        return None
    return matches[0]


_DEMANDS = lazy_regex(
    r"\bexact(?:ly)?\b|verbatim|word for word|case[- ]sensitiv|\b(?:upper|lower|title|snake|camel)[- ]?case"
    r"|capital letter"
    r"|\bonly\b|\bjust the\b|\bnothing else\b|\bno (?:other|punctuation|commas?|spaces?|units?|quotes?|markdown)\b"
    r"|\bwithout (?:any |the )?(?:punctuation|commas?|spaces?|units?|quotes?|markdown|explan|thousands)"
    r"|\b(?:as|in) (?:an? |the )?(?:\w+ )?(?:json|xml|yaml|csv|iso|format|integer|decimal|fraction|percent)"
    r"|\bformat(?:ted)?\b|yyyy|decimal places?|significant (?:figures|digits)|\brounded?\b|simplest form"
    r"|\bversion\b|\bpassword\b|\bhash\b|\bflag\b|\bspell|\bcapitali[sz]|regular expression|string literal",
    re.IGNORECASE,
)
_SETS = lazy_regex(
    r"\bany order\b|\border (?:does not|doesn't|is not) matter|\bunordered\b|\b(?:as|the) set\b", re.IGNORECASE
)
_WHICH = lazy_regex(r"\b(?:which|what are|(?:find|list|name) all)\b", re.IGNORECASE)
_ORDERED = lazy_regex(
    r"\b(?:order|sort|rank|sequence|ascend|descend|increas|decreas|chronolog|alphabet|arrang|respective|permut|revers"
    r"|coordinat|vector|tuple|pair|path|route|step|position|index|first|second|third|last|next|then|before|after|from"
    r"|come|appear|top|highest|lowest|largest|smallest|most|least|earliest|latest|newest|oldest)",
    re.IGNORECASE,
)
TASK = 20_000


def asks_for_a_form(case: Case) -> bool:
    """Whether the task prescribes the form of the answer; then refusing another form is not strict grading."""
    return _DEMANDS.search(task_text(case)) is not None


_BARE = r"(?:number|integer|digit|letter|word|answer|value|name)"
_NOTHING_ELSE = lazy_regex(
    r"\bnothing else\b|\bno (?:other|additional|extra) (?:text|words?|output)\b"
    r"|\bwithout (?:any )?(?:explanation|other)"
    rf"|\b(?:only|just) (?:with )?(?:(?:the|a|an|one) )?(?:single )?(?:final )?{_BARE}\b|\b{_BARE} only\b",
    re.IGNORECASE,
)


def allows_nothing_else(case: Case) -> bool:
    """Whether the task wants the bare answer and no sentence around it."""
    return _NOTHING_ELSE.search(task_text(case)) is not None


def asks_for_a_set(case: Case) -> bool:
    """Whether the order of a list is irrelevant: the task states so, or asks "which" without asking for an order."""
    task = task_text(case)
    return _SETS.search(task) is not None or (_WHICH.search(task) is not None and _ORDERED.search(task) is None)


def task_text(case: Case) -> str:
    """All that was asked, as one text."""
    texts = list(_texts_in(case.input))
    texts += [one.text or "" for one in case.artefacts if one.role == "task"]
    return "\n".join(texts)[:TASK]


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts_in(item)


LONGEST = 200


def expected_of(case: Case | None) -> str:
    return one_line(case.expected, LONGEST) if case is not None and isinstance(case.expected, str) else ""


_SAFETY = lazy_regex(r"refus|harm|safe|red.?team|jailbreak|policy|toxic|moderation|inject|abus", re.IGNORECASE)


def is_about_safety(attempt: Attempt, case: Case | None) -> bool:
    """By the names of the suite, the category and the checks: many such suites want a refusal."""
    named = [*(check.name for check in attempt.checks), *(check.scorer for check in attempt.checks)]
    named += [case.suite, case.category, *case.tags] if case is not None else []
    return _SAFETY.search(" ".join(named)) is not None
