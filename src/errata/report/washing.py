"""What every text of a report goes through before it is written: cleaned, redacted, on one line."""

from functools import lru_cache

from errata.text.clean import clean
from errata.text.redact import redact

REMEMBERED = 4_096


@lru_cache(REMEMBERED)
def washed(text: str) -> str:
    """On one line. Titles, owners and steps come again and again, so the last ones are remembered."""
    return " ".join(clean(redact(text)).split())


def washed_lines(text: str) -> str:
    """Line by line, as a snippet shows it."""
    return clean(redact(text)).strip("\n")
