"""Tracebacks of Python as logs keep them: which frames an error went through, and whose they are."""

import re
from typing import NamedTuple

_FRAME = re.compile(r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>\S+)')
_STANDARD = re.compile(r"[/\\]lib[/\\]python\d[\d.]*[/\\](?!site-packages|dist-packages)|<frozen|^<")
_INSTALLED = re.compile(r"^.*(?:site|dist)-packages[/\\]")
_CAUSED = "The above exception was the direct cause of the following exception:"
_MEANWHILE = "During handling of the above exception, another exception occurred:"


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
