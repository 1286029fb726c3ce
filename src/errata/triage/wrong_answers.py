"""How a wrong answer differs from the expected one. Only what the harness took as the answer is compared."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from errata.model import Attempt, Case, Check
from errata.model.check import Difference, WrongAnswer
from errata.text.answers import as_written, bare
from errata.text.clean import one_line
from errata.text.equivalence import canonical, same
from errata.text.lazy_regex import lazy_regex
from errata.triage.expected import choice_of, expected_texts
from errata.triage.suspicious import expects_a_refusal, is_refusal

SHORT = 80
"""Characters of an answer or expectation that can be compared; a longer text may hold anything."""
ROUNDING = Fraction(1, 100)
_OPTION = lazy_regex(r"\(?([A-Ja-j])\)?[.:)]?$")
_LEADING_NUMBER = lazy_regex(r"([+-]?[\d.,]*\d)\s*(\D{0,20})$")
_WORD = lazy_regex(r"\w+")
_CLOSEST: tuple[Difference, ...] = (
    "option", "format", "case", "unit", "rounding", "sign", "factor", "extra", "part", "number", "text",
)  # fmt: skip
"""Where several answers would be right, the one that the answer comes closest to is meant."""


def wrong_answer(attempt: Attempt, case: Case | None) -> WrongAnswer | None:
    """None where nothing was compared, where the log has no answer or expectation, or where either is a long text."""
    if (
        case is None
        or case.expected is None
        or attempt.outcome not in ("fail", "partial")
        or attempt.measurement != "scored"
    ):
        return None
    wanted = [one_line(text) for text in _expected(attempt, case)]
    wanted = [text for text in wanted if text]
    if not wanted:
        return None
    if attempt.answered_nothing:
        return WrongAnswer("", _short_line(wanted[0]), "empty")
    answer, text = attempt.output.answer, attempt.output.text or ""
    if answer is not None and not answer.strip():
        return WrongAnswer("", _short_line(wanted[0]), "not_extracted")
    if is_refusal(text or answer or "") and not expects_a_refusal(attempt, case):
        return WrongAnswer("", _short_line(wanted[0]), "refusal")
    given = answer if answer is not None else attempt.output.text
    compared = _compared(given, wanted, case.choices) if given is not None else None
    if compared is None or (written := as_written(compared.answered, text)) == compared.answered:
        return compared
    return compared._replace(written=written)


def _expected(attempt: Attempt, case: Case) -> Iterator[str]:
    failed: list[Check | None] = [check for check in attempt.checks if check.failed]
    yield from dict.fromkeys(text for check in failed or [None] for text in expected_texts(case, check))


def _short_line(text: str) -> str:
    return one_line(text, SHORT)


def _compared(answer: str, wanted: Iterable[str], choices: tuple[str, ...]) -> WrongAnswer | None:
    compared = [one for text in wanted if (one := _difference(one_line(answer), text, choices)) is not None]
    return min(compared, key=lambda one: _CLOSEST.index(one.difference), default=None)


def _difference(answer: str, wanted: str, choices: tuple[str, ...]) -> WrongAnswer | None:
    if choices and (options := _options(answer, wanted, choices)):
        return WrongAnswer(*options, "option")
    if not answer or answer == wanted or len(answer) > SHORT or len(wanted) > SHORT:
        return None
    first, second = _OPTION.match(answer), _OPTION.match(wanted)
    if first and second:
        return WrongAnswer(first[1].upper(), second[1].upper(), "option")
    kind, factor = _kind(answer, wanted)
    return WrongAnswer(answer, wanted, kind, factor)


def _options(answer: str, wanted: str, choices: tuple[str, ...]) -> tuple[str, str] | None:
    chosen, right = choice_of(answer, choices), choice_of(wanted, choices)
    if chosen is None or right is None or chosen == right:
        return None
    return chr(ord("A") + chosen), chr(ord("A") + right)


def _kind(answer: str, wanted: str) -> tuple[Difference, str]:
    given, right = bare(answer), bare(wanted)
    if given != right and given.casefold() == right.casefold():
        return "case", ""
    if same(answer, wanted) or _letters(given) == _letters(right) != "":
        return "format", ""
    if numbers := _numbers(given, right):
        return _of_numbers(*numbers)
    first, second = _LEADING_NUMBER.match(given), _LEADING_NUMBER.match(right)
    if first and second and first[1] == second[1]:
        return "unit", ""
    mine, theirs = _WORD.findall(given.casefold()), _WORD.findall(right.casefold())
    if _has(mine, theirs):
        return "extra", ""
    return ("part" if _has(theirs, mine) else "text"), ""


def _letters(text: str) -> str:
    return "".join(_WORD.findall(text.casefold())) if not any(map(str.isdecimal, text)) else ""


def _numbers(answer: str, wanted: str) -> tuple[Fraction, Fraction] | None:
    given, right = canonical(answer), canonical(wanted)
    if given.kind != right.kind or given.kind not in ("number", "percent"):
        return None
    if not isinstance(given.value, int | Fraction) or not isinstance(right.value, int | Fraction):
        return None
    return Fraction(given.value), Fraction(right.value)


def _of_numbers(given: Fraction, right: Fraction) -> tuple[Difference, str]:
    if not given or not right:
        return "number", ""
    ratio = given / right
    if ratio == -1:
        return "sign", ""
    if abs(ratio - 1) < ROUNDING:
        return "rounding", ""
    times = abs(ratio) if abs(ratio) > 1 else 1 / abs(ratio)
    is_power = times.denominator == 1 and str(times.numerator).rstrip("0") == "1"
    return ("factor", str(times.numerator)) if is_power and ratio > 0 else ("number", "")


def _has(words: list[str], part: list[str]) -> bool:
    """Whether all of `part` is there, in a row."""
    return bool(part) and any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))
