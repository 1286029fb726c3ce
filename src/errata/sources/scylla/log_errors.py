"""Errors in a thread log: equal ones of one test are kept once, with every tier and subtest they hit.

An error that the test overcame is kept as recovered, behind those that it did not overcome.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.sources.scylla.log_lines import (
    ALL_JUDGES_FAILED,
    AT_JUDGED,
    INTERRUPTED,
    JUDGE_FAILED,
    JUDGE_NOT_EQUIPPED,
    JUDGE_RATE_LIMIT,
    JUDGE_UNPARSED,
    LOW_RESOURCES,
    NEVER,
    Progress,
)
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

TRACEBACK_LINES = 200
ERROR_CAP = 2_000
PROGRESS_CAP = 10_000

_TYPED = lazy_regex(
    r"^(?P<type>[A-Za-z_][\w.]{0,200}(?:Error|Exception|Interrupt|Exit|Warning|Timeout\w{0,50})): ?(?P<text>.*)$", re.S
)
_ERRNO = lazy_regex(r"^\[Errno (\d+)\] ")
_PHASE_OF_STAGE: dict[str, Phase] = {"WORKTREE": "setup", "AGENT": "subject", "JUDGE": "scoring"}
_OF_SETUP = lazy_regex(r"\bworktree\b|\bclone\b")
"""Steps that only the set-up of a run takes, whichever part of the runner writes about them."""
_PART = lazy_regex(r"T\d+(?:/|$)")
_TRACEBACK = "Traceback (most recent call last):"
MESSAGE_LINES = 20
_OF_JUDGES = frozenset((ALL_JUDGES_FAILED, JUDGE_FAILED, JUDGE_UNPARSED, JUDGE_RATE_LIMIT, JUDGE_NOT_EQUIPPED))

_ALL_JUDGES = (ALL_JUDGES_FAILED, JUDGE_RATE_LIMIT, JUDGE_NOT_EQUIPPED)
"""One line of these is about every judge of a run."""


@dataclass
class LoggedError:
    what: str
    where: str
    """The part that it hit, such as `T0/00`; else the logger, or the step of the runner."""
    line: int
    at: str | None = None
    phase: Phase = "aggregation"
    kind: str = ""
    """Where the runner's own words say what it is: the type of the error."""
    stage: str = ""
    overcome_at: int = NEVER
    is_fatal: bool = False
    judge: int = 0
    lines: list[str] = field(default_factory=list)
    is_overcome: bool = False


class LoggedErrors:
    """The errors of one block, in the order of the log."""

    def __init__(self) -> None:
        self._kept: list[LoggedError] = []
        self._progress: list[tuple[int, Progress]] = []
        self._is_open = False
        self._is_settled = False
        self.left_out = 0
        self.stored_verdicts = 0
        """Runs of an earlier session whose judgment is used again."""

    def __bool__(self) -> bool:
        return bool(self._kept)

    def open(self, error: LoggedError) -> None:
        """A new error line; its traceback may follow."""
        self._is_open = len(self._kept) < ERROR_CAP
        if self._is_open:
            self._kept.append(error)
        else:
            self.left_out += 1

    def continue_with(self, line: str) -> None:
        """A line of unknown format: part of the traceback of the error above it."""
        if self._is_open and len(self._kept[-1].lines) < TRACEBACK_LINES:
            self._kept[-1].lines.append(line)

    def close(self) -> None:
        self._is_open = False

    def advance(self, line: int, progress: Progress) -> None:
        if len(self._progress) < PROGRESS_CAP:
            self._progress.append((line, progress))

    @property
    def is_interrupted(self) -> bool:
        """Stopped on purpose, to be resumed."""
        return any(one.kind == INTERRUPTED for one in self._settled)

    @property
    def gave_up(self) -> bool:
        """The test or a tier was given up, or every part of it that is known was hit."""
        lasting = [one for one in self._settled if not one.is_overcome and one.kind not in _OF_JUDGES]
        if any(one.is_fatal for one in lasting):
            return True
        hit = {one.where for one in lasting if "/" in one.where}
        return bool(hit) and hit >= {progress.part for _, progress in self._progress if progress.part}

    @property
    def has_no_verdict(self) -> bool:
        """Judging broke in every run that was judged."""
        broken = self._runs_without_verdict()
        return broken > 0 and broken >= self._judged

    @property
    def _judged(self) -> int:
        return self.stored_verdicts + sum(progress.level == AT_JUDGED for _, progress in self._progress)

    def _runs_without_verdict(self) -> int:
        """By the line about all judges, or where each judge of a run failed or gave nothing that can be parsed."""
        lasting = [one for one in self._settled if not one.is_overcome]
        stated = max(sum(one.kind == kind for one in lasting) for kind in _ALL_JUDGES)
        judges = [one.judge for one in lasting if one.kind == JUDGE_FAILED]
        each = min((judges.count(number) for number in range(1, max(judges, default=0) + 1)), default=0)
        unparsed = any(one.kind == JUDGE_UNPARSED for one in lasting)
        return max(stated, each, int(unparsed))

    def infos(self, file: str, *, measured: bool = False) -> tuple[ErrorInfo, ...]:
        """Those that lasted first. Where the test was measured, none of them did."""
        groups = self._group()
        infos = [_info(equal, file, recovered=measured or all(one.is_overcome for one in equal)) for equal in groups]
        return tuple(sorted(infos, key=lambda info: (info.recovered, info.type == LOW_RESOURCES)))

    @property
    def _settled(self) -> Sequence[LoggedError]:
        if not self._is_settled:
            self._is_settled = True
            for error in self._kept:
                error.is_overcome = any(_overcomes(later, error) for later in self._progress)
        return self._kept

    def _group(self) -> list[list[LoggedError]]:
        """Equal errors together. One without a traceback joins an earlier one with the same text."""
        groups: list[list[LoggedError]] = []
        by_content: dict[tuple[str, tuple[str, ...], bool], list[LoggedError]] = {}
        by_words: dict[tuple[str, bool], list[LoggedError]] = {}
        for error in self._settled:
            content = (error.what, tuple(error.lines), error.is_overcome)
            words = (error.what, error.is_overcome)
            group = by_content.get(content) or (None if error.lines else by_words.get(words))
            if group is None:
                group = by_content[content] = []
                by_words.setdefault(words, group)
                groups.append(group)
            group.append(error)
        return groups


