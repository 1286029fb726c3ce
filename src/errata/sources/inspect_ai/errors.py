"""What went wrong in a sample: its error, the errors that were tried again, and the time-out that Inspect swallows."""

import re
from collections.abc import Iterator
from pathlib import PureWindowsPath
from typing import Any

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.sources.inspect_ai.events import Event, Events, phase_at
from errata.sources.inspect_ai.values import words
from errata.sources.shared.exceptions import Frame, frames_of, own_frame
from errata.sources.shared.values import mapping, moment, rest, sequence

HARNESS = "inspect_ai"
CANCELLED = "CancelledError"
SWALLOWED = "Unexpected timeout error reached top of sample stack"

_CALL = re.compile(r"([A-Za-z_][\w.]*)\(.*\)\s*$", re.DOTALL)
_LAST_LINE = re.compile(
    r"^(?:\s*\|\s*)?([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning|Timeout))\b", re.MULTILINE
)
_HTTP = re.compile(r"(?i)\b(?:http|status(?:[ _]code)?|error code|upstream)\D{0,3}([45]\d\d)\b")
_SCORING = re.compile(r"\bawait scorer\(|, in score\b|/scorer/_")
_SANDBOX = re.compile(r"(?i)/_?sandbox/|sandboxenv_|docker compose|sample_init_cleanup")
_CHECKOUT = re.compile(rf'(?<=File ")[^"\n]*/src/(?={HARNESS}/)')
"""Where Inspect is run from its sources."""
_BETWEEN = frozenset(("anyio", "pydantic"))
"""Packages that only carry a call on, or refuse what they were given."""
# parts of Inspect that act for the subject, its tools, its judges or its sandbox, and the calls of models
_SUBJECTS = re.compile(
    rf"{HARNESS}/(?:agent|approval|model|scorer|solver|tool|tools|util/_sandbox|util/_subprocess)(?:/|\.py$)"
)
_TAKEN = frozenset(("message", "traceback", "traceback_ansi", "events"))


def sample_errors(sample: dict[str, Any], events: Events, ref: SourceRef) -> Iterator[ErrorInfo]:
    """In the order in which they happened."""
    final = mapping(sample.get("error"))
    for place, retry in enumerate(map(mapping, sequence(sample.get("error_retries")))):
        yield error_info(
            retry,
            _phase_of_text(retry) or "subject",
            ref.below("error_retries", place),
            retryable=True,
            recovered=not final,
        )
    yield from _swallowed(events, ref)
    if final:
        event = next((event for event in reversed(events.all) if event.kind == "error"), None)
        yield error_info(
            final,
            _phase(final, events.all, event),
            ref.below("error"),
            at=moment(event.data.timestamp) if event else None,
        )


def error_info(error: dict[str, Any], phase: Phase, ref: SourceRef, **more: Any) -> ErrorInfo:
    message, traceback = words(error.get("message")), words(error.get("traceback"))
    kind = _type(message, traceback)
    code = _HTTP.search(message)
    frames = frames_of(_CHECKOUT.sub(r"site-packages/", traceback))
    frame = own_frame(frames)
    crashed = harness_frame(frames) if frame is None and kind != CANCELLED else None
    return ErrorInfo(
        type=kind,
        message=message,
        code=code[1] if code else "",
        traceback=traceback,
        frame=crashed.shown() if crashed else frame.shown(PureWindowsPath(frame.file).name) if frame else "",
        phase=_phase_of_harness(crashed, phase) if crashed else phase,
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


def _swallowed(events: Events, ref: SourceRef) -> Iterator[ErrorInfo]:
    """Such a sample is scored on what it had so far; nothing but a line in its log tells why."""
    for event in events.telling:
        if event.kind != "logger":
            continue
        text = words(mapping(events.whole(event).get("message")).get("message"))
        if SWALLOWED in text:
            yield ErrorInfo(
                type="TimeoutError",
                message=text,
                phase=phase_at(events.all, event.place),
                at=moment(event.data.timestamp),
                ref=ref.below("events", event.place),
            )


def _type(message: str, traceback: str) -> str:
    """`ConnectionError('upstream 503')` names its own type; else the traceback's last line does."""
    named = _CALL.match(message)
    if named:
        return named[1].rpartition(".")[2]
    lines = _LAST_LINE.findall(traceback)
    return lines[-1].rpartition(".")[2] if lines else "error"


def harness_frame(frames: list[Frame]) -> Frame | None:
    """The innermost, where it is Inspect's own machinery and nobody else's code had been called."""
    calling = [frame for frame in frames if not frame.is_standard and frame.package not in _BETWEEN]
    last = calling[-1] if calling else None
    return last if last and last.package == HARNESS and not _SUBJECTS.match(last.module) else None


def _phase_of_harness(frame: Frame, phase: Phase) -> Phase:
    return "aggregation" if frame.module.startswith(f"{HARNESS}/log/") else phase
