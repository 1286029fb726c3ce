"""Harnesses whose files are known and not read yet, so that a user who has such a file is not left to guess."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from errata.sources.base import head_of
from errata.sources.shared.documents import children

HEAD = 256 * 1024
LOOKS = 200
DEPTH = 5


class Telltale(NamedTuple):
    """All of these words stand in such a file, most of them as keys of JSON."""

    what: str
    words: tuple[bytes, ...]


TELLTALES = (
    Telltale("lighteval results", (b'"config_general"', b'"config_tasks"', b'"summary_tasks"')),
    Telltale("OpenCompass predictions", (b'"origin_prompt"', b'"prediction"')),
    Telltale("LangSmith runs", (b'"dotted_order"', b'"run_type"')),
    Telltale("Weave calls", (b'"op_name"', b'"trace_id"', b'"started_at"')),
)


class Known(NamedTuple):
    telltale: Telltale
    file: Path


def known_at(path: Path) -> Known | None:
    """The first file at a path, or below it, that gives its harness away."""
    for file in islice(_files(path, 0), LOOKS):
        content = head_of(file, HEAD)
        for telltale in TELLTALES:
            if all(word in content for word in telltale.words):
                return Known(telltale, file)
    return None


def _files(path: Path, depth: int) -> Iterator[Path]:
    if path.is_file():
        yield path
    elif depth < DEPTH:
        for child in children(path):
            yield from _files(child, depth + 1)
