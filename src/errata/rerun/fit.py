"""Which values may be part of a command: logs are hostile, so a value is checked against an allowed shape, not escaped.

A value that does not fit is never repaired. The attempts that need it are left to the user, with the reason.
"""

import re
from pathlib import Path

from errata.model.output.act import WhyNoCommand
from errata.text.clean import clean
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_user

LONGEST_NAME, LONGEST_PATH = 200, 1_000

NAME = lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9_.@+/-]*")
"""Ids of cases, names of models and agents. No comma, colon, blank, glob or quote: harnesses give those a meaning."""
FILE = lazy_regex(r"[A-Za-z0-9_./][A-Za-z0-9_.@+/-]*")
"""A path from a log, such as `../tasks/capitals.py`."""
MODEL = lazy_regex(r"[A-Za-z0-9_][A-Za-z0-9_.@+/:-]*")
"""`amazon.nova-2-sonic-v1:0` is a model."""
WORDS = lazy_regex(r"[A-Za-z0-9_](?:[A-Za-z0-9_.,:@+/#= -]*[A-Za-z0-9_.,:@+/#=-])?")
"""A description in plain words."""
VALUE = lazy_regex(r"[A-Za-z0-9_.@+/:-]+")
"""After `name=`, where it can't be mistaken for an option."""


class UnfitError(ValueError):
    """A value that must not be part of a command."""

    def __init__(self, why: WhyNoCommand, about: str = "") -> None:
        super().__init__(f"{why}: {about}" if about else why)
        self.why: WhyNoCommand = why
        self.about = about


def fit(value: object, what: str, shape: re.Pattern[str] = NAME) -> str:
    """The value unchanged; raises `UnfitError` if it must not be part of a command."""
    text = shaped(value, what, shape)
    if for_user(text) != text:
        raise UnfitError("field_like_secret", what)
    return text


def shaped(value: object, what: str, shape: re.Pattern[str] = NAME) -> str:
    """`fit` without the slow search for secrets: `batch_commands` searches the names of all cases at once."""
    if not isinstance(value, str) or not value:
        raise UnfitError("field_missing", what)
    if value.startswith("-") and shape is not VALUE:
        raise UnfitError("field_like_option", what)
    if len(value) > LONGEST_NAME:
        raise UnfitError("field_too_long", what)
    if not shape.fullmatch(value):
        raise UnfitError("field_unsafe", what)
    return value


def fit_path(path: Path, what: str) -> str:
    """A path of this machine: quoting makes blanks harmless, but characters that a terminal hides are refused."""
    text = str(path)
    if not path.is_absolute() or not text.isprintable() or clean(text) != text or len(text) > LONGEST_PATH:
        raise UnfitError("path_unsafe", what)
    if for_user(text) != text:
        raise UnfitError("path_like_secret", what)
    return text


def fit_number(value: object) -> str | None:
    """A number as a command spells it; none for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e12:
        return None
    return repr(value)


def exactly(names: list[str]) -> str:
    """A JavaScript regular expression that matches these names and nothing else."""
    escaped = [_SPECIAL.sub(_escape, name) for name in names]
    return f"^{escaped[0]}$" if len(escaped) == 1 else f"^(?:{'|'.join(escaped)})$"


_SPECIAL = lazy_regex(r"[.+]| +")


def _escape(match: re.Match[str]) -> str:
    # white space in a description was folded when the log was read
    return r"\s+" if match[0].startswith(" ") else f"\\{match[0]}"
