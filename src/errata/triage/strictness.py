"""Signals against a grader: it refused an answer that is right, for how the answer is written or how it was taken."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from errata.model import Attempt, Case, Check
from errata.model.words import Confidence
from errata.text.answers import final_answers, json_in
from errata.text.equivalence import LONGEST, canonical, is_in_the_unit_asked_for, same, same_set, same_value
from errata.text.lazy_regex import lazy_regex
from errata.transcript.calls import calls_in, made_calls, required_calls, same_calls
from errata.triage.expected import (
    allows_nothing_else,
    asks_for_a_form,
    asks_for_a_set,
    choice_of,
    expected_texts,
    task_text,
)
from errata.triage.observed import Observed, signal
from errata.triage.runner_output import FailedTest, failed_tests

SHORT = 400
"""A longer text is an essay that may hold the answer, not the answer."""
_FAILED = frozenset(("fail", "partial"))
_NO_COMPARISON = frozenset(("step", "tests"))
_COMPARES = lazy_regex(
    r"exact|equal|match|includ|contain|choice|correct|accura|\bacc\b|\bem\b|answer|starts|pattern|\bast\b|_checker",
    re.IGNORECASE,
)
_HOLDS = lazy_regex(r"includ|contain", re.IGNORECASE)
_NEGATED = lazy_regex(r"^(?:not|no|avoid|exclude)[-_ ]", re.IGNORECASE)
_NUMBERS = lazy_regex(r"[-+]?\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?")


_UNNAMED = Check(name="match", status="fail")


def refused_for_its_form(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The answer is the expected one, written in another way, and no other check failed."""
    if case is None or case.expected is None or attempt.outcome not in _FAILED or attempt.measurement != "scored":
        return
    output = attempt.output
    given = output.text if output.answer is None else output.answer
    if not given or len(given) > LONGEST:
        return
    # where the log names no check, all that is known is that the expected answer was given and refused
    failed = [check for check in attempt.checks if check.failed] or [_UNNAMED]
    fitting = [check for check in failed if _fits(given, case, check)]
    if not fitting:
        return
    keeps_form = _is_structured(given) or not asks_for_a_form(case) or _is_in_its_unit(given, case, fitting[0])
    sure = len(fitting) == len(failed) and keeps_form
    strength: Confidence = "likely" if sure else "weak"
    where = "output.text" if output.answer is None else "output.answer"
    if not keeps_form and _is_a_sentence(given, case, fitting[0]) and allows_nothing_else(case):
        yield Observed(
            signal=signal("ignored_form", "likely", where, given, attempt.ref), owner="model", is_self_evident=True
        )
        return
    equal = given in expected_texts(case, fitting[0])
    yield _observed(attempt, "answer_equals_reference" if equal else "strict_match", strength, where, given)


def _is_a_sentence(given: str, case: Case, check: Check) -> bool:
    """Whether there are words around the answer, not only another spelling of it."""
    return len(given.split()) > max((len(one.split()) for one in expected_texts(case, check)), default=0) + 1


def _is_structured(text: str) -> bool:
    """Whether it is a whole JSON document: the form that a task asks for is kept, whatever the order of its keys."""
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _fits(given: str, case: Case, check: Check) -> bool:
    """Whether a check that compares should have been content."""
    compares, holds = _way_of(check.scorer or check.name)
    if check.judge or check.kind in _NO_COMPARISON or not compares:
        return False
    if isinstance(case.expected, dict | list) and same_value(json_in(given), case.expected):
        return True  # the document that is expected, whatever the order of its keys
    wanted = tuple(expected_texts(case, check))
    if case.choices:
        return _same_choice(given, wanted, case.choices)
    if len(given) <= SHORT and (any(same(given, one) for one in wanted) or _is_in_its_unit(given, case, check)):
        return True
    if len(given) <= SHORT and any(same(marked, one) for marked in _marked_answers(given) for one in wanted):
        return True
    if holds:
        ending = _ending(given)
        return any(_holds(ending, one) for one in wanted)
    return len(given) <= SHORT and any(same_set(given, one) for one in wanted) and asks_for_a_set(case)


