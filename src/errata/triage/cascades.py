"""Failures that follow from another one: on what a crash left behind, or on the case that their own log names."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from errata.model import Attempt, times
from errata.text.lazy_regex import lazy_regex
from errata.text.mask import mask
from errata.text.tool_output import find_key_line, key_line
from errata.triage.places import phase_of

FOLLOWERS = 2
"""At least two crashes on the same leftovers make a cascade."""
MOST_CRASHES = 50_000
"""At most this many are kept; a cascade shows itself long before."""
# what a crash leaves behind, for the next attempts to stumble over
_LEFT_OVER = lazy_regex(
    r"already exists|file exists|index\.lock|already in use|already checked out|is locked|lock file|left over"
    r"|not clean|(?:could not|cannot|can't|failed to|unable to) (?:acquire|obtain|get|take) \S{0,300}lock\b"
    r"|\block\b.{0,300}\b(?:could not|cannot|can't) be (?:acquired|obtained|taken)",
    re.IGNORECASE,
)
# two may wait for one lock in different words
_LOCK = lazy_regex(r"\S{1,300}\.lock\b")
_RELEASED = lazy_regex(r"(?<!not )(?<!never )(?<!not been )(?:releas|remov|delet|free[ds]|unlock)", re.IGNORECASE)
# the name of a case, not a word that may be one by chance
_NAME = lazy_regex(r"(?<![\w./-])(?=[\w-]{0,100}\d)[A-Za-z]\w{0,100}[_-][\w-]{1,100}(?![\w/-])")


class _Crash(NamedTuple):
    attempt: str
    case: str
    message: str
    raised_at: str | None
    ended_at: str | None
    in_harness: bool = True
    """Not while a model or a judge was asked: those leave less behind."""
    session: int | None = None
    started_at: str | None = None
    locks: frozenset[str] = frozenset()
    """Lock files that its log names, and not as released."""

    @property
    def is_follower(self) -> bool:
        return _LEFT_OVER.search(self.message) is not None


class CrashSurvey:
    """Crashes of a run, and when attempts worked; without times nothing is known of what came before what."""

    def __init__(self) -> None:
        self._crashes: list[_Crash] = []
        self._full: list[FullDisk] = []
        self._worked: list[str] = []

    def add(self, attempt: Attempt) -> None:
        disk = full_disk_of(attempt)
        if disk is not None and len(self._full) < MOST_CRASHES:
            self._full.append(disk)
        if attempt.outcome != "none":
            if full_disk_error(attempt) is None:
                self.add_working(attempt)
            return
        error = attempt.lasting_error
        if error is not None and len(self._crashes) < MOST_CRASHES and (error.at or attempt.started_at):
            ended = attempt.finished_at or attempt.started_at
            in_harness = phase_of(error) not in ("subject", "scoring")
            crash = _Crash(attempt.id, attempt.case, error.message, error.at, ended, in_harness, attempt.session)
            locks = frozenset(_locks_kept(attempt))
            self._crashes.append(crash._replace(started_at=attempt.started_at, locks=locks))

    def add_working(self, attempt: Attempt) -> None:
        """Nothing was in the way of this one."""
        if attempt.started_at and not times.is_local(attempt.started_at):
            self._worked.append(attempt.started_at)

    @property
    def has_followers(self) -> bool:
        """By what is known so far; attempts that worked may still show otherwise."""
        return bool(self.still_full() or self.roots())

    def still_full(self) -> dict[str, str]:
        """Follower → the attempt that found the disk full first."""
        return still_full(self._full, sorted(self._worked)) if len(self._full) > 1 else {}

    def roots(self) -> dict[str, str]:
        """Follower → the attempt that crashed first."""
        if not any(one.is_follower for one in self._crashes):
            return {}
        timed = sorted(_timed(self._crashes), key=lambda pair: pair[0])
        others = [(at, crash) for at, crash in timed if not crash.is_follower]
        by_shape: dict[str, list[tuple[str, _Crash]]] = {}
        for at, crash in timed:
            if crash.is_follower:
                by_shape.setdefault(_shape(crash.message), []).append((at, crash))
        worked = sorted(self._worked) if all(crash.ended_at for _, crash in timed) else []
        roots: dict[str, str] = {}
        for followers in by_shape.values():
            if len(followers) >= FOLLOWERS:
                for part in _apart(followers, worked):
                    root = _named_in(part, others) or _last_before(part[0][0], others)
                    roots |= {crash.attempt: root for _, crash in part if root}
            for at, crash in followers:
                if crash.attempt not in roots and (holder := _holder(at, crash, others, worked)):
                    roots[crash.attempt] = holder
        return roots


def _locks_kept(attempt: Attempt) -> Iterator[str]:
    """Lock files that the attempt's own log names; the last line about each does not say that it was released."""
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text and ".lock" in artefact.text:
            lines = artefact.text.splitlines()
            last = {_lock_in(match[0]): line for line in lines for match in _LOCK.finditer(line)}
            yield from (lock for lock, line in last.items() if lock.startswith("/") and not _RELEASED.search(line))


def _lock_in(word: str) -> str:
    return word.lstrip("'\"`(,")


