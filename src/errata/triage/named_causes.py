"""Failures whose harness names the failed case that ended them, or whose leftovers were in their way."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from errata.model import Attempt, times
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import find_key_line

MOST_NAMES = 50_000
"""Names of failed cases that are kept; at most this many are needed to find one that a message names."""
MOST_LINES = 5
MOST_PIECES = 12
"""Of a name with hyphens."""
LINE = 1_000
READ = 20_000
"""Characters at the beginning of a log: there a harness states what an attempt starts from."""

_ENDED = lazy_regex(
    r"\b(?:abort|cancell?|terminat|stopp|interrupt|kill|skipp|bail)(?:ed|ing)\b|\b(?:shut(?:ting)?|tore|torn) ?down\b"
    r"|\bSIG(?:TERM|INT|KILL)\b|\bfail-?fast\b|\bnot (?:run|started|attempted|executed)\b",
    re.IGNORECASE,
)
_FAILED = lazy_regex(r"fail|crash|error|exception|timed out|time-?out|broke|died", re.IGNORECASE)
# what only one process can have at a time
_HELD = lazy_regex(
    r"(?:\bport |\b(?:127\.0\.0\.1|localhost):)(?P<port>\d{2,5})\b|\bpid (?P<pid>\d+)\b"
    r"|(?P<file>/[^\s'\"`:,;()]{1,300}\.(?:lock|pid|sock))\b|\bworktree at '(?P<folder>/[^'\n]{1,300})'",
    re.IGNORECASE,
)
_TAKEN = lazy_regex(
    r"already (?:in use|used|running|exists|locked|taken|checked out)|file exists"
    r"|still (?:running|listening|in use|held|locked)"
    r"|(?:could not|cannot|can't|failed to|unable to) (?:acquire|obtain|get|take|bind)"
    r"|could not be (?:acquired|obtained)|\bEADDRINUSE\b|held by"
    r"|\b(?:different|other|another) .{1,60}\b(?:running|listening) on\b",
    re.IGNORECASE,
)
# `base project: output of 008-app/000-base (status failed), 2 files copied: a.ts, b.ts`
_BUILT_ON = lazy_regex(
    r"^.{0,100}\b(?:output|files|answer|project|workspace|result) of \S{3,200} .{0,20}\bfailed\b.*$",
    re.IGNORECASE | re.MULTILINE,
)
_WORD = lazy_regex(r"[\w][\w./-]{1,200}")
# the name of a case, not a word that may be one by chance
_NAME = lazy_regex(r"(?=.*\d)(?=.*[A-Za-z]).+[-_/.].+")


class NamingLine(NamedTuple):
    """A line of the harness about a failure, with words that may be names of other cases."""

    attempt: str
    case: str
    session: int | None
    ended_at: str
    names: tuple[str, ...]
    where: str
    quote: str


class BlamedFailure(NamedTuple):
    root: str
    where: str
    quote: str


class _Failed(NamedTuple):
    attempt: str
    ended_at: str


class NamedCauses:
    """Watches the failures of a run: who names whom."""

    def __init__(self) -> None:
        self._lines: list[NamingLine] = []
        self._failed: dict[tuple[int | None, str], _Failed] = {}

    def add(self, attempt: Attempt) -> None:
        ended = _ended_at(attempt)
        if len(self._failed) < MOST_NAMES:
            for name in names_of(attempt.case):
                self._failed[attempt.session, name] = _Failed(attempt.id, ended)
        if len(self._lines) >= MOST_NAMES:
            return
        for where, line in islice(_telling_lines(attempt), MOST_LINES):
            own = names_of(attempt.case)
            names = tuple(name for name in _names_in(line) if name not in own and _NAME.fullmatch(name))
            if names:
                made = NamingLine(attempt.id, attempt.case, attempt.session, ended, names, where, line)
                self._lines.append(made)

    def causes(self) -> dict[str, BlamedFailure]:
        """Follower → the failed attempt of the same session that it names."""
        blamed: dict[str, BlamedFailure] = {}
        for line in self._lines:
            for name in line.names:
                root = self._failed.get((line.session, name))
                if root is None or root.attempt == line.attempt or _is_later(root.ended_at, line.ended_at):
                    continue
                blamed.setdefault(line.attempt, BlamedFailure(root.attempt, line.where, line.quote))
        return blamed


def names_of(case: str) -> tuple[str, ...]:
    """How a harness may call a case: whole, or by its last part where that is a name."""
    whole, last = case.partition("/")[2] or case, case.rpartition("/")[2]
    return tuple(name for name in dict.fromkeys((whole, last)) if _NAME.fullmatch(name))


def _names_in(line: str) -> Iterator[str]:
    """Its words; folders and programs carry a case's name behind a time or a prefix: `2026-06-20T14-00-00-case-7`."""
    for match in _WORD.finditer(line):
        word = match[0].rstrip("./-")
        yield word
        for part in word.split("/") if "/" in word else [word]:
            yield part
            pieces = part.split("-")
            yield from ("-".join(pieces[at:]) for at in range(1, min(len(pieces), MOST_PIECES)))


