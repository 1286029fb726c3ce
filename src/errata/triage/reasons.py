"""Why an attempt failed, in one line, as far as its own log shows it, and where that line is."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from errata.model import Attempt, Attribution
from errata.text.clean import one_line
from errata.text.mask import mask

READ = 200_000
MOST = 50

# behind a tag such as `[vitest]` or pytest's `E`: an exception with its message, or a linter's finding with its rule
_EXCEPTION = re.compile(r"^(?:\[[\w-]+\]|E)?\s*((?:\w+\.)*\w*(?:Error|Exception|Failure): *(\S.*))$")
_FINDING = re.compile(r"^(?:\[[\w-]+\])?\s*(\d+:\d+\s+error\s+.*?\s{2,}(\S+))$")


class LogLine(NamedTuple):
    where: str
    text: str
    message: str
    """Without the exception's name; empty where it is a finding of a linter."""
    shared: str
    """What another failure with the same trouble would have too: the message masked, or the rule's name."""


def error_lines(attempt: Attempt) -> Iterator[LogLine]:
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text:
            yield from _lines(artefact.path, artefact.text[:READ])


def has_logs(attempt: Attempt) -> bool:
    return any(artefact.role == "log" for artefact in attempt.artefacts)


def _lines(path: str, text: str) -> Iterator[LogLine]:
    found = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not (match := _EXCEPTION.match(line) or _FINDING.match(line)):
            continue
        found += 1
        if found > MOST:
            return
        told = one_line(match[2])
        message, shared = ("", told) if match.re is _FINDING else (told, mask(told, strings=False))
        yield LogLine(f"{path}:{number}", one_line(match[1]), message, shared)


QUOTED = 40
LONG = 3
"""A text of more lines is a traceback or a listing."""

# words of a harness that say no more than that it failed
_EMPTY = frozenset(("unset", "none", "fail", "failed", "failure", "error", "false", "incorrect", "success"))


class ReasonQuote(NamedTuple):
    where: str
    text: str

    def __bool__(self) -> bool:
        return bool(self.text) and self.text.lower() not in _EMPTY


NOTHING = ReasonQuote("", "")


def explained(attempt: Attempt, said: Attribution | None) -> bool:
    """Whether an error, a check or a judge says more than the answer itself does."""
    return bool(_first(_by_harness(attempt, said)))


def reason_of(attempt: Attempt, said: Attribution | None, expected: str = "") -> ReasonQuote:
    """What decided, the error, what a check or judge says, the answer beside what was expected, the harness's word."""
    return (
        _first(_by_harness(attempt, said))
        or _first(_by_answer(attempt, expected))
        or _first(ReasonQuote(where, telling(text)) for where, text in _written(attempt, said))
    )


def telling(text: str) -> str:
    """Of a traceback the line that says what is wrong; of all else the whole, in one line."""
    found = _PYTEST.search(text) or (_ERROR.search(text) if text.count("\n") > LONG else None)
    return one_line(found[1] if found else text)


_PYTEST = re.compile(r"^E {2,}(\S.*)$", re.MULTILINE)
_ERROR = re.compile(r"^\s*((?:[\w.]*(?:Error|Exception)|assert\w*)\b.*)$", re.MULTILINE | re.IGNORECASE)


def _first(quotes: Iterable[ReasonQuote]) -> ReasonQuote:
    return next(filter(None, quotes), NOTHING)


def _by_harness(attempt: Attempt, said: Attribution | None) -> Iterator[ReasonQuote]:
    answer = one_line(attempt.output.text or attempt.output.answer or "")
    for where, text in _written(attempt, said):
        told = telling(text)
        # a scorer that only repeats the answer explains nothing
        repeats = told in answer and where.startswith(("checks[", "outcome"))
        if says_more(told, attempt) and not repeats:
            yield ReasonQuote(where, told)
    yield from (ReasonQuote(line.where, line.text) for line in error_lines(attempt))


def says_more(text: str, attempt: Attempt) -> bool:
    """More than `tests failed (60%)`: a word that is neither the check's own name nor one for failing."""
    if text == one_line(attempt.native_status):
        return False
    names = {word for check in attempt.checks for word in _WORD.findall(check.name.lower())}
    return any(word not in names and word not in _EMPTY for word in _WORD.findall(text.lower()))


_FIELDS = (".type", ".code", ".frame")
_WORD = re.compile(r"[^\W\d_]+")


def _written(attempt: Attempt, said: Attribution | None) -> Iterator[ReasonQuote]:
    decided_by = said.decided_by if said is not None else ""
    for one in said.signals if said is not None else ():
        # the name or place of an error decides more often than it explains
        if one.name == decided_by and one.where != "follows" and not one.where.endswith(_FIELDS):
            yield ReasonQuote(one.where, one.quote)
    beside = [check.error for check in attempt.checks if not check.counts]
    for at, error in enumerate(attempt.errors):
        # what was recovered, or befell a scorer that does not count, explains nothing
        if not error.recovered and (attempt.measurement != "scored" or error not in beside):
            yield ReasonQuote(f"errors[{at}].message", error.message)
    yield from (ReasonQuote(f"checks[{check.name}]", check.explanation) for check in attempt.checks if check.failed)
    yield from (ReasonQuote(f"judgements[{one.judge}]", one.reasoning) for one in attempt.objections[:1])


def _by_answer(attempt: Attempt, expected: str) -> Iterator[ReasonQuote]:
    if expected and attempt.outcome in ("fail", "partial"):
        answer = attempt.output.answer or attempt.output.text or ""
        yield ReasonQuote("output", f"answered {_quoted(answer)}, expected {_quoted(expected)}")
    # checks that only inform are still better than silence
    for check in attempt.checks:
        if check.status == "fail":
            yield ReasonQuote(f"checks[{check.name}]", telling(check.explanation))


def _quoted(text: str) -> str:
    return f'"{one_line(text, QUOTED)}"' if text else "nothing"