def _holder(at: str, follower: _Crash, crashes: list[tuple[str, _Crash]], worked: list[str]) -> str:
    """The last crash of the session whose log names the very lock that one attempt alone stumbled over.

    An attempt that began to work in between shows that nothing was in the way.
    """
    lock = _LOCK.search(follower.message)
    name = _lock_in(lock[0]) if lock else ""
    before = [(time, one) for time, one in crashes if time <= at and name in one.locks]
    same = [(time, one) for time, one in before if one.session == follower.session and one.case != follower.case]
    if not name or not same:
        return ""
    root, until = same[-1][1], follower.started_at or follower.ended_at or ""
    between = bisect_right(worked, until) - bisect_right(worked, root.ended_at or "")
    return root.attempt if between <= 0 else ""


def _shape(message: str) -> str:
    lock = _LOCK.search(message)
    return lock[0] if lock else mask(message)


def _timed(crashes: Sequence[_Crash]) -> Iterator[tuple[str, _Crash]]:
    """On one clock: when they were raised, where all of them state it alike; else when they ended."""
    raised = [crash.raised_at for crash in crashes]
    same_clock = all(raised) and len({times.is_local(at) for at in raised if at}) == 1
    for crash in crashes:
        at = crash.raised_at if same_clock else crash.ended_at or crash.raised_at
        if at:
            yield at, crash


def _apart(followers: list[tuple[str, _Crash]], worked: list[str]) -> Iterator[list[tuple[str, _Crash]]]:
    """One cascade after the other: an attempt that worked in between shows that the leftovers were gone."""
    parts = [[followers[0]]]
    for before, after in pairwise(followers):
        gap = bisect_right(worked, after[1].ended_at or "") - bisect_right(worked, before[1].ended_at or "")
        if gap > 0:
            parts.append([])
        parts[-1].append(after)
    alone: list[tuple[str, _Crash]] = []
    for part in parts:
        if len(part) < FOLLOWERS:
            alone += part
        else:
            yield [*alone, *part]
            alone = []
    if len(alone) >= FOLLOWERS:
        yield alone


def _named_in(followers: list[tuple[str, _Crash]], crashes: list[tuple[str, _Crash]]) -> str:
    """The earlier crash whose case a follower's message names, as in `held by pid 48211 (test-021)`."""
    first = followers[0][0]
    names = {crash.case.rpartition("/")[2]: crash.attempt for at, crash in crashes if at <= first}
    words = (word for _, follower in followers for word in _NAME.findall(follower.message))
    return next((names[word] for word in words if word in names), "")


def _last_before(at: str, crashes: list[tuple[str, _Crash]]) -> str:
    before = [crash for time, crash in crashes if time <= at]
    likely = [crash for crash in before if crash.in_harness] or before
    return likely[-1].attempt if likely else ""


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
_CASE_NAME = lazy_regex(r"(?=.*\d)(?=.*[A-Za-z]).+[-_/.].+")


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
            names = tuple(name for name in _names_in(line) if name not in own and _CASE_NAME.fullmatch(name))
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
    return tuple(name for name in dict.fromkeys((whole, last)) if _CASE_NAME.fullmatch(name))


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
    own = (
        list(_own_lines(attempt))
        if attempt.outcome == "none" or any(check.kind == "step" and check.failed for check in attempt.checks)
        else []
    )
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


_FULL = lazy_regex(
    r"no space left on device|\bENOSPC\b|disk quota exceeded|\bEDQUOT\b|database or disk is full"
    r"|(?:disk|volume) is full|not enough space on the disk|out of disk space",
    re.IGNORECASE,
)
# a disk in memory, or one that each attempt has for itself: nobody else filled it
_OWN_DISK = lazy_regex(
    r"/shm\b|\b(?:daytona|modal|e2b|runloop|kubernetes|kubectl)\b|\b(?:pod|sandbox)\b", re.IGNORECASE
)


class FullDisk(NamedTuple):
    """An attempt that a full disk ended."""

    attempt: str
    session: int | None
    ended_at: str


def full_disk_error(attempt: Attempt) -> tuple[str, str] | None:
    """Where the attempt states that a full disk of the machine ended it, and the message."""
    error = attempt.lasting_error
    if error is not None and attempt.outcome == "none":
        where, message, more = f"errors[{attempt.errors.index(error)}].message", error.message, error.traceback
    else:
        step = next((check for check in attempt.checks if check.kind == "step" and check.failed), None)
        if step is None:
            return None
        where, message, more = f"checks[{step.name}].explanation", key_line(step.explanation), ""
    is_full = _FULL.search(message) and not _OWN_DISK.search(message) and not _OWN_DISK.search(more)
    return (where, message) if is_full else None


def full_disk_of(attempt: Attempt) -> FullDisk | None:
    """None without a time on the clock of the world: then nothing is known of what came first."""
    ended = attempt.finished_at or attempt.started_at
    if not ended or times.is_local(ended) or full_disk_error(attempt) is None:
        return None
    return FullDisk(attempt.id, attempt.session, ended)


def still_full(disks: Iterable[FullDisk], worked: Sequence[str]) -> dict[str, str]:
    """Follower → the first that found the disk full, in the same session and before the next attempt that worked.

    `worked` holds, sorted, when the attempts began that were measured.
    """
    roots: dict[str, str] = {}
    first: dict[int | None, FullDisk] = {}
    for disk in sorted(disks, key=lambda one: one.ended_at):
        root = first.get(disk.session)
        if root is None or bisect_right(worked, disk.ended_at) > bisect_right(worked, root.ended_at):
            first[disk.session] = disk
        else:
            roots[disk.attempt] = root.attempt
    return roots
