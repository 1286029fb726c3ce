"""Colours for owners and outcomes, on terminals that show them.

`NO_COLOR` turns them off and `FORCE_COLOR` turns them on, also in a pipe (https://no-color.org, https://force-color.org).
"""

import os
import re
import sys
from collections.abc import Sequence
from typing import TextIO

GREEN, RED, YELLOW, MAGENTA, CYAN, GREY = 32, 31, 33, 35, 36, 90

COLOURS: dict[str, int] = {
    # owners: the model, infrastructure, the evaluation itself, failures that need no action of their own
    "model": RED,
    "budget": MAGENTA,
    "provider": YELLOW,
    "environment": YELLOW,
    "harness": YELLOW,
    "simulator": YELLOW,
    "grader": CYAN,
    "task": CYAN,
    "collateral": GREY,
    "unknown": GREY,
    # outcomes and check states
    "pass": GREEN,
    "fail": RED,
    "partial": YELLOW,
    "number": CYAN,
    "none": GREY,
    # severities of findings
    "ERROR": RED,
    "WARNING": YELLOW,
}
COLOURED_COLUMNS = ("owner", "outcome")


def use_colour(stream: TextIO | None = None) -> bool:
    """Whether a stream gets colours: stdout, where none is named."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return (stream or sys.stdout).isatty() and os.environ.get("TERM") != "dumb"


def coloured(text: str, word: str = "") -> str:
    """An owner or outcome in its colour, with the blanks around it; `word` names the colour of another text."""
    code = COLOURS.get(word or text.strip())
    return f"\x1b[{code}m{text}\x1b[0m" if code and use_colour() else text


def colour_words(line: str, words: Sequence[str]) -> str:
    """The first place of each word in a line that was cleaned and folded already."""
    if not words or not use_colour():
        return line
    for word in words:
        line = re.sub(rf"(?<![\w-]){re.escape(word)}(?![\w-])", lambda match: coloured(match[0]), line, count=1)
    return line
