"""Exceptions in logs: whether one is a verdict (an assertion) or an error, and the frames of its traceback."""

import re
from typing import NamedTuple

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase
from errata.text.lazy_regex import lazy_regex

# `pytest.fail`, and a `pytest.raises` without an exception, raise `Failed`
_VERDICT = lazy_regex(r"(?:^|\.)(?:(?=\w*Assertion)\w++|Failed|ComparisonFailure|MultipleFailuresError)$")
_NAME = r"[A-Za-z_][\w.]*"
_REPR = lazy_regex(rf"(?P<type>{_NAME})\((?P<message>.*)\)\s*$", re.DOTALL)
_RAISED = lazy_regex(rf"(?P<type>{_NAME}(?:Error|Exception|Warning|Failed|Exit|Interrupt|Timeout|Failure|Group)|Failed)"
                   r"(?:: (?P<message>.*))?$", re.DOTALL)  # fmt: skip
_RAISED_AT = lazy_regex(rf"^(?P<frame>\S[^\n]*?:\d+): (?P<type>{_NAME})\s*\Z", re.MULTILINE)
_ARGUMENT = lazy_regex(r"""(?P<quote>['"])(?P<text>.*)(?P=quote),?$""", re.DOTALL)
_FRAMES = lazy_regex(r"\n[ \t][^\n]*\n(?![ \t])")
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = lazy_regex(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_STANDARD = lazy_regex(r"[/\\]lib[/\\]python\d[\d.]*[/\\](?!site-packages|dist-packages)|<frozen|^<")
_INSTALLED = lazy_regex(r"^.*(?:site|dist)-packages[/\\]")
_CAUSED = "The above exception was the direct cause of the following exception:"
_MEANWHILE = "During handling of the above exception, another exception occurred:"
TAIL = 4_000


class Raised(NamedTuple):
    type: str
    message: str
    frame: str = ""

    @property
    def is_verdict(self) -> bool:
        return bool(_VERDICT.search(self.type))


def raised_in(output: str, message: str = "") -> Raised:
    """The exception that pytest shows for a failure: the last line has file, line and type. Empty if it names none."""
    at = _RAISED_AT.search(output[-TAIL:])
    match = _RAISED.match(message)
    if at is not None:
        text = (match["message"] or "") if match and match["type"].endswith(at["type"]) else message
        return Raised(at["type"], text, at["frame"])
    return Raised(match["type"], match["message"] or "") if match else Raised("", message)


def raised_as(text: str) -> Raised:
    """An exception written as text: `ValueError('no')`, `ValueError: no`, or a traceback that ends in one of them."""
    last = text.strip()
    if last.startswith(_TRACEBACK):
        # the message may have several lines; it comes after the last frame
        last = _FRAMES.split(last)[-1]
    if called := _REPR.match(last):
        quoted = _ARGUMENT.match(called["message"])
        return Raised(called["type"], quoted["text"] if quoted else called["message"])
    match = _RAISED.match(last)
    return Raised(match["type"], match["message"] or "") if match else Raised("", last)


def error_of(raised: Raised, phase: Phase, *, traceback: str = "", ref: SourceRef | None = None) -> ErrorInfo:
    frame = own_frame(frames_of(traceback)) if traceback and not raised.frame else None
    return ErrorInfo(
        type=raised.type.rpartition(".")[2] or "error",
        derived=() if raised.type else ("type",),
        message=raised.message or raised.type,
        traceback=traceback,
        frame=raised.frame or (frame.location() if frame else ""),
        phase=phase,
        ref=ref,
    )


class Frame(NamedTuple):
    file: str
    line: str
    function: str

    @property
    def is_standard(self) -> bool:
        """Whether it is in Python's standard library."""
        return bool(_STANDARD.search(self.file))

    @property
    def package(self) -> str:
        """The installed package of this frame; empty for the program's own code."""
        return re.split(r"[/\\]", self.module)[0] if _INSTALLED.match(self.file) else ""

    @property
    def module(self) -> str:
        """The path; for installed packages, the part that is the same on every machine."""
        return _INSTALLED.sub("", self.file).replace("\\", "/")

    def location(self, place: str = "") -> str:
        return f"{place or self.module}:{self.line} in {self.function}"


def frames_of(traceback: str) -> list[Frame]:
    """The frames of the last exception in the traceback, outermost first."""
    for mark in (_CAUSED, _MEANWHILE):
        traceback = traceback.rpartition(mark)[2]
    return [Frame(*found) for found in _FRAME.findall(traceback)]


def own_frame(frames: list[Frame], packages: tuple[str, ...] = ()) -> Frame | None:
    """The innermost frame outside of libraries; `packages` are the harness's own and don't count as libraries."""
    own = [frame for frame in frames if not frame.is_standard and frame.package in ("", *packages)]
    return own[-1] if own else None
