"""run.log: the planned turns, and errors during the conversation."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.model import ErrorInfo, Evidence, SourceRef
from errata.model.times import from_iso
from errata.sources.conversation_bench.layout import RUN_LOG, count
from errata.text.lazy_regex import lazy_regex

LINE_CAP = 1024 * 1024
EVIDENCE_CAP = 500
QUOTE_CAP = 2_000
TRACEBACK_CAP = 20_000

_LINE = lazy_regex(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?) +([A-Z]+) +(\S+): (.*)", re.DOTALL)
_SETTING = lazy_regex(r"\b(benchmark|model|turns)=(\S+)")
_TAGGED = lazy_regex(r"\[([A-Z_]+)\] turn=(\d{1,9})\b[ :,]*(.*)", re.DOTALL)
_STARTED = lazy_regex(r"\bturn=(\d{1,9}) start")
_NAMED_TURN = lazy_regex(r"\bturn[ =#:]+(\d{1,9})\b", re.IGNORECASE)
_STATUS = lazy_regex(
    r"\b(?:HTTP(?:/\d(?:\.\d)?)?|status(?: code)?|code|error)[ :=]+([1-5]\d{2,3})\b|\b(5\d\d|429)\b", re.IGNORECASE
)
LINES_OF_A_TURN = 3
_RETRIES = lazy_regex(r"\bretry_count=(\d{1,9})\b")
_LOUD = ("WARNING", "ERROR", "CRITICAL")


class LogFacts(NamedTuple):
    benchmark: str = ""
    model: str = ""
    turns: int | None = None
    settings_line: int | None = None
    started_at: str | None = None
    finished_at: str | None = None
    complete: bool = False
    errors: dict[int, tuple[ErrorInfo, ...]] = {}
    """By turn; lines with the same tag on one turn are one error."""
    evidence: tuple[Evidence, ...] = ()
    lines: dict[int, tuple[ErrorInfo, ...]] = {}
    """By turn: other warnings and errors, such as a closed connection, that name it or came while it was going on."""
    last_turn: int | None = None
    """The last one that started, where turns follow each other."""

    def of_turn(self, turn: int) -> tuple[ErrorInfo, ...]:
        """What the log has about a turn without an answer; for one that never started, what ended the conversation."""
        own = (*self.errors.get(turn, ()), *self.lines.get(turn, ()))
        if own or self.complete or self.last_turn is None or turn < self.last_turn:
            return own
        before = (*self.errors.get(self.last_turn, ()), *self.lines.get(self.last_turn, ()))
        return tuple(msgspec.structs.replace(error, collateral=True) for error in before)


class RunLogLine(NamedTuple):
    number: int
    time: str
    level: str
    message: str
    text: str
    below: str = ""
    """The following lines without a timestamp: a traceback."""

    @property
    def at(self) -> str | None:
        """In the local time of the machine that logged it."""
        try:
            return from_iso(self.time.replace(",", "."))
        except ValueError:
            return None

    @property
    def ref(self) -> SourceRef:
        return SourceRef(file=RUN_LOG, line=self.number)


def read_log(root: Path, *, in_order: bool = True) -> LogFacts:
    """Empty facts if there is no log; `OSError` if it can't be opened. `in_order`: one turn ends before the next."""
    settings: dict[str, str] = {}
    settings_line = None
    first = last = None
    complete = False
    errors: dict[int, dict[str, ErrorInfo]] = {}
    evidence: list[Evidence] = []
    turns = _TurnLines(in_order=in_order)
    for line in _lines(root / RUN_LOG):
        first, last = first or line, line
        complete = complete or "Conversation complete" in line.message
        if not settings and "benchmark=" in line.message:
            settings, settings_line = dict(_SETTING.findall(line.message)), line.number
        turns.follow(line)
        if line.level in _LOUD:
            if not _note_error(line, errors):
                turns.note(line)
            if len(evidence) < EVIDENCE_CAP:
                evidence.append(Evidence(quote=line.text[:QUOTE_CAP], name=line.level.lower(), ref=line.ref))
    return LogFacts(
        benchmark=settings.get("benchmark", ""),
        model=settings.get("model", ""),
        turns=count(settings.get("turns")),
        settings_line=settings_line,
        started_at=first.at if first else None,
        finished_at=last.at if last else None,
        complete=complete,
        errors={turn: tuple(by_tag.values()) for turn, by_tag in errors.items()},
        evidence=tuple(evidence),
        lines={turn: tuple(noted) for turn, noted in turns.lines.items()},
        last_turn=turns.current,
    )


class _TurnLines:
    """Loud lines without a tag, by the turn they name, or by the one that is going on."""

    def __init__(self, *, in_order: bool) -> None:
        self.current: int | None = None
        self.lines: dict[int, list[ErrorInfo]] = {}
        self._in_order = in_order

    def follow(self, line: RunLogLine) -> None:
        if self._in_order and (started := _STARTED.search(line.message)):
            self.current = int(started[1])

    def note(self, line: RunLogLine) -> None:
        named = _NAMED_TURN.search(line.message)
        turn = int(named[1]) if named else self.current
        noted = self.lines.setdefault(turn, []) if turn is not None else []
        if turn is not None and len(noted) < LINES_OF_A_TURN:
            status = _STATUS.search(line.message)
            noted.append(
                ErrorInfo(
                    type=line.level.lower(),
                    message=line.message[:QUOTE_CAP],
                    code=(status[1] or status[2]) if status else "",
                    at=line.at,
                    traceback=line.below,
                    ref=line.ref,
                )
            )


def _note_error(line: RunLogLine, errors: dict[int, dict[str, ErrorInfo]]) -> bool:
    tagged = _TAGGED.match(line.message)
    if tagged is None:
        return False
    tag = tagged[1]
    retries = _RETRIES.search(line.message)
    by_tag = errors.setdefault(int(tagged[2]), {})
    earlier = by_tag.get(tag)
    lines = earlier.extra["lines"] + 1 if earlier else 1
    by_tag[tag] = ErrorInfo(
        type=tag,
        message=tagged[3][:QUOTE_CAP],
        phase="subject",
        at=line.at,
        traceback=line.below,
        extra={"lines": lines} | ({"retry_count": int(retries[1])} if retries else {}),
        ref=line.ref,
    )
    return True


def recovered(errors: tuple[ErrorInfo, ...]) -> tuple[ErrorInfo, ...]:
    """The same errors, for a turn that was answered in the end."""
    return tuple(msgspec.structs.replace(error, recovered=True) for error in errors)


def _lines(path: Path) -> Iterator[RunLogLine]:
    current: RunLogLine | None = None
    for number, text in _numbered(path):
        parts = _LINE.match(text)
        if parts is None:
            current = _continued(current, text)
            continue
        if current is not None:
            yield current
        current = RunLogLine(number, parts[1], parts[2], parts[4], text)
    if current is not None:
        yield current


def _numbered(path: Path) -> Iterator[tuple[int, str]]:
    if not path.exists():
        return
    number, whole = 0, True
    with path.open("rb") as file:
        while raw := file.readline(LINE_CAP):
            number += whole
            if whole:
                yield number, raw.decode("utf-8", "replace").rstrip("\r\n")
            whole = raw.endswith(b"\n")


def _continued(line: RunLogLine | None, text: str) -> RunLogLine | None:
    if line is None or line.level not in _LOUD or len(line.below) > TRACEBACK_CAP:
        return line
    return line._replace(below=f"{line.below}\n{text[:QUOTE_CAP]}" if line.below else text[:QUOTE_CAP])
