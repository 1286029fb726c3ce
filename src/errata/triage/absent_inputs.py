"""Files that the task gives and the subject did not find, and subjects that ended with a question to the user."""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

from errata.model import Attempt, Case
from errata.text.lazy_regex import lazy_regex
from errata.transcript.tool_use import ToolUse, is_agent, tool_uses
from errata.triage.expected import task_text

# tried from the first character of a path only, because rulers and tables consist of the same characters
PATHS_IN_TASK = lazy_regex(
    r"(?<![\w./+@-])/?(?:[\w.+@-]{1,200}/){0,40}\.?[\w+@-]{1,200}(?:\.[\w+-]{1,100}){1,10}(?![\w/])"
)
_ABSENT = lazy_regex(
    r"\b(?:file (?:does not|doesn't) exist|no such file or directory|file not found|FileNotFoundError)\b", re.IGNORECASE
)
# the task asks for what these words stand before
_MADE = lazy_regex(
    r"\b(?:writ|creat|sav|output|produc|generat|stor|call|nam|implement|build|compil|put|add|mak|plac|export|deliver"
    r"|record|print|dump|into\b|as\b)",
    re.IGNORECASE,
)
_SENTENCE_END = lazy_regex(r"[.!?:](?=\s)|\n")
_ASKS_USER = lazy_regex(
    r"\bplease (?:confirm|provide|clarify|specify|advise|upload|share)\b"
    r"|\b(?:should|shall|may) (?:i|we) [^?\n]{2,300}\?|\bdo you want (?:me|us) to [^?\n]{2,300}\?",
    re.IGNORECASE,
)
ENDING = 1_500
BEFORE = 400
"""Characters of a sentence before the file that it names."""


class AbsentInput(NamedTuple):
    name: str
    step: int
    quote: str


def absent_input(attempt: Attempt, case: Case, looked_for: Collection[str]) -> AbsentInput | None:
    """A file that the task names as given: the subject did not find it, and no result shows that it was there.

    `looked_for` are names that the tests did not find: the subject had to write these.
    """
    given = [path for path in given_paths(task_text(case)) if _name(path) not in looked_for]
    if not given or not attempt.steps:
        return None
    uses = tool_uses(attempt.steps)
    for path in given:
        refused = next((use for use in uses if _finds_no(path, use)), None)
        if refused is not None and not any(_finds(path, use) for use in uses):
            return AbsentInput(_name(path), refused.step.index, (refused.error or refused.reply or "").strip())
    return None


@lru_cache(maxsize=500)
def given_paths(task: str) -> tuple[str, ...]:
    """The files that a task names without asking for them in any of its sentences."""
    paths: dict[str, None] = {}
    made: set[str] = set()
    for match in PATHS_IN_TASK.finditer(task):
        paths[match[0]] = None
        if _MADE.search(_SENTENCE_END.split(task[max(0, match.start() - BEFORE) : match.start()])[-1]):
            made.add(_name(match[0]))
    return tuple(path for path in paths if _name(path) not in made)


def asks_the_user(attempt: Attempt) -> bool:
    """The subject's last turn is a question to the user, not a report of its work."""
    last = next((step for step in reversed(attempt.steps) if is_agent(step)), None)
    return last is not None and not last.tool_calls and _ASKS_USER.search(last.text[-ENDING:]) is not None


def _finds_no(path: str, use: ToolUse) -> bool:
    reply = use.reply or ""
    if not _ABSENT.search(reply):
        return False
    return _is_at(path, use) or any(_name(path) in line for line in _absences(reply))


def _finds(path: str, use: ToolUse) -> bool:
    """The file was read, written or listed."""
    if use.error or use.reply is None:
        return False
    if _is_at(path, use):
        return not _ABSENT.search(use.reply)
    return any(_name(path) in line and not _ABSENT.search(line) for line in use.reply.splitlines())


def _absences(reply: str) -> Iterator[str]:
    return (line for line in reply.splitlines() if _ABSENT.search(line))


def _is_at(path: str, use: ToolUse) -> bool:
    """Whether an argument of the call is that path, or one with its name where the task gives no folder."""
    arguments = use.arguments if isinstance(use.arguments, dict) else {}
    stated = [value for value in arguments.values() if isinstance(value, str)]
    return any(value == path or (not path.startswith("/") and _name(value) == _name(path)) for value in stated)


def _name(path: str) -> str:
    return path.rpartition("/")[2]
