"""Sessions of Claude Code and Codex on their own, without results."""

import re
from collections.abc import Collection, Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "coding-sessions"
TITLE = "Claude Code and Codex: sessions; a mapping joins them to a file of results"
HARNESS = Harness(name=NAME, title=NAME)

ABOVE = 3
LOOKS = 10
HEAD = 16 * 1024
SESSION_HEAD = 64 * 1024

_JOINS = lazy_regex(rb"^transcript\s*=", re.MULTILINE)
_SIGNS = (b'"sessionId"', b'"session_meta"')
"""Every session contains one of these near its start."""


def recognise(path: Path) -> Match | None:
    if not _may_be_session(path):
        return None
    from errata.sources.shared.transcripts import kind_of

    try:
        kind = kind_of(path)
        if kind is None or _mapping_above(path) is not None:
            return None
    except (OSError, ValueError):
        return None
    return Match.sure(f"a session of {kind}")


def explain(path: Path) -> str | None:
    if not _may_be_session(path):
        return None
    from errata.sources.shared.transcripts import is_part, kind_of

    try:
        if is_part(path):
            return "this is the transcript of a subagent: import the session that called it, which includes it"
        above = _mapping_above(path) if kind_of(path) else None
    except (OSError, ValueError):
        return None
    return f"it belongs to the results that `{above.name}` describes: import these" if above else None


def belongs_to(path: Path, readable: Collection[Path]) -> bool:
    """Whether one of these is the session that called a subagent, or holds the results of a session."""
    if not _may_be_session(path):
        return False
    from errata.sources.shared.transcripts import is_part

    try:
        if is_part(path):
            return any(path.absolute().is_relative_to(session.absolute().parent) for session in readable)
        above = _mapping_above(path)
    except (OSError, ValueError):
        return False
    return above is not None and any(one.absolute().is_relative_to(above.parent) for one in readable)


def _may_be_session(path: Path) -> bool:
    """A cheap check before the session readers are imported."""
    head = head_of(path, SESSION_HEAD)
    return head.lstrip().startswith(b"{") and any(sign in head for sign in _SIGNS)


def _mapping_above(path: Path) -> Path | None:
    """A mapping that joins sessions to results; such sessions are not separate runs."""
    for folder in path.absolute().parents[:ABOVE]:
        for mapping_file in sorted(folder.glob("*.map.toml"))[:LOOKS]:
            if _JOINS.search(head_of(mapping_file, HEAD)):
                return mapping_file
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.coding_sessions.reader import read as read_log

    return read_log(path)
