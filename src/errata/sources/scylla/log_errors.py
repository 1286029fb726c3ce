"""Exceptions in a thread log: equal ones of one test are kept once, with every tier and subtest they hit."""

import re
from dataclasses import dataclass, field

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.text.redact import redact

TRACEBACK_LINES = 200
ERROR_CAP = 2_000

_TYPED = re.compile(
    r"^(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Timeout\w*)): ?(?P<text>.*)$", re.S
)
_ERRNO = re.compile(r"^\[Errno (\d+)\] ")
_PHASE_OF_STAGE: dict[str, Phase] = {"WORKTREE": "setup", "AGENT": "subject", "JUDGE": "scoring"}


@dataclass
class _LoggedError:
    what: str
    where: str
    line: int
    at: str | None
    stage: str
    lines: list[str] = field(default_factory=list)


class LoggedErrors:
    """The errors of one block, in the order of the log."""

    def __init__(self) -> None:
        self._kept: list[_LoggedError] = []
        self._is_open = False
        self.left_out = 0

    def __bool__(self) -> bool:
        return bool(self._kept)

    def open(self, what: str, *, where: str, line: int, at: str | None, stage: str = "") -> None:
        """A new error line; its traceback may follow."""
        self._is_open = len(self._kept) < ERROR_CAP
        if self._is_open:
            self._kept.append(_LoggedError(what, where, line, at, stage))
        else:
            self.left_out += 1

    def continue_with(self, line: str) -> None:
        """A line of unknown format: part of the traceback of the error above it."""
        if self._is_open and len(self._kept[-1].lines) < TRACEBACK_LINES:
            self._kept[-1].lines.append(line)

    def close(self) -> None:
        self._is_open = False

    def infos(self, file: str) -> tuple[ErrorInfo, ...]:
        return tuple(_info(equal, file) for equal in self._group())

    def _group(self) -> list[list[_LoggedError]]:
        """Equal errors together. One without a traceback joins an earlier one with the same text."""
        groups: list[list[_LoggedError]] = []
        by_content: dict[tuple[str, tuple[str, ...]], list[_LoggedError]] = {}
        by_words: dict[str, list[_LoggedError]] = {}
        for error in self._kept:
            content = (error.what, tuple(error.lines))
            group = by_content.get(content) or (None if error.lines else by_words.get(error.what))
            if group is None:
                group = by_content[content] = []
                by_words.setdefault(error.what, group)
                groups.append(group)
            group.append(error)
        return groups


def split_exception(what: str) -> tuple[str, str]:
    """Splits `RuntimeError: no worktree` into type and text; an `[Errno 2]` gets Python's name for it."""
    if match := _TYPED.match(what):
        return match["type"].rpartition(".")[2], match["text"]
    if errno := _ERRNO.match(what):
        return type(OSError(int(errno[1][:6]), "")).__name__, what
    bare = what.strip()
    return (bare, "") if re.fullmatch(r"\w+(?:Error|Exception|Interrupt|Exit)", bare) else ("", what)


def _info(equal: list[_LoggedError], file: str) -> ErrorInfo:
    error = equal[0]
    kind, text = split_exception(error.what)
    own = own_frame(frames_of("\n".join(error.lines)))
    frame = own.location(own.file) if own else ""
    return ErrorInfo(
        type=kind or "Error",
        message=redact(_whole_message(kind, text, error.lines)),
        traceback=redact("\n".join(error.lines)),
        frame=frame,
        phase=_phase(error, frame),
        at=error.at,
        hits=tuple(dict.fromkeys(one.where for one in equal)),
        ref=SourceRef(file=file, line=error.line),
        extra={"hits": [{"where": one.where, "line": one.line} for one in equal], "count": len(equal)},
    )


def _whole_message(kind: str, text: str, lines: list[str]) -> str:
    """If the traceback ends in the same exception, its further lines belong to the message."""
    for place in range(len(lines) - 1, -1, -1):
        exception = split_exception(lines[place])
        if kind and exception[0] == kind and exception[1].strip() == text.strip():
            return "\n".join([text, *lines[place + 1 :]]).rstrip()
    return text


def _phase(error: _LoggedError, frame: str) -> Phase:
    """By the last logged stage; without one, only set-up or the loading of stored runs was in progress."""
    if error.stage in _PHASE_OF_STAGE:
        return _PHASE_OF_STAGE[error.stage]
    if re.search(r"judge", frame):
        return "scoring"
    return "aggregation" if re.search(r"load|report|aggregat", frame.rpartition(" in ")[2]) else "setup"
