"""What every text of a report goes through before it is written: cleaned, without secrets and without people."""

from functools import lru_cache

from errata.text.private import for_others

REMEMBERED = 4_096


@lru_cache(REMEMBERED)
def washed(text: str) -> str:
    """On one line. Titles, owners and steps come again and again, so the last ones are remembered."""
    return " ".join(for_others(text).split())


def washed_lines(text: str) -> str:
    """Line by line, as a snippet shows it."""
    return for_others(text).strip("\n")