def _overcomes(later: tuple[int, Progress], error: LoggedError) -> bool:
    """Progress of the same part, or of one in the same tier; a line without a part may be about any."""
    line, progress = later
    if line <= error.line or progress.level < error.overcome_at:
        return False
    if not _PART.match(error.where) or not progress.part:
        return True
    return progress.part == error.where or progress.part.startswith(f"{error.where}/")


def split_exception(what: str) -> tuple[str, str]:
    """Splits `RuntimeError: no worktree` into type and text; an `[Errno 2]` gets Python's name for it."""
    if match := _TYPED.match(what):
        return match["type"].rpartition(".")[2], match["text"]
    if errno := _ERRNO.match(what):
        return type(OSError(int(errno[1][:6]), "")).__name__, what
    bare = what.strip()
    return (bare, "") if re.fullmatch(r"\w+(?:Error|Exception|Interrupt|Exit)", bare) else ("", what)


def _info(equal: list[LoggedError], file: str, *, recovered: bool) -> ErrorInfo:
    error = equal[0]
    kind, text = (error.kind, error.what) if error.kind else split_exception(error.what)
    own = own_frame(frames_of("\n".join(error.lines)))
    frame = own.location(own.file) if own else ""
    return ErrorInfo(
        type=kind or "Error",
        derived=("type",) if error.kind or kind not in error.what or not kind else (),
        message=redact(_whole_message(kind, text, error.lines)),
        traceback=redact("\n".join(error.lines[len(_above(error.lines)) :])),
        frame=frame,
        phase=_phase(error, frame),
        recovered=recovered,
        at=error.at,
        hits=tuple(dict.fromkeys(one.where for one in equal if _PART.match(one.where))),
        ref=SourceRef(file=file, line=error.line),
        extra={"hits": [{"where": one.where, "line": one.line} for one in equal], "count": len(equal)},
    )


def _whole_message(kind: str, text: str, lines: list[str]) -> str:
    """A message may have several lines: above the traceback, or at its end, where the exception is repeated."""
    if above := _above(lines):
        return "\n".join([text, *above[:MESSAGE_LINES]]).rstrip()
    for place in range(len(lines) - 1, -1, -1):
        exception = split_exception(lines[place])
        if kind and exception[0] == kind and exception[1].strip() == text.strip():
            return "\n".join([text, *lines[place + 1 :]]).rstrip()
    return text


def _above(lines: list[str]) -> list[str]:
    """The further lines of a message, above its traceback."""
    return lines[: lines.index(_TRACEBACK)] if _TRACEBACK in lines else lines


def _phase(error: LoggedError, frame: str) -> Phase:
    """By the meaning of the line, else by the last logged stage of the part, by what was raised, by the logger."""
    if error.kind:
        return error.phase
    if error.stage in _PHASE_OF_STAGE:
        return _PHASE_OF_STAGE[error.stage]
    if re.search(r"judge", frame):
        return "scoring"
    return "setup" if error.phase == "aggregation" and _OF_SETUP.search(error.what) else error.phase
