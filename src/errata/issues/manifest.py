"""What the script files, one line each: kind, key, file, marker. The script itself is the same for every batch."""

import re
from collections.abc import Iterable
from importlib.resources import files
from typing import NamedTuple

SCRIPT = "file_issues.sh"
LABEL = "evaluation"
_KEY = re.compile(r"[A-Za-z0-9._-]+")
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_RESERVED = frozenset(("epic", "links", "analysis"))


class Filed(NamedTuple):
    """One issue: its key, and its file relative to the script."""

    key: str
    file: str


def script() -> str:
    return files("errata.issues").joinpath(SCRIPT).read_text(encoding="utf-8")


def manifest(batch: str, issues: Iterable[Filed], *, labels: Iterable[str] = (LABEL,)) -> str:
    """`batch` makes the markers of this batch its own. No field is empty: a shell reads two tabs as one."""
    lines = [f"label\t{slug(label)}\t-\t-" for label in labels]
    lines += [f"epic\tepic\tissues/epic.md\t{marker(batch, 'epic')}"]
    lines += [f"issue\t{one.key}\t{one.file}\t{marker(batch, one.key)}" for one in issues]
    lines += [
        f"links\tlinks\t-\t{marker(batch, 'links')}",
        f"analysis\tanalysis\tanalysis.md\t{marker(batch, 'analysis')}",
    ]
    return "".join(f"{line}\n" for line in lines)


def marker(batch: str, key: str) -> str:
    """Hidden at the end of a body, so that an interrupted run finds what it had filed."""
    return f"errata:{slug(batch)}:{key}"


def keys_for(names: Iterable[str]) -> list[str]:
    """File names and keys for tests of any name: slugged, each its own."""
    taken: set[str] = set(_RESERVED)
    found = []
    for name in names:
        key = base = slug(name)
        number = 2
        while key.lower() in taken:
            key, number = f"{base}-{number}", number + 1
        taken.add(key.lower())
        found.append(key)
    return found


def slug(name: str) -> str:
    """What may stand in a file name and a key; never empty, never a dot file, never longer than a file name may be."""
    made = _UNFIT.sub("-", name).strip("-.")[:100].rstrip("-.")
    return made if _KEY.fullmatch(made) else "unnamed"
