"""The single tests in a verifier's log: those that failed, the error of each, and the line that raised it."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from errata.model import Artefact, Attempt
from errata.text.clean import clean
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import mask
from errata.text.pytest_output import own_output
from errata.transcript.error_text import is_of_verifier

READ = 400_000
HELD = 64
"""Logs whose failed tests are kept: several rules ask for those of one attempt."""

# pytest's heading of one failure, its error lines, and the lines that name a place
_HEADING = lazy_regex(
    r"^_{3,} (?P<collected>ERROR (?:collecting|at setup of|at teardown of) )?(?P<name>\S[^\n]{0,300}?) _{3,}[ \t]*$"
    r"|^={3,} [^\n]{0,300}$",
    re.MULTILINE,
)
_CAPTURED = lazy_regex(r"^-{3,} Captured ", re.MULTILINE)
_ERROR = lazy_regex(r"^E {1,12}(\S[^\n]{0,2000})$", re.MULTILINE)
_PLACE = lazy_regex(
    r"^(?P<file>[^\s:][^:\n]{0,300}):(?P<line>\d{1,7}): ?(?:in (?P<function>\S+)|(?P<type>[\w.]+))?[ \t]*$",
    re.MULTILINE,
)
# what pytest prints below a fixture that it can't find
_PLACE_ALONE = lazy_regex(
    r"^(?P<file>[^\s:]{1,300}\.py):(?P<line>\d{1,7})(?P<function>)(?P<type>)[ \t]*$", re.MULTILINE
)
# an exception was raised while another one was handled: the last one failed the test
_CHAINED = lazy_regex(
    r"^(?:During handling of the above exception, another exception occurred"
    r"|The above exception was the direct cause of the following exception):[ \t]*$",
    re.MULTILINE,
)
_SOURCE = lazy_regex(r"^>[ \t]{1,12}(\S[^\n]{0,500})$", re.MULTILINE)
_TYPE = lazy_regex(r"(?:[A-Za-z_]\w*\.)*([A-Z]\w*(?:Error|Exception|Failed|Exit|Interrupt|Warning|Timeout))\b")


class FailedTest(NamedTuple):
    name: str
    is_collected: bool
    """False for a file that could not be collected, and for set-up and clean-up: no test ran there."""
    error: str
    """The name of the exception."""
    message: str
    """The first line of the error; of the last one where several are chained."""
    file: str
    """Of the innermost frame."""
    line: int
    function: str
    source: str
    """The line of code that raised, where the log shows it."""
    text: str
    offset: int
    """Where in the log its error is."""

    @property
    def shape(self) -> tuple[str, str]:
        """What two failures for the same reason share."""
        return self.name, mask(self.message, strings=False)


def verifier_logs(attempt: Attempt) -> Iterator[tuple[Artefact, str]]:
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text and is_of_verifier(artefact.path):
            yield artefact, own_output(plain(artefact.text))


def plain(text: str) -> str:
    """A terminal's log without colours: they stand between the words that a pattern looks for."""
    return _cleaned(text) if "\x1b" in text or "\x9b" in text else text


@lru_cache(maxsize=8)
def _cleaned(text: str) -> str:
    """Kept, because several rules read the same logs of one attempt."""
    return clean(text)


def failed_tests(attempt: Attempt) -> list[tuple[str, FailedTest]]:
    """Each with the place of its error; from the verifier's logs, else from what the checks have recorded."""
    in_logs = [
        (f"{artefact.path}:{artefact.line_at(text, test.offset)}", test)
        for artefact, text in verifier_logs(attempt)
        for test in tests_in(text)
    ]
    if in_logs:
        return in_logs
    return [
        (f"checks[{check.name}].explanation", test._replace(name=check.name.rpartition("::")[2]))
        for check in attempt.checks
        if check.kind == "tests" and check.failed and check.explanation
        for test in (_failed_test("", check.explanation, 0, is_collected=True),)
    ]


@lru_cache(maxsize=HELD)
def tests_in(log: str) -> tuple[FailedTest, ...]:
    """The failures that pytest prints in full."""
    if "\nE " not in log:
        return ()
    log = log[:READ]
    headings = list(_HEADING.finditer(log))
    failures = []
    for heading, following in zip_longest(headings, headings[1:]):
        if heading["name"]:
            body = log[heading.end() : following.start() if following else len(log)]
            failures.append(
                _failed_test(heading["name"], body, heading.end(), is_collected=heading["collected"] is None)
            )
    # with -rA, pytest has a heading for the output of each test that passed, too
    return tuple(test for test in failures if test.message or test.error)


def _failed_test(name: str, body: str, offset: int, *, is_collected: bool) -> FailedTest:
    captured = _CAPTURED.search(body)
    body = body[: captured.start()] if captured else body
    start = _last_exception(body)
    errors = list(_ERROR.finditer(body, start))
    message = errors[0][1].strip() if errors else ""
    places = [place for place in _PLACE.finditer(body, start) if place["file"].strip("_ ")]
    places = places or list(_PLACE_ALONE.finditer(body, start))
    inner = places[-1] if places else None
    sources = _SOURCE.findall(body, start)
    kind = _TYPE.match(message)
    named = (inner["type"] or "").rpartition(".")[2] if inner else ""
    return FailedTest(
        name=name,
        is_collected=is_collected,
        error=kind[1] if kind else named,
        message=message,
        file=inner["file"].strip() if inner else "",
        line=int(inner["line"]) if inner else 0,
        function=(inner["function"] or "") if inner else "",
        source=sources[-1].strip() if sources else _line_after(body, inner),
        text=body,
        offset=offset + (errors[0].start() if errors else 0),
    )


def _last_exception(body: str) -> int:
    starts = [chained.end() for chained in _CHAINED.finditer(body)] if " above exception" in body else []
    return starts[-1] if starts and _ERROR.search(body, starts[-1]) else 0


def _line_after(body: str, place: re.Match[str] | None) -> str:
    """pytest's short form prints the code below the place."""
    return body[place.end() :].lstrip("\n").partition("\n")[0].strip() if place else ""