def _telling_lines(attempt: Attempt) -> Iterator[tuple[str, str]]:
    """Lines that say that something else ended the attempt, or what is in its way."""
    own = list(_own_lines(attempt)) if attempt.outcome == "none" or _failed_step(attempt) else []
    about_its_end = (*own, *_log_lines(attempt)) if attempt.execution == "cancelled" else own
    if attempt.outcome == "none":
        yield from ((where, line) for where, line in about_its_end if _ENDED.search(line) and _FAILED.search(line))
    yield from _built_on(attempt)
    taken = {held for _, line in own if _TAKEN.search(line) for held in held_in(line)}
    if taken:
        lines = (*own, *_log_lines(attempt))
        yield from ((where, line) for where, line in lines if not taken.isdisjoint(held_in(line)))


def _built_on(attempt: Attempt) -> Iterator[tuple[str, str]]:
    """Files of a failed case were laid under this one, and the error is in one of them."""
    keys = [find_key_line(one.explanation) for one in attempt.checks if one.kind == "step" and one.failed]
    files = [key.file for key in keys if key is not None and key.file]
    for artefact in attempt.artefacts if files else ():
        if artefact.role == "log" and artefact.text and "failed" in artefact.text:
            lines = [match[0][:LINE] for match in _BUILT_ON.finditer(artefact.text[:READ])]
            yield from ((artefact.path, line) for line in lines if any(file in line for file in files))


def held_in(line: str) -> set[str]:
    """Ports, processes and lock files in a text."""
    return {f"{match.lastgroup} {match[match.lastgroup or 0]}" for match in _HELD.finditer(line)}


def _failed_step(attempt: Attempt) -> bool:
    return any(check.kind == "step" and check.failed for check in attempt.checks)


def _own_lines(attempt: Attempt) -> Iterator[tuple[str, str]]:
    error = attempt.lasting_error
    if error is not None:
        where = f"errors[{attempt.errors.index(error)}].message"
        yield from ((where, line[:LINE]) for line in error.message.splitlines())
    for check in attempt.checks:
        if check.kind == "step" and check.failed:
            where = f"checks[{check.name}].explanation"
            yield from ((where, line[:LINE]) for line in check.explanation.splitlines())


def _log_lines(attempt: Attempt) -> Iterator[tuple[str, str]]:
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text:
            for number, line in enumerate(artefact.text.splitlines(), artefact.lines_before + 1):
                yield f"{artefact.path}:{number}", line[:LINE]


def _ended_at(attempt: Attempt) -> str:
    ended = attempt.finished_at or attempt.started_at or ""
    return "" if not ended or times.is_local(ended) else ended


def _is_later(root: str, follower: str) -> bool:
    return bool(root and follower and root > follower)
