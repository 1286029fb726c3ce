"""What went wrong in a sample: its error, the errors that were tried again, and the time-out that Inspect swallows."""

import re
from collections.abc import Iterator
from pathlib import PureWindowsPath
from typing import Any

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.sources.inspect_ai.events import Event, phase_at
from errata.sources.inspect_ai.values import mapping, moment, rest, sequence, words

CANCELLED = "CancelledError"
SWALLOWED = "Unexpected timeout error reached top of sample stack"

_CALL = re.compile(r"([A-Za-z_][\w.]*)\(.*\)\s*$", re.DOTALL)
_LAST_LINE = re.compile(
    r"^(?:\s*\|\s*)?([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Timeout))\b", re.MULTILINE
)
_HTTP = re.compile(r"(?i)\b(?:http|status(?:[ _]code)?|error code|upstream)\D{0,3}([45]\d\d)\b")
_FRAME = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python3|<frozen|^<")
_SCORING = re.compile(r"\bawait scorer\(|, in score\b|/scorer/_")
_SANDBOX = re.compile(r"(?i)/_?sandbox/|sandboxenv_|docker compose|sample_init_cleanup")
_TAKEN = frozenset(("message", "traceback", "traceback_ansi", "events"))


def sample_errors(sample: dict[str, Any], events: list[Event], ref: SourceRef) -> Iterator[ErrorInfo]:
    """In the order in which they happened."""
    final = mapping(sample.get("error"))
    for place, retry in enumerate(map(mapping, sequence(sample.get("error_retries")))):
        yield error_info(
            retry,
            _phase_of_text(retry) or "subject",
            _at(ref, f"/error_retries/{place}"),
            retryable=True,
            recovered=not final,
        )
    yield from _swallowed(events, ref)
    if final:
        event = next((event for event in reversed(events) if event.kind == "error"), None)
        yield error_info(
            final,
            _phase(final, events, event),
            _at(ref, "/error"),
            at=moment(event.data.get("timestamp")) if event else None,
        )


def error_info(error: dict[str, Any], phase: Phase, ref: SourceRef, **more: Any) -> ErrorInfo:
    message, traceback = words(error.get("message")), words(error.get("traceback"))
    kind = _type(message, traceback)
    code = _HTTP.search(message)
    return ErrorInfo(
        type=kind,
        message=message,
        code=code[1] if code else "",
        traceback=traceback,
        frame=_frame(traceback),
        phase=phase,
        collateral=kind == CANCELLED,
        extra=rest(error, _TAKEN),
        ref=ref,
        **more,
    )


def _phase(error: dict[str, Any], events: list[Event], event: Event | None) -> Phase:
    told = _phase_of_text(error)
    if not events:
        return told or "subject"
    phase = phase_at(events, event.place if event else len(events))
    return "environment" if told == "environment" and phase != "scoring" else phase


def _phase_of_text(error: dict[str, Any]) -> Phase | None:
    traceback = words(error.get("traceback"))
    if _SCORING.search(traceback):
        return "scoring"
    return "environment" if _SANDBOX.search(traceback) else None


def _swallowed(events: list[Event], ref: SourceRef) -> Iterator[ErrorInfo]:
    """Such a sample is scored on what it had so far; nothing but a line in its log tells why."""
    for event in events:
        message = mapping(event.data.get("message"))
        text = words(message.get("message"))
        if event.kind == "logger" and SWALLOWED in text:
            yield ErrorInfo(
                type="TimeoutError",
                message=text,
                phase=phase_at(events, event.place),
                at=moment(event.data.get("timestamp")),
                ref=_at(ref, f"/events/{event.place}"),
            )


def _type(message: str, traceback: str) -> str:
    """`ConnectionError('upstream 503')` names its own type; else the traceback's last line does."""
    named = _CALL.match(message)
    if named:
        return named[1].rpartition(".")[2]
    lines = _LAST_LINE.findall(traceback)
    return lines[-1].rpartition(".")[2] if lines else "error"


def _frame(traceback: str) -> str:
    """The innermost frame that belongs to no library."""
    own = [frame for frame in _FRAME.findall(traceback) if not _LIBRARY.search(frame[0])]
    if not own:
        return ""
    file, line, function = own[-1]
    return f"{PureWindowsPath(file).name}:{line} in {function}"


def _at(ref: SourceRef, pointer: str) -> SourceRef:
    return SourceRef(file=ref.file, member=ref.member, pointer=f"{ref.pointer}{pointer}")
