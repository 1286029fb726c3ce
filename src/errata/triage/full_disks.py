"""A disk that was already full: later failures follow from the first, until an attempt shows that there was space."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from errata.model import Attempt, times
from errata.text.lazy_regex import lazy_regex
from errata.text.tool_output import key_line

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
