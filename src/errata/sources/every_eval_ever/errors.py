"""An error, which is one text: a message, mostly as Python shows an exception, and the traceback below it."""

import re
from typing import Any

from errata.model import ErrorInfo, SourceRef
from errata.sources.shared.exceptions import frames_of, own_frame
from errata.sources.shared.values import text

# `ConnectionError('upstream 503')`, or `ConnectionError: upstream 503`
_SHOWN = re.compile(r"(?P<type>[A-Za-z_][\w.]*)\((?P<quote>['\"])(?P<message>.*)(?P=quote)\)\s*$", re.DOTALL)
_WRITTEN = re.compile(
    r"(?P<type>[A-Za-z_][\w.]*(?:Error|Exception|Timeout|Interrupt)\w*):\s*(?P<message>.*)", re.DOTALL
)
_TRACEBACK = re.compile(r"^[\s+|]*(?:Exception Group )?Traceback \(most recent call last\):", re.MULTILINE)


def error_of(told: Any, ref: SourceRef) -> ErrorInfo | None:
    said = text(told)
    if not said:
        return None
    below = _TRACEBACK.search(said)
    head = said[: below.start()].strip() if below else said.strip()
    traceback = said[below.start() :].strip("\n") if below else ""
    last = traceback.rstrip().rpartition("\n")[2]
    shown = _SHOWN.match(head) or _WRITTEN.match(head) or _WRITTEN.match(last)
    frame = own_frame(frames_of(traceback))
    return ErrorInfo(
        type=shown["type"].rpartition(".")[2] if shown else "error",
        message=shown["message"] if shown else head or last,
        traceback=traceback,
        frame=frame.shown() if frame else "",
        phase="subject",
        ref=ref.below("error"),
    )
