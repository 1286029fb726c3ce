"""What somebody may have meant who typed a name that is not there."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

LOOKED_AT = 5_000
SHOWN = 3


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known names that are most like the word: those that contain it, then those that are spelt alike.

    Hyphens, slashes and capitals are easily mistaken, and do not count. The word itself is never meant by itself.
    """
    wanted = _bare(word)
    names = {name: _bare(name) for name in islice(known, LOOKED_AT) if name and name != word}
    if not wanted:
        return []
    inside = sorted((name for name, bare in names.items() if wanted in bare), key=lambda name: (len(name), name))
    by_bare = {bare: name for name, bare in names.items()}
    alike = [by_bare[bare] for bare in get_close_matches(wanted, by_bare, n=SHOWN, cutoff=0.7)]
    return list(dict.fromkeys([*inside, *alike]))[:SHOWN]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question for a hint; empty where nothing is like the word."""
    found = [f"`{name}`" for name in nearest(word, known)]
    if len(found) > 1:
        return f"did you mean {', '.join(found[:-1])} or {found[-1]}?"
    return f"did you mean {found[0]}?" if found else ""


def _bare(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())
