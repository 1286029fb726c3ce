"""What may stand in a command: logs are hostile, so a value is let in by what it is made of, never by escaping it.

A value that is not fit is not mended. What needed it is repeated by hand, and the user is told why.
"""

import re
from pathlib import Path

from errata.text.clean import clean
from errata.text.redact import redact

LONGEST_NAME, LONGEST_PATH = 200, 1_000

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+/-]*")
"""Ids of cases, names of models and agents. No comma, colon, blank, glob or quote: harnesses give those a meaning."""
FILE = re.compile(r"[A-Za-z0-9_./][A-Za-z0-9_.@+/-]*")
"""A path that a log names, such as `../tasks/capitals.py`."""
MODEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@+/:-]*")
"""`amazon.nova-2-sonic-v1:0` is a model."""
WORDS = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.,:@+/#= -]*[A-Za-z0-9_.,:@+/#=-])?")
"""A description in plain words."""
VALUE = re.compile(r"[A-Za-z0-9_.@+/:-]+")
"""Behind `name=`, so that it can't be taken for an option."""


class UnfitError(ValueError):
    """A value that has no place in a command; the message says what is wrong with it."""


def fit(value: object, what: str, shape: re.Pattern[str] = NAME) -> str:
    """The value as it is; `UnfitError` where it can't be let in."""
    found = shaped(value, what, shape)
    if redact(found) != found:
        raise UnfitError(f"the {what} looks like a secret")
    return found


def shaped(value: object, what: str, shape: re.Pattern[str] = NAME) -> str:
    """The same but for secrets, which cost time to look for: `repeated` looks through all names of cases at once."""
    if not isinstance(value, str) or not value:
        raise UnfitError(f"the log does not tell the {what}")
    if value.startswith("-") and shape is not VALUE:
        raise UnfitError(f"the {what} begins with a dash, as an option does")
    if len(value) > LONGEST_NAME:
        raise UnfitError(f"the {what} is longer than {LONGEST_NAME} characters")
    if not shape.fullmatch(value):
        raise UnfitError(f"the {what} holds characters that have no place in a command")
    return value


def fit_path(path: Path, what: str) -> str:
    """A path of this machine: quoting makes blanks harmless, but nothing that a terminal would hide is let in."""
    told = str(path)
    if not path.is_absolute() or not told.isprintable() or clean(told) != told or len(told) > LONGEST_PATH:
        raise UnfitError(f"the path of the {what} holds characters that have no place in a command")
    if redact(told) != told:
        raise UnfitError(f"the path of the {what} looks like a secret")
    return told


def fit_number(value: object) -> str | None:
    """A number as a command spells it; none for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        return None
    return repr(value)


def exactly(names: list[str]) -> str:
    """A regular expression, for JavaScript, that matches fit names and nothing else."""
    escaped = [_SPECIAL.sub(_escape, name) for name in names]
    return f"^{escaped[0]}$" if len(escaped) == 1 else f"^(?:{'|'.join(escaped)})$"


_SPECIAL = re.compile(r"[.+]| +")


def _escape(found: re.Match[str]) -> str:
    # white space in a description was folded when it was read
    return r"\s+" if found[0].startswith(" ") else f"\\{found[0]}"
