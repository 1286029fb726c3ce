"""Why an attempt failed, in one line, as far as its own log shows it, and where that line is."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from errata.model import Attempt, Attribution
from errata.text.clean import one_line
from errata.text.mask import mask
from errata.triage.runner_output import plain

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
            yield from _lines(artefact.path, plain(artefact.text[:READ]))


def has_logs(attempt: Attempt) -> bool:
    return any(artefact.role == "log" for artefact in attempt.artefacts)


def _lines(path: str, text: str) -> Iterator[LogLine]:
    lines = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not (match := _EXCEPTION.match(line) or _FINDING.match(line)):
            continue
        lines += 1
        if lines > MOST:
            return
        error = one_line(match[2])
        message, shared = ("", error) if match.re is _FINDING else (error, mask(error, strings=False))
        yield LogLine(f"{path}:{number}", one_line(match[1]), message, shared)


QUOTED = 40
LONG = 3
"""A text of more lines is a traceback or a listing."""

# words of a harness that say no more than that it failed
_EMPTY = frozenset(
    (
        "unset",
        "none",
        "fail",
        "failed",
        "failure",
        "error",
        "false",
        "incorrect",
        "success",
        "ok",
        "done",
        "0",
        "0.0",
        "1",
    )
)


class ReasonQuote(NamedTuple):
    where: str
    text: str

    def __bool__(self) -> bool:
        return bool(self.text) and self.text.lower() not in _EMPTY


NOTHING = ReasonQuote("", "")


def explained(attempt: Attempt, attribution: Attribution | None) -> bool:
    """Whether an error, a check or a judge explains more than the answer itself."""
    return bool(_first(_by_harness(attempt, attribution)))


def reason_of(attempt: Attempt, attribution: Attribution | None, expected: str = "") -> ReasonQuote:
    """The deciding quote, the error, a check's or judge's text, answer and expectation, or the harness's status."""
    return (
        _first(_by_harness(attempt, attribution))
        or _first(_by_writes(attribution))
        or _first(_by_answer(attempt, expected))
        or _first(_by_status(attempt, attribution))
    )


def _by_status(attempt: Attempt, attribution: Attribution | None) -> Iterator[ReasonQuote]:
    """Whatever is left, except that a check failed."""
    for where, text in _quotes_of_signals(attempt, attribution):
        key_line = telling(text)
        if not any(key_line == f"{check.name}: failed" for check in attempt.checks):
            yield ReasonQuote(where, key_line)


def telling(text: str) -> str:
    """The line of a traceback with the error; any other text whole, in one line."""
    match = _PYTEST.search(text) or (_ERROR.search(text) if text.count("\n") > LONG else None)
    return one_line(match[1] if match else text)


_PYTEST = re.compile(r"^E {2,}(\S.*)$", re.MULTILINE)
_ERROR = re.compile(r"^\s*((?:[\w.]*(?:Error|Exception)|assert\w*)\b.*)$", re.MULTILINE | re.IGNORECASE)


def _first(quotes: Iterable[ReasonQuote]) -> ReasonQuote:
    return next(filter(None, quotes), NOTHING)


def _by_harness(attempt: Attempt, attribution: Attribution | None) -> Iterator[ReasonQuote]:
    answer = one_line(attempt.output.text or attempt.output.answer or "")
    for where, text in _quotes_of_signals(attempt, attribution):
        key_line = telling(text)
        # a scorer that only repeats the answer explains nothing
        repeats = key_line in answer and where.startswith(("checks[", "outcome"))
        if says_more(key_line, attempt) and not repeats:
            yield ReasonQuote(where, key_line)
    yield from (ReasonQuote(line.where, line.text) for line in error_lines(attempt))


def says_more(text: str, attempt: Attempt) -> bool:
    """More than `tests failed (60%)`: a word that is neither the check's own name nor one for failing."""
    if text == one_line(attempt.native_status):
        return False
    names = {word for check in attempt.checks for word in _WORD.findall(check.name.lower())}
    return any(word not in names and word not in _EMPTY for word in _WORD.findall(text.lower()))


_FIELDS = (".type", ".code", ".frame")
_WORD = re.compile(r"[^\W\d_]+")


def _quotes_of_signals(attempt: Attempt, attribution: Attribution | None) -> Iterator[ReasonQuote]:
    decided_by = attribution.decided_by if attribution is not None else ""
    for signal in attribution.signals if attribution is not None else ():
        # the name or place of an error decides more often than it explains
        if signal.name == decided_by and signal.where != "follows" and not signal.where.endswith(_FIELDS):
            yield ReasonQuote(signal.where, signal.quote)
    beside = [check.error for check in attempt.checks if not check.counts]
    for at, error in enumerate(attempt.errors):
        # what was recovered, or befell a scorer that does not count, explains nothing
        if not error.recovered and (attempt.measurement != "scored" or error not in beside):
            yield ReasonQuote(f"errors[{at}].message", error.message)
    yield from (ReasonQuote(f"checks[{check.name}]", check.explanation) for check in attempt.checks if check.failed)
    yield from (ReasonQuote(f"judgements[{signal.judge}]", signal.reasoning) for signal in attempt.objections[:1])


_WRITES = {"wrote_too_much": "not expected", "wrote_otherwise": "another change than expected"}


def _by_writes(attribution: Attribution | None) -> Iterator[ReasonQuote]:
    """A change that the reference does not have explains why the final state is wrong."""
    for signal in attribution.signals if attribution is not None else ():
        if signal.name in _WRITES:
            yield ReasonQuote(signal.where, f"{_WRITES[signal.name]}: {one_line(signal.quote)}")


def _by_answer(attempt: Attempt, expected: str) -> Iterator[ReasonQuote]:
    if expected and attempt.outcome in ("fail", "partial"):
        answer = attempt.output.answer or attempt.output.text or ""
        yield ReasonQuote("output", f"answered {_quoted(answer)}, expected {_quoted(expected)}")
    # checks that only inform are better than silence, except for a judge's beside the check that decided
    decided = any(check.failed for check in attempt.checks)
    for check in attempt.checks:
        if check.status == "fail" and not (decided and check.judge and not check.counts):
            yield ReasonQuote(f"checks[{check.name}]", telling(check.explanation))


def _quoted(text: str) -> str:
    return f'"{one_line(text, QUOTED)}"' if text else "nothing"
