"""Exceptions in logs: whether one is a verdict (an assertion) or an error, and the frames of its traceback."""

import re
from typing import NamedTuple

from errata.model import ErrorInfo, SourceRef
from errata.model.words import Phase

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
_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_STANDARD = re.compile(r"[/\\]lib[/\\]python\d[\d.]*[/\\](?!site-packages|dist-packages)|<frozen|^<")
_INSTALLED = re.compile(r"^.*(?:site|dist)-packages[/\\]")
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


class Frame(NamedTuple):
    file: str
    line: str
    function: str

    @property
    def is_standard(self) -> bool:
        """Of Python's own library."""
        return bool(_STANDARD.search(self.file))

    @property
    def package(self) -> str:
        """The installed package that it belongs to; empty for a program of one's own."""
        return re.split(r"[/\\]", self.module)[0] if _INSTALLED.match(self.file) else ""

    @property
    def module(self) -> str:
        """The path as it is on every machine, for what is installed."""
        return _INSTALLED.sub("", self.file).replace("\\", "/")

    def shown(self, place: str = "") -> str:
        return f"{place or self.module}:{self.line} in {self.function}"


def frames_of(traceback: str) -> list[Frame]:
    """Of the exception that came out last, the outermost first."""
    for mark in (_CAUSED, _MEANWHILE):
        traceback = traceback.rpartition(mark)[2]
    return [Frame(*found) for found in _FRAME.findall(traceback)]


def own_frame(frames: list[Frame], packages: tuple[str, ...] = ()) -> Frame | None:
    """The innermost that is of no library; `packages` are the harness's own, which are none."""
    own = [frame for frame in frames if not frame.is_standard and frame.package in ("", *packages)]
    return own[-1] if own else None
