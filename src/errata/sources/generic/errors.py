"""An error cell → what went wrong: a text, a traceback, an object, or a list of them."""

import re
from typing import Any

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.sources.generic.values import NOTHING, structured, text
from errata.sources.shared.values import plain

# `openai.RateLimitError: slow down`: what Python prints as the last line of a traceback
_TYPED = re.compile(r"([A-Za-z_][\w.]*(?:Error|Exception|Timeout|Interrupt|Exit|Failure|Expired))(?::\s*|$)")
_NAMES = {
    "type": ("type", "name", "class", "error_type", "exception"),
    "message": ("message", "msg", "detail", "error", "text"),
    "traceback": ("traceback", "stack", "stacktrace", "trace"),
    "code": ("code", "status_code", "status"),
}


def errors(value: Any, *, phase: Phase, ref: SourceRef) -> tuple[ErrorInfo, ...]:
    """Empty where the cell says that nothing went wrong."""
    value = structured(value)
    if not value or value != value or (isinstance(value, str) and value.strip().lower() in NOTHING):
        return ()
    if isinstance(value, list):
        return tuple(info for child in value for info in errors(child, phase=phase, ref=ref))
    if isinstance(value, dict):
        return (_from_object(value, phase, ref),)
    return (_from_text("" if value is True else text(value), phase, ref),)


def _from_text(message: str, phase: Phase, ref: SourceRef) -> ErrorInfo:
    traceback = ""
    if "Traceback (most recent call last)" in message:
        traceback = message
        message = next((line for line in reversed(message.splitlines()) if line[:1].strip()), message)
    typed = _TYPED.match(message)
    if typed is None:
        return ErrorInfo(type="error", message=message, traceback=traceback, phase=phase, ref=ref)
    return ErrorInfo(type=typed[1], message=message[typed.end() :], traceback=traceback, phase=phase, ref=ref)


def _from_object(value: dict[str, Any], phase: Phase, ref: SourceRef) -> ErrorInfo:
    found: dict[str, str] = {}
    used: set[str] = set()
    for field, names in _NAMES.items():
        name = next((name for name in names if isinstance(value.get(name), (str, int)) and name not in used), None)
        if name is not None and value[name] != "":
            found[field] = text(value[name])
            used.add(name)
    rest = {key: plain(child) for key, child in value.items() if key not in used and child is not None}
    if "message" not in found:
        found["message"] = text(value) if "type" not in found else ""
    found.setdefault("type", "error")
    return ErrorInfo(**found, phase=phase, ref=ref, extra=rest)  # type: ignore[arg-type]
