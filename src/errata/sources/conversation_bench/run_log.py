"""run.log: the planned turns, and errors during the conversation."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.model import ErrorInfo, Evidence, SourceRef
from errata.model.times import from_iso
from errata.sources.conversation_bench.layout import RUN_LOG, count

LINE_CAP = 1024 * 1024
EVIDENCE_CAP = 500
QUOTE_CAP = 2_000
TRACEBACK_CAP = 20_000

_LINE = re.compile(r"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?) +([A-Z]+) +(\S+): (.*)", re.DOTALL)
_SETTING = re.compile(r"\b(benchmark|model|turns)=(\S+)")
_TAGGED = re.compile(r"\[([A-Z_]+)\] turn=(\d{1,9})\b[ :,]*(.*)", re.DOTALL)
_RETRIES = re.compile(r"\bretry_count=(\d{1,9})\b")
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


def read_log(root: Path) -> LogFacts:
    """Empty facts if there is no log; `OSError` if it can't be opened."""
    settings: dict[str, str] = {}
    settings_line = None
    first = last = None
    complete = False
    errors: dict[int, dict[str, ErrorInfo]] = {}
    evidence: list[Evidence] = []
    for line in _lines(root / RUN_LOG):
        first, last = first or line, line
        complete = complete or "Conversation complete" in line.message
        if not settings and "benchmark=" in line.message:
            settings, settings_line = dict(_SETTING.findall(line.message)), line.number
        if line.level in _LOUD:
            _note_error(line, errors)
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
    )


def _note_error(line: RunLogLine, errors: dict[int, dict[str, ErrorInfo]]) -> None:
    tagged = _TAGGED.match(line.message)
    if tagged is None:
        return
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


def recovered(errors: tuple[ErrorInfo, ...]) -> tuple[ErrorInfo, ...]:
    """The same errors, for a turn that was answered in the end."""
    return tuple(msgspec.structs.replace(error, recovered=True) for error in errors)


def _lines(path: Path) -> Iterator[RunLogLine]:
    """Every line with a timestamp, with the lines below it that have none."""
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
