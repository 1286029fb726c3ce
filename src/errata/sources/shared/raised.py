"""What a test, a task or a scorer raised: an assertion, which is a verdict, or anything else, which is none."""

import re
from typing import NamedTuple

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.sources.shared.tracebacks import frames_of, own_frame

# `Failed` is what `pytest.fail` and a `pytest.raises` that saw nothing raise
_VERDICT = re.compile(r"(?:^|\.)(?:\w*Assertion\w*|Failed|ComparisonFailure|MultipleFailuresError)$")
_NAME = r"[A-Za-z_][\w.]*"
_REPR = re.compile(rf"(?P<type>{_NAME})\((?P<message>.*)\)\s*$", re.DOTALL)
_TOLD = re.compile(rf"(?P<type>{_NAME}(?:Error|Exception|Warning|Failed|Exit|Interrupt|Timeout|Failure|Group)|Failed)"
                   r"(?:: (?P<message>.*))?$", re.DOTALL)  # fmt: skip
_RAISED_AT = re.compile(rf"^(?P<frame>\S[^\n]*?:\d+): (?P<type>{_NAME})\s*\Z", re.MULTILINE)
_ARGUMENT = re.compile(r"""(?P<quote>['"])(?P<text>.*)(?P=quote),?$""", re.DOTALL)
_FRAMES = re.compile(r"\n[ \t][^\n]*\n(?![ \t])")
_TRACEBACK = "Traceback (most recent call last):"
TAIL = 4_000


class Raised(NamedTuple):
    type: str
    message: str
    frame: str = ""

    @property
    def is_verdict(self) -> bool:
        return bool(_VERDICT.search(self.type))


def raised_in(shown: str, message: str = "") -> Raised:
    """Of what pytest shows of a failure: the last line names file, line and exception. Empty where it names none."""
    at = _RAISED_AT.search(shown[-TAIL:])
    told = _TOLD.match(message)
    if at is not None:
        said = (told["message"] or "") if told and told["type"].endswith(at["type"]) else message
        return Raised(at["type"], said, at["frame"])
    return Raised(told["type"], told["message"] or "") if told else Raised("", message)


def raised_as(text: str) -> Raised:
    """Of an exception in words: `ValueError('no')`, `ValueError: no`, or a traceback that ends in this."""
    last = text.strip()
    if last.startswith(_TRACEBACK):
        # what was raised may have several lines, and stands behind the last frame
        last = _FRAMES.split(last)[-1]
    if called := _REPR.match(last):
        quoted = _ARGUMENT.match(called["message"])
        return Raised(called["type"], quoted["text"] if quoted else called["message"])
    told = _TOLD.match(last)
    return Raised(told["type"], told["message"] or "") if told else Raised("", last)


def error_of(raised: Raised, phase: Phase, *, traceback: str = "", ref: SourceRef | None = None) -> ErrorInfo:
    frame = own_frame(frames_of(traceback)) if traceback and not raised.frame else None
    return ErrorInfo(
        type=raised.type.rpartition(".")[2] or "error",
        message=raised.message or raised.type,
        traceback=traceback,
        frame=raised.frame or (frame.shown() if frame else ""),
        phase=phase,
        ref=ref,
    )