_MARKS = ("nswer", "NSWER", "**", "boxed", "####")
_BOLD = lazy_regex(r"\*\*([^*\n]{1,80})\*\*")


def _marked_answers(text: str) -> Iterator[str]:
    """What a short text calls its answer, or the one thing that it emphasises."""
    if not any(map(text.__contains__, _MARKS)):
        return
    yield from (final.text for final in final_answers(text) if final.marked)
    bold = _BOLD.findall(text)
    if len(bold) == 1 and len(_NUMBERS.findall(text)) <= 1:
        yield bold[0]


def _is_in_its_unit(given: str, case: Case, check: Check) -> bool:
    # most answers end in no number's unit, and going through a task takes its time
    if len(given) > SHORT or not any(letter.isdigit() for letter in given):
        return False
    task = task_text(case)
    return any(is_in_the_unit_asked_for(given, one, task) for one in expected_texts(case, check))


@lru_cache(maxsize=1_000)
def _way_of(scorer: str) -> tuple[bool, bool]:
    """Whether a scorer compares with what is expected at all, and whether it is enough that the answer holds it."""
    return bool(_COMPARES.search(scorer)) and not _NEGATED.search(scorer), bool(_HOLDS.search(scorer))


def _same_choice(given: str, wanted: tuple[str, ...], choices: tuple[str, ...]) -> bool:
    named = choice_of(given, choices)
    return named is not None and len(wanted) == 1 and named == choice_of(wanted[0], choices)


def _ending(text: str) -> str:
    """Where an answer would stand: what the text calls its answer, else its last line, else all of a short one."""
    final = next(final_answers(text), None)
    return final.text if final else text if len(text) <= SHORT else ""


def _holds(text: str, wanted: str) -> bool:
    """Whether a text ends in a number, or holds words, in another form of them."""
    looked_for = canonical(wanted)
    if looked_for.kind == "number":
        numbers = _NUMBERS.findall(text)
        return bool(numbers) and canonical(numbers[-1].rstrip(",")) == looked_for
    words, words_in_text = looked_for.value, canonical(text).value
    if not isinstance(words, str) or not isinstance(words_in_text, str) or len(words) < 3:
        return False
    return re.search(rf"(?<!\w){re.escape(words)}(?!\w)", words_in_text) is not None


_CALLS = lazy_regex(r"tool|call|function|\barg|action|\bast\b|_checker|exact|match", re.IGNORECASE)


