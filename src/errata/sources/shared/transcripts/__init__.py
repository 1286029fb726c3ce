"""Sessions of coding agents, Claude Code and Codex: read on their own, or joined to results by a mapping."""

from pathlib import Path
from typing import Literal

from errata.sources.base import head_of
from errata.sources.shared.transcripts import claude_code, codex
from errata.sources.shared.transcripts.session import SessionTranscript

__all__ = ["Kind", "SessionTranscript", "is_part", "kind_of", "transcript_at"]

HEAD = 64 * 1024

Kind = Literal["Claude Code", "Codex"]


def kind_of(path: Path) -> Kind | None:
    head = head_of(path, HEAD)
    if not head.lstrip().startswith(b"{"):
        return None
    if codex.is_session(head):
        return "Codex"
    return "Claude Code" if claude_code.is_session(head) and not claude_code.is_subagent(head) else None


def is_part(path: Path) -> bool:
    """Whether it is the file of a subagent, which belongs to another session."""
    return claude_code.is_subagent(head_of(path, HEAD))


def transcript_at(path: Path, *, source: str, root: Path) -> SessionTranscript | None:
    """None if the file is not a session. Only the steps are held in memory."""
    kind = kind_of(path)
    if kind is None:
        return None
    read = codex.transcript_of if kind == "Codex" else claude_code.transcript_of
    return read(path, source=source, root=root)
