"""Words that the sentences of the evidence log share: lists of steps and values, cut to what a line can hold."""

from collections.abc import Iterable
from typing import Any

from errata.text.redact import beginning

STEPS = 6
VALUE = 60
VALUES = 3


def listed_steps(steps: Iterable[int]) -> str:
    """`steps 3, 5, 9`; of many, the first."""
    numbers = list(dict.fromkeys(steps))
    more = f" and {len(numbers) - STEPS} more" if len(numbers) > STEPS else ""
    return f"step{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers[:STEPS]))}{more}"


def times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def shortened(value: Any, width: int = VALUE) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= width else f"{beginning(text, width - 1).rstrip()}…"


def in_brief(value: Any) -> str:
    """A list of records as their values alone: `HAT069 2024-05-24, HAT258 2024-05-24`."""
    if isinstance(value, list):
        return ", ".join(map(in_brief, value)) or "none"
    if isinstance(value, dict):
        return " ".join(map(in_brief, value.values()))
    return str(value).lower() if isinstance(value, bool) else str(value)


def listed_values(values: Iterable[str]) -> str:
    """`"33040", "33037" and 4 more`."""
    texts = list(dict.fromkeys(values))
    more = f" and {len(texts) - VALUES} more" if len(texts) > VALUES else ""
    return ", ".join(f'"{shortened(text)}"' for text in texts[:VALUES]) + more


def sentence_around(text: str, start: int, end: int, width: int = 200, before: int = 100) -> str:
    """The line or sentence that a match is in, verbatim, at most so long and with at most so much before the match."""
    dot = text.rfind(". ", 0, start)
    left = max(text.rfind("\n", 0, start) + 1, dot + 2 if dot >= 0 else 0, 0)
    if left < start - before:  # within a long sentence: from a whole word
        left = start - before
        space = text.find(" ", left - 1, start)
        left = space + 1 if space >= 0 else left
    ends = [at for at in (text.find("\n", end), text.find(". ", end)) if at >= 0]
    right = min(ends) + 1 if ends else len(text)
    return text[left : min(right, left + width)].strip()
