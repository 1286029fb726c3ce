"""Regular expressions of users and projects: they run on RE2, whose time is linear in the text.

A pattern for Python's own engine can take years on one line of a log, by accident or on purpose. Without the package
`google-re2` such patterns are refused. docs/decisions/0016-user-patterns.md explains the choice.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

from errata.errors import SettingsError, extra_hint

LONGEST = 5_000
"""Characters of a pattern."""
LARGEST = 5_000
"""Instructions of a compiled pattern: the time for one character grows with them."""
MOST_TEXT = 1_000_000
"""Characters of a text that are searched."""


class PatternMatch(Protocol):
    def start(self) -> int: ...
    def end(self) -> int: ...
    def __getitem__(self, group: int, /) -> Any: ...


class CompiledPattern(Protocol):
    """What rules need of a compiled pattern, whichever engine runs it."""

    def search(self, string: str, /) -> PatternMatch | None: ...
    def finditer(self, string: str, /) -> Iterator[PatternMatch]: ...


class UserPattern:
    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled

    def search(self, string: str, /) -> PatternMatch | None:
        match: PatternMatch | None = self._compiled.search(_encodable(string))
        return match

    def finditer(self, string: str, /) -> Iterator[PatternMatch]:
        matches: Iterator[PatternMatch] = self._compiled.finditer(_encodable(string))
        return matches


@cache
def compile_user_pattern(pattern: str, of: str) -> UserPattern:
    """Ignores case, and `^` and `$` match at lines. `of` names the rule or label in an error."""
    try:
        import re2  # noqa: PLC0415 only where users have patterns
    except ImportError as error:
        raise SettingsError(
            f"{of} has a pattern, and the package that runs patterns of users is not installed",
            hint=extra_hint("rules"),
        ) from error
    if len(pattern) > LONGEST:
        raise SettingsError(f"{of} has a pattern of {len(pattern):,} characters", hint=f"use {LONGEST:,} at most")
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    try:
        compiled = re2.compile(f"(?m){pattern}", options)
    except (re2.error, UnicodeEncodeError) as error:
        raise SettingsError(f"{of} has a pattern that RE2 can't use: {_reason(error)}", hint=_SYNTAX) from error
    if compiled.programsize > LARGEST:
        raise SettingsError(
            f"{of} has a pattern that is too large when its repetitions are written out",
            hint="use smaller counts in `{…}`",
        )
    return UserPattern(compiled)


_SYNTAX = "RE2 has no look-around, back-references or possessive repetition; docs/attribution.md#rules"


def _reason(error: Exception) -> str:
    given = error.args[0] if error.args else ""
    return (given.decode("utf-8", "replace") if isinstance(given, bytes) else str(error)).replace("(?m)", "", 1)


def _encodable(text: str) -> str:
    """RE2 reads UTF-8; a lone surrogate becomes a question mark, so that positions stay."""
    text = text[:MOST_TEXT]
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
