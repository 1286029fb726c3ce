"""Names → what may stand in a path, a file name or a key."""

import re
from collections.abc import Iterable

UNKNOWN, UNNAMED = "unknown", "unnamed"
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def slug(text: str) -> str:
    """What may stand in a path: no folder of its own, no dot file, never empty."""
    return _UNFIT.sub("-", text).strip("-.")[:80].rstrip("-.") or UNKNOWN


def key_slug(name: str) -> str:
    """What may stand in a file name and a key; never empty, never a dot file, never longer than a file name may be."""
    return _UNFIT.sub("-", name).strip("-.")[:100].rstrip("-.") or UNNAMED


def unique_keys(names: Iterable[str], *, reserved: Iterable[str] = ()) -> list[str]:
    """File names and keys for things of any name: slugged, each its own, whatever the case of its letters."""
    taken = set(reserved)
    found = []
    for name in names:
        key = base = key_slug(name)
        number = 2
        while key.lower() in taken:
            key, number = f"{base}-{number}", number + 1
        taken.add(key.lower())
        found.append(key)
    return found
