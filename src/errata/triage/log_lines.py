"""The lines of an attempt's own logs that say what is wrong, where its checks only say that something is."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from errata.model import Attempt
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
