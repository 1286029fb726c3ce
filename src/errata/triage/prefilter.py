"""Which rules can match a text at all: plain substrings are looked for before any regular expression runs.

Every alternative of a pattern has a longest stretch of plain characters. Where each has one, a text that holds none of
them can't match, and finding that out costs a fortieth of trying.
"""

from collections.abc import Iterator

SHORTEST = 3
_CLASSES = "bBdDsSwWAZ"


def needed(pattern: str) -> tuple[str, ...]:
    """Lower-case texts of which one must be there for the pattern to match; empty where nothing can be said."""
    stretches = [max(_stretches(alternative), key=len, default="") for alternative in _alternatives(pattern)]
    return tuple(stretches) if all(len(one) >= SHORTEST for one in stretches) else ()


def _alternatives(pattern: str) -> Iterator[str]:
    """The pattern split at those bars that stand outside of every bracket."""
    depth, start, at = 0, 0, 0
    in_set = False
    while at < len(pattern):
        letter = pattern[at]
        if letter == "\\":
            at += 1
        elif in_set:
            in_set = letter != "]"
        elif letter == "[":
            in_set = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter == "|" and depth == 0:
            yield pattern[start:at]
            start = at + 1
        at += 1
    yield pattern[start:]


def _stretches(alternative: str) -> Iterator[str]:
    """The plain characters that must follow each other, outside of every bracket."""
    run, depth, at = "", 0, 0
    in_set = False
    while at < len(alternative):
        letter = alternative[at]
        plain = ""
        if in_set:
            in_set = letter != "]"
            at += letter == "\\"
        elif letter == "\\":
            at += 1
            following = alternative[at : at + 1]
            plain = "" if following in _CLASSES or following.isdigit() else following
        elif letter == "[":
            in_set = True
        elif letter in "()":
            depth += 1 if letter == "(" else -1
        elif letter in "?*{":
            run = run[:-1]  # what it stands behind may be absent
        elif letter not in "+.^$}":
            plain = letter
        if plain and depth == 0:
            run += plain.lower()
        else:
            yield run
            run = ""
        at += 1
    yield run
