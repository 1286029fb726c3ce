"""What every text of a report goes through before it is written: cleaned, without secrets and without people."""

from functools import lru_cache
from typing import Any

from errata.text.clean import one_line
from errata.text.private import for_others

REMEMBERED = 65_536
"""Texts: what stands in one place of a report stands in others, too."""

_for_others = lru_cache(REMEMBERED)(for_others)


@lru_cache(REMEMBERED)
def washed(text: str) -> str:
    """On one line."""
    return " ".join(_for_others(text).split())


def washed_lines(text: str) -> str:
    """Line by line, as a snippet shows it."""
    return for_others(text).strip("\n")


def washed_tree(value: Any) -> Any:
    """Every text inside of dicts and lists; the keys are ours."""
    if isinstance(value, str):
        return _for_others(value)
    if isinstance(value, dict):
        return {key: washed_tree(item) for key, item in value.items()}
    return [washed_tree(item) for item in value] if isinstance(value, list | tuple) else value


def short_line(text: str, width: int) -> str:
    """On one line, cut; without secrets and people before that, since half a secret looks like none."""
    return one_line(_for_others(text), width)
