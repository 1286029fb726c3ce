"""The error of an attempt in one line, by its own texts: its errors, failed checks and judges, else its logs.

Every page that shows why an attempt failed takes the line from here, before and after a review.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import NamedTuple

from errata.model import Attempt, Check
from errata.text.clean import clean, one_line
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import mask
from errata.text.pytest_output import own_output
from errata.text.tool_output import is_announcement, key_line

READ = 200_000
MOST = 50
A_SENTENCE = 3
"""From this many words on, a message is informative without the name of its test."""
Wash = Callable[[str], str]

# behind a tag such as `[vitest]` or pytest's `E`: an exception with its message, or a linter's finding with its rule
_EXCEPTION = lazy_regex(r"^(?:\[[\w-]+\]|E)?\s*((?:Uncaught )?(?:\w+\.)*\w*(?:Error|Exception|Failure): *(\S.*))$")
# pytest's own: a bare assertion, `pytest.fail`
_ASSERTION = lazy_regex(r"^E\s+((?:Failed: *(?=\S)|(?=assert ))(\S.*))$")
_SUMMARY = lazy_regex(r"^(?:FAILED|ERROR) [^\s:]+(?:\.py|::)\S*(?: \S+)*? - (\S.*)$")
_FINDING = lazy_regex(r"^(?:\[[\w-]+\])?\s*(\d+:\d+\s+error\s+.*?\s{2,}(\S+))$")
_SENTENCE = lazy_regex(r"^(?:\[[\w-]+\])?\s*(([A-Z][a-z]+ \S.*))$")
_FAILED_TEST = lazy_regex(r"^(?:\[[\w-]+\])?\s*FAIL\s+\S")
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
# `negative_ttfb (-120ms)`: a name and a time, nothing in words
_MEASURED = lazy_regex(r"\w+ \(-?[\d.]+ ?m?s\)(?:; \w+ \(-?[\d.]+ ?m?s\))*")
_WORD = lazy_regex(r"[^\W\d_]+")


class LogLine(NamedTuple):
    where: str
    text: str
    message: str
    """Without the exception's name; empty where it is a finding of a linter."""
    shared: str
    """What another failure with the same trouble would have too: the message masked, or the rule's name."""


class ReasonQuote(NamedTuple):
    where: str
    text: str
    stated: str = ""
    """How the text begins where that is not in the log: errata states it from facts."""

    @property
    def quote(self) -> str:
        return self.text.removeprefix(self.stated).removeprefix(": ")

    def __bool__(self) -> bool:
        return bool(self.text) and self.text.lower() not in _EMPTY


NOTHING = ReasonQuote("", "")


def error_of(attempt: Attempt, *, wash: Wash = str) -> ReasonQuote:
    """`wash` redacts a text before a line is taken from it."""
    return next(filter(None, explanations(attempt, own_texts(attempt), wash=wash)), NOTHING)


def explanations(attempt: Attempt, texts: Iterator[ReasonQuote], *, wash: Wash = str) -> Iterator[ReasonQuote]:
    """The informative line of each text that states more than that the attempt failed, then the lines of its logs."""
    answer = one_line(attempt.output.text or attempt.output.answer or "")
    for where, text, stated in texts:
        shown = key_line(wash(text))
        # a scorer that only repeats the answer explains nothing
        repeats = shown in answer and where.startswith(("checks[", "outcome"))
        if says_more(shown, attempt) and not repeats:
            yield ReasonQuote(where, shown, stated if shown.startswith(stated) else "")
    yield from (ReasonQuote(line.where, line.text) for line in error_lines(attempt, wash=wash))


def own_texts(attempt: Attempt) -> Iterator[ReasonQuote]:
    """Of errors, failed checks and the first judge that objects."""
    beside = [check.error for check in attempt.checks if not check.counts]
    for at, error in enumerate(attempt.errors):
        # what was recovered, or befell a scorer that does not count, explains nothing
        if not error.recovered and (attempt.measurement != "scored" or error not in beside):
            yield ReasonQuote(f"errors[{at}].message", error.message, error.stated)
    failed = [check for check in attempt.checks if check.failed]
    # a bare measurement explains its own check, not the others that failed
    measured = [one for one in failed if is_measurement(one.explanation)] if len(failed) > 1 else []
    yield from (_of_check(one) for one in failed if one not in measured)
    yield from (ReasonQuote(f"judgements[{signal.judge}]", signal.reasoning) for signal in attempt.objections[:1])
    yield from map(_of_check, measured)


def _of_check(check: Check) -> ReasonQuote:
    return ReasonQuote(f"checks[{check.name}]", check.explanation, check.explanation if check.derived else "")


def is_measurement(text: str) -> bool:
    return _MEASURED.fullmatch(text) is not None


def says_more(text: str, attempt: Attempt) -> bool:
    """More than `tests failed (60%)`: a word that is neither the check's own name nor one for failing."""
    if text == one_line(attempt.native_status):
        return False
    names = {word for check in attempt.checks for word in _WORD.findall(check.name.lower())}
    return any(word not in names and word not in _EMPTY for word in _WORD.findall(text.lower()))


