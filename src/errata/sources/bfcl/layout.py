"""How BFCL lays out its files: `result/<model>/<group>/BFCL_v4_<category>_result.json`, and the same below `score`."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from errata.sources.shared.documents import files, folders

NAME = "bfcl"

GROUPS = frozenset(
    ("non_live", "live", "multi_turn", "agentic", "format_sensitivity", "memory", "web_search", "kv", "vector",
     "rec_sum")
)  # fmt: skip
DEPTH = 3
_FILE = re.compile(
    r"(?:(?P<version>BFCL_v\d+|gorilla_openfunctions_v\d+_test)_)?(?P<category>\w+)_(?P<kind>result|score)\.json"
)


class Named(NamedTuple):
    """What the path of a file says."""

    model: str
    group: str
    category: str
    version: str
    kind: str
    """result or score."""


def named(file: Path) -> Named | None:
    """The rows of results name neither their model nor their category."""
    told = _FILE.fullmatch(file.name)
    if told is None:
        return None
    folder, groups = file.parent, []
    while folder.name in GROUPS:
        groups.append(folder.name)
        folder = folder.parent
    return Named(folder.name, "/".join(reversed(groups)), told["category"], told["version"] or "", told["kind"])


def files_below(root: Path) -> Iterator[Path]:
    """The files of results and scores below the folder that holds both kinds."""
    for kind in folders(root):
        for model in folders(kind):
            yield from _files(model, 0)


def _files(folder: Path, depth: int) -> Iterator[Path]:
    yield from (file for file in files(folder) if _FILE.fullmatch(file.name))
    if depth < DEPTH:
        for inner in folders(folder):
            if inner.name in GROUPS:
                yield from _files(inner, depth + 1)
