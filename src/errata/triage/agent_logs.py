"""What an agent did, where the log keeps no transcript but what the agent's own program printed as JSON."""

import json
import re
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import NamedTuple

from errata.model import Attempt, ToolCall
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import beginning

MOST_TEXT = 4_000_000
MOST_CALLS = 500
_AGENTS = lazy_regex(r"(?:^|/)(?:sessions|agent[-_]logs?|agent)/|post-agent\.\w+$", re.IGNORECASE)
_CALL = lazy_regex(r'"name":\s?"(\w{1,60})",\s?"input":\s?(?=\{)')
# the last line that a coding agent prints: how it ended, and what it spent
_RESULT = lazy_regex(r'\{"type":\s?"result",.{0,4000}?"usage":\s?\{.{0,400}?"output_tokens":\s?(\d+)')
_FAILED = '"is_error":true'


class LoggedCall(NamedTuple):
    where: str
    """The file and the line."""
    call: ToolCall


class PrintedLog:
    """A log without the line breaks that a terminal put into long lines."""

    def __init__(self, path: str, text: str, lines_before: int = 0) -> None:
        self.path = path
        self._printed = text[-MOST_TEXT:]
        self._lines_before = lines_before + text.count("\n", 0, -MOST_TEXT)
        self.text = self._printed.replace("\n", "")

    def line(self, at: int) -> int:
        return self._lines_before + bisect_right(self._ends, at) + 1

    @cached_property
    def _ends(self) -> list[int]:
        """Where each line but the last one ends in the text without line breaks."""
        return list(accumulate(map(len, self._printed.split("\n")[:-1])))


_printed_log = lru_cache(maxsize=4)(PrintedLog)
"""Several rules read the same logs of one attempt."""


def agent_logs(attempt: Attempt) -> Iterator[PrintedLog]:
    """Only where there is no transcript: there the calls are known."""
    if attempt.steps:
        return
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text and _AGENTS.search(artefact.path) and '"type":' in artefact.text:
            yield _printed_log(artefact.path, artefact.text, artefact.lines_before)


def logged_calls(attempt: Attempt) -> Iterator[LoggedCall]:
    decoder = json.JSONDecoder()
    for log in agent_logs(attempt):
        for number, match in enumerate(_CALL.finditer(log.text)):
            if number >= MOST_CALLS:
                break
            try:
                arguments, _ = decoder.raw_decode(log.text, match.end())
            except (ValueError, RecursionError):
                continue
            yield LoggedCall(f"{log.path}:{log.line(match.start())}", ToolCall(name=match[1], arguments=arguments))


def nothing_was_done(attempt: Attempt) -> tuple[str, str] | None:
    """Where the agent's program states itself that it failed and that the model wrote nothing: place and words."""
    for log in agent_logs(attempt):
        ends = list(_RESULT.finditer(log.text))
        if ends and all(int(end[1]) == 0 for end in ends) and not _CALL.search(log.text):
            last = ends[-1]
            if _FAILED in last[0].replace(" ", ""):
                return f"{log.path}:{log.line(last.start())}", beginning(last[0], 160)
    return None