def has_logs(attempt: Attempt) -> bool:
    return any(artefact.role == "log" for artefact in attempt.artefacts)


_OF_VERIFIER = lazy_regex(r"verif|tests?(?![a-z])|grad(?:e|ing)", re.IGNORECASE)
_OF_AGENT = lazy_regex(r"agent", re.IGNORECASE)


@lru_cache(maxsize=10_000)
def is_of_verifier(path: str) -> bool:
    """By the file's name and its folder: a case may have any name, and an agent's log lies beside the tests' log."""
    folder, _, name = path.rpartition("/")
    if _OF_AGENT.search(name):
        return False
    return _OF_VERIFIER.search(name) is not None or _OF_VERIFIER.match(folder.rpartition("/")[2]) is not None


def error_lines(attempt: Attempt, *, wash: Wash = str) -> Iterator[LogLine]:
    """What the subject tried and met while it worked explains no verdict: where tests decided, their logs do."""
    logs = [(one, one.text[:READ]) for one in attempt.artefacts if one.role == "log" and one.text]
    by_tests = attempt.measurement == "scored" and any(one.kind == "tests" and one.failed for one in attempt.checks)
    if by_tests:
        logs = [one for one in logs if is_of_verifier(one[0].path)] or logs
    for artefact, text in logs:
        shown = own_output(_plain(text))
        yield from _lines(artefact.path, wash(_session(shown) if by_tests else shown), artefact.lines_before)


_STARTS = lazy_regex(r"^=+ test session starts =+", re.MULTILINE)


def _session(text: str) -> str:
    """From the first session of tests on, with its line numbers: a terminal's log begins with the subject's work."""
    start = _STARTS.search(text) if " test session starts =" in text else None
    return "\n" * text.count("\n", 0, start.start()) + text[start.start() :] if start else text


def _plain(text: str) -> str:
    return clean(text) if "\x1b" in text or "\x9b" in text else text


def _lines(path: str, text: str, before: int) -> Iterator[LogLine]:
    """What was raised below the first failed test before what tests that passed may have printed above it."""
    findings: list[LogLine] = []
    above: list[LogLine] = []
    below: list[LogLine] = []
    summary: list[LogLine] = []
    has_failed = is_next = False
    for number, line in _with_messages(text):
        has_failed = has_failed or _FAILED_TEST.match(line) is not None
        raised = (_EXCEPTION.match(line) or _ASSERTION.match(line)) if not is_announcement(line) else None
        # a server's error may be a sentence below its announcement
        raised = raised or (_SENTENCE.match(line) if is_next else None)
        is_next = is_announcement(line)
        match = raised or _FINDING.match(line)
        if match is None:
            listed = _SUMMARY.match(line)
            if listed is not None and len(summary) < MOST:
                words = one_line(listed[1])
                # cut to the width of a terminal, the message may be a part of the exception's name
                shown = words if len(words.split()) >= A_SENTENCE else one_line(line)
                summary.append(LogLine(f"{path}:{before + number}", shown, words, mask(words, strings=False)))
            continue
        error, where, shown = one_line(match[2]), f"{path}:{before + number}", one_line(match[1])
        if raised is None:
            findings.append(LogLine(where, shown, "", error))
        else:
            if not shown.startswith("Assertion") and not _SENTENCE_WORD.search(mask(error)):
                error = shown  # a message that is only data, as in `KeyError: 'name'`
            (below if has_failed else above).append(LogLine(where, shown, error, mask(error, strings=False)))
        if len(findings) + len(above) + len(below) >= MOST:
            break
    # in the order of the log where no test is named; linters run before tests
    yield from (*findings, *below, *above) if below else sorted((*findings, *above), key=_number)
    # a session without tracebacks still lists what was raised
    yield from summary if not (findings or above or below) else ()


_SENTENCE_WORD = lazy_regex(r"(?<![<\w])[A-Za-z]{3,}(?![>\w])")
# pytest's `E   AssertionError:` with its message on the next line
_BARE = lazy_regex(r"^E\s+(?:\w+\.)*\w*(?:Error|Exception|Failure): *$")
_GOES_ON = lazy_regex(r"^E\s+(\S.*)$")


def _with_messages(text: str) -> Iterator[tuple[int, str]]:
    bare: tuple[int, str] | None = None
    for number, line in _numbered(text):
        if bare is not None:
            following = _GOES_ON.match(line)
            yield (bare[0], f"{bare[1].rstrip()} {following[1]}") if following else bare
            bare = None
            if following:
                continue
        if _BARE.match(line):
            bare = number, line
        else:
            yield number, line
    if bare is not None:
        yield bare


def _numbered(text: str) -> Iterator[tuple[int, str]]:
    """Lines with the numbers that editors give them: a carriage return, or a form feed, begins no line of a file."""
    for number, line in enumerate(text.split("\n"), 1):
        yield from ((number, part) for part in line.splitlines())


def _number(line: LogLine) -> int:
    return int(line.where.rpartition(":")[2])