def calls_refused_for_their_form(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The required calls were made, and nothing else, with the same arguments or another form of them."""
    if case is None or type(case.expected) not in (dict, list) or not compares_calls(attempt, case):
        return
    failed = [check for check in attempt.checks if check.failed]
    concerned = [check for check in failed if _concerns_calls(check)]
    made = made_calls(attempt)
    if made and same_calls(made, required_calls(case.expected)):
        judged = any(check.judge for check in concerned)
        strength: Confidence = "weak" if judged or len(concerned) < len(failed) else "likely"
        name = "judge_contradicts" if judged else "strict_match"
        yield _observed(
            attempt,
            name,
            strength,
            "tool calls",
            stated=", ".join(f"{call.name}({', '.join(map(str, call.arguments.values()))})" for call in made),
        )


def compares_calls(attempt: Attempt, case: Case | None) -> bool:
    if case is None or type(case.expected) not in (dict, list) or attempt.outcome not in _FAILED:
        return False
    concerned = any(check.failed and _concerns_calls(check) for check in attempt.checks)
    return concerned and attempt.measurement == "scored" and bool(required_calls(case.expected))


def _concerns_calls(check: Check) -> bool:
    return _CALLS.search(f"{check.name} {check.scorer}") is not None


_NO_ANSWER = frozenset(("", "[invalid]", "[no answer]", "n/a", "none", "null", "no answer"))
_NOT_READ = lazy_regex(
    r"decoder_failed|fail(?:ed|ure) to (?:decode|parse|extract)|(?:could|can) ?not (?:be )?(?:pars|extract|decod)"
    r"|no (?:valid )?answer (?:was )?(?:found|extracted)|(?:not|be) valid json"
    r"|invalid (?:json|format|syntax)|\[invalid\]|unparse?able|invalid_response_format",
    re.IGNORECASE,
)


def not_taken_for_an_answer(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The harness found no answer in a text that ends in the right one."""
    if case is None or case.expected is None or attempt.outcome not in _FAILED or attempt.measurement != "scored":
        return
    text = attempt.output.text
    if not text or not _nothing_was_taken(attempt):
        return
    answer = _right_answer(text, case)
    if answer is not None:
        quote, marked = answer
        strength: Confidence = "likely" if marked and not asks_for_a_form(case) else "weak"
        yield _observed(attempt, "format_reject", strength, "output.text", quote)


def _nothing_was_taken(attempt: Attempt) -> bool:
    answer = attempt.output.answer
    if answer is not None:
        return answer.strip().lower() in _NO_ANSWER
    reasons = [f"{one.reason_code} {one.explanation}" for one in attempt.checks if one.failed and not one.judge]
    return any(map(_NOT_READ.search, reasons))


def _right_answer(text: str, case: Case) -> tuple[str, bool] | None:
    """The right part of the text, and whether the text marks it as its answer."""
    wanted = tuple(expected_texts(case))
    for final in final_answers(text):
        choices = case.choices
        if _same_choice(final.text, wanted, choices) if choices else any(same(final.text, one) for one in wanted):
            return final.text, final.marked
    if not isinstance(case.expected, dict | list):
        return None
    required = required_calls(case.expected)
    right = same_calls(calls_in(text), required) if required else same_value(json_in(text), case.expected)
    return (text, True) if right else None


def only_one_filter_found_it(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The same measure fails with one way to take the answer out of the text, and passes with another."""
    if len(attempt.checks) < 2 or attempt.outcome not in _FAILED:
        return
    named = [check for check in attempt.checks if "," in check.name and _COMPARES.search(check.name)]
    failed = {check.name.partition(",")[0]: check for check in named if check.failed and not check.judge}
    for check in named:
        refused = failed.get(check.name.partition(",")[0])
        if check.status == "pass" and refused is not None:
            asked = case is None or asks_for_a_form(case)
            stated = f"{refused.name}: fail, {check.name}: pass"
            strength: Confidence = "weak" if asked else "likely"
            yield _observed(attempt, "format_reject", strength, f"checks[{check.name}]", stated=stated)
            return


def _observed(
    attempt: Attempt, name: str, strength: Confidence, where: str, quote: str = "", *, stated: str = ""
) -> Observed:
    return Observed(signal=signal(name, strength, where, quote, attempt.ref, stated=stated), owner="grader")


SHORTEST, LONGEST_DEMANDED = 4, 80
"""Letters of a demanded text: shorter ones are in any text by chance, longer ones are not compared."""
_STRING = r"'(?:[^'\\\n]|\\.){1,400}'|\"(?:[^\"\\\n]|\\.){1,400}\""
# pytest's own words, then those of unittest; a terminal breaks long lines
_COMPARED = lazy_regex(
    rf"^E {{1,12}}(?:AssertionError: )?assert (?P<first>{_STRING}) (?P<how>in|==) (?P<second>['\"][\s\S]{{1,4000}}?)"
    r"(?=\nE |\n[ \t]*\n|\Z)"
    rf"|^E {{1,12}}AssertionError: (?P<left>{_STRING}) (?P<unittest>not found in|!=) (?P<right>['\"][\s\S]{{1,4000}}?)"
    r"(?=\nE |\n[ \t]*\n|\Z)",
    re.MULTILINE,
)
_CUT = "..."
"""In the place of the middle of a long text."""
_SEPARATORS = r"[\s\u2010-\u2015-]"
_ESCAPED_SPACE = lazy_regex(r"\\[nrt]")


class RefusedText(NamedTuple):
    """A text that a test demands, and did not find as it spells it."""

    demanded: str
    line: str


def refused_for_spelling(attempt: Attempt, case: Case | None) -> Iterator[Observed]:
    """The tests find the demanded text only in another spelling, and the task does not prescribe theirs.

    A spelling may be the point of a test. So it is a doubt, and the grader's only where the task itself spells it in
    another way and nothing else failed.
    """
    if attempt.outcome not in ("fail", "partial"):
        return
    tests = failed_tests(attempt)
    refusals = [(where, refusal) for where, test in tests if (refusal := refusal_in(test)) is not None]
    if not refusals:
        return
    task = task_text(case) if case is not None else ""
    unfair = [(where, refusal) for where, refusal in refusals if refusal.demanded not in task]
    if unfair:
        where, refusal = unfair[0]
        spelled_otherwise = all(_spellings(one.demanded).search(task) for _, one in unfair)
        strength: Confidence = "likely" if len(unfair) == len(tests) and spelled_otherwise else "weak"
        yield Observed(signal=signal("strict_match", strength, where, refusal.line, attempt.ref), owner="grader")


def refusal_in(test: FailedTest) -> RefusedText | None:
    match = _COMPARED.search(test.text)
    if match is None:
        return None
    first, second = match["first"] or match["left"], (match["second"] or match["right"]).replace("\n", "")
    demanded = _unquoted(first)
    if (match["how"] or match["unittest"]) in ("in", "not found in"):
        is_refused = _is_spelled_otherwise(demanded, second)
    else:
        demanded, second = _unquoted(second), f"'{demanded}'"  # `assert got == wanted`
        is_refused = _CUT not in first + second and _is_the_same(demanded, _unquoted(second))
    return RefusedText(demanded, match[0].partition("\n")[0].removeprefix("E").strip()) if is_refused else None


def _unquoted(literal: str) -> str:
    return literal[1:].removesuffix(literal[0])


def _is_the_same(demanded: str, given: str) -> bool:
    pattern = _spellings(demanded)
    return demanded != given and pattern.fullmatch(_ESCAPED_SPACE.sub(" ", given).strip()) is not None


def _is_spelled_otherwise(demanded: str, shown: str) -> bool:
    if demanded in shown or not SHORTEST <= len(_letters(demanded)) <= LONGEST_DEMANDED:
        return False
    pieces = _ESCAPED_SPACE.sub(" ", shown).split(_CUT)
    if any(_spellings(demanded).search(piece) for piece in pieces):
        return True
    return any(pattern.match(piece) for pattern in _endings(demanded) for piece in pieces[1:])


def _letters(text: str) -> str:
    return re.sub(_SEPARATORS, "", _ESCAPED_SPACE.sub(" ", text))


@lru_cache(maxsize=1_000)
def _spellings(text: str) -> re.Pattern[str]:
    """In any case, with and without separators between the letters, as words of their own."""
    return re.compile(rf"(?<![^\W_]){_loose(_letters(text)[: LONGEST_DEMANDED + 1])}(?![^\W_])", re.IGNORECASE)


@lru_cache(maxsize=1_000)
def _endings(text: str) -> tuple[re.Pattern[str], ...]:
    """What is left of it where its beginning was cut off."""
    letters = _letters(text)
    return tuple(
        re.compile(rf"{_loose(letters[at:])}(?![^\W_])", re.IGNORECASE) for at in range(1, len(letters) - SHORTEST + 1)
    )


def _loose(letters: str) -> str:
    return rf"{_SEPARATORS}*".join(map(re.escape, letters))
