"""Claude Code's `stream-json`: a session as the program prints it, even if a terminal has wrapped the lines."""

import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from errata.model import SourceRef, Step
from errata.sources.base import Row, decode, relative
from errata.sources.shared.transcripts.claude_code import ClaudeSession
from errata.sources.shared.values import mapping, sequence, text
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

FILE_CAP = 64 * 1024 * 1024
PARTS_CAP = 20_000
"""Wrapped lines of one object; a longer one is damaged."""
NARROWEST = 40

_BEGINS = lazy_regex(r'\{"type":\s?"(?:system|assistant|user|result|stream_event)"')
_MARKS = lazy_regex(r'\\.?|["{}]')
_ESCAPES = lazy_regex(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")


class AgentStream(NamedTuple):
    """What the program printed of its session."""

    steps: tuple[Step, ...]
    tools: int | None
    """How many tools it offered to the model; None where its first line is missing."""
    has_result: bool
    """It ended by itself: its last line is a result."""
    answer: str | None
    error: str
    """Its last line's message, where that reports an error."""
    ref: SourceRef


def stream_at(path: Path, *, root: Path) -> AgentStream | None:
    """None where the file holds no such lines. Lines that can't be decoded are left out."""
    try:
        if not path.is_file() or path.is_symlink() or path.stat().st_size > FILE_CAP:
            return None
        words = path.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None
    if '{"type":' not in words:
        return None
    name = relative(path, root)
    session = _StreamSession()
    session.read(Row(data, SourceRef(file=name, line=line)) for line, data in stream_objects(words))
    transcript = session.transcript()
    if not transcript.steps and session.tools is None:
        return None
    result = session.result
    answer = text(result.get("result")) if result else None
    failed = result.get("is_error") is True
    return AgentStream(
        steps=transcript.steps,
        tools=session.tools,
        has_result=bool(result),
        answer="" if answer == NO_CONTENT else answer,
        error=redact(answer or text(result.get("subtype"))) if failed else "",
        ref=SourceRef(file=name),
    )


NO_CONTENT = "(no content)"
"""Claude Code's word for an empty message."""


def stream_objects(words: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The number of the first line of each object, and the object.

    A terminal cuts a line at its width and drops the spaces at the end; where pieces do not make an object, they are
    left out.
    """
    lines = [_ESCAPES.sub("", line) if "\x1b" in line else line for line in words.replace("\r", "").split("\n")]
    width = _width_of(lines)
    parts: list[str] = []
    begun = 0
    braces = _Braces()
    for number, line in enumerate(lines, start=1):
        if _BEGINS.match(line):
            parts, begun, braces = [line], number, _Braces()
        elif parts:
            parts[-1] += " " * max(0, width - _columns(parts[-1]))
            parts.append(line)
        else:
            continue
        data = _object_in(line) if len(parts) == 1 and line.rstrip().endswith("}") else None
        if data is None and braces.close_in(line):
            data = _object_in("".join(parts))
            parts = []
        if data is not None:
            yield begun, data
        if data is not None or len(parts) > PARTS_CAP:
            parts = []


def _object_in(line: str) -> dict[str, Any] | None:
    try:
        data = decode(line.encode("utf-8", "replace"))
    except ValueError:
        return None
    return data if isinstance(data, dict) else None


class _Braces:
    """Finds the line that ends an object, so that it is decoded once and not at each line that ends in a brace."""

    def __init__(self) -> None:
        self._open = 0
        self._in_string = False
        self._is_escaped = False

    def close_in(self, line: str) -> bool:
        """Whether the first brace of the object is closed in this line, the next one of its lines."""
        start = 1 if self._is_escaped and line else 0
        self._is_escaped = self._is_escaped and not line
        for mark in _MARKS.finditer(line, start):
            match mark[0]:
                case "\\":
                    self._is_escaped = True
                case '"':
                    self._in_string = not self._in_string
                case "{" if not self._in_string:
                    self._open += 1
                case "}" if not self._in_string:
                    self._open -= 1
                    if not self._open:
                        return True
        return False


def _width_of(lines: list[str]) -> int:
    """Where most of the long lines end, if they were wrapped at all."""
    lengths = Counter(len(line) for line in lines if len(line) >= NARROWEST and line.isascii())
    following = [len(line) for line, after in pairwise(lines) if _BEGINS.match(line) and _continues(after)]
    longest = [length for length in following if length >= NARROWEST]
    if not longest:
        return 0
    return Counter(longest).most_common(1)[0][0] if len(longest) > 2 else max(longest, key=lambda one: lengths[one])


def _continues(line: str) -> bool:
    return bool(line) and not _BEGINS.match(line)


def _columns(line: str) -> int:
    if line.isascii():
        return len(line)
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else 0 if unicodedata.combining(char) else 1 for char in line
    )


class _StreamSession(ClaudeSession):
    def __init__(self) -> None:
        super().__init__()
        self.tools: int | None = None
        self.result: dict[str, Any] = {}
        self._below: int | None = None

    def _line(self, line: dict[str, Any], ref: SourceRef, agent: str) -> None:
        kind = text(line.get("type"))
        if kind == "result":
            self.result = line
            return
        if kind == "system":
            if text(line.get("subtype")) == "init":
                self.tools = len(sequence(line.get("tools")))
            return
        if kind not in ("assistant", "user") or not mapping(line.get("message")):
            return
        caller = text(line.get("parent_tool_use_id"))
        self._below = self._builder.step_of_call(caller) if caller else None
        own = {key: value for key, value in line.items() if key not in ("session_id", "parent_tool_use_id")}
        super()._line(own | {"sessionId": line.get("session_id")}, ref, agent)

    def _parent(self, _fields: dict[str, Any], _agent: str) -> int | None:
        return self._below
