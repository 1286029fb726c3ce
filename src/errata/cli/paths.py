"""A path as people know it: from where they stand, or from their home."""

from pathlib import Path


def place_of(path: str) -> str:
    """The shortest of its names that still leads there."""
    names = [path]
    for start, sign in ((Path.cwd(), "."), (Path.home(), "~")):
        if path == str(start):
            names.append(sign)
        elif path.startswith(f"{start}/") and start != start.parent:
            below = path.removeprefix(f"{start}/")
            names.append(below if sign == "." else f"~/{below}")
    return min(names, key=len)
