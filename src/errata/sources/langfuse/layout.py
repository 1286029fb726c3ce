"""What a file of an export holds, told by the fields of its first row, and which files are read together."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from errata.sources.base import head_of
from errata.sources.shared.documents import children, files, folders, is_file

NAME = "langfuse"
HEAD = 64 * 1024
LOOKS = 12
DEPTH = 3

Kind = Literal["trace", "observation", "score", "run", "run_item", "experiment_item", "item"]

_BEGINNING = re.compile(rb'\s*(?:\{\s*"data"\s*:\s*)?\[?\s*(?=\{)')
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]', re.DOTALL)
_OF_TRACES = frozenset(
    ("sessionId", "userId", "release", "observations", "scores", "htmlPath", "bookmarked", "public", "totalCost")
)


def kind_of(path: Path) -> Kind | None:
    keys = _first_keys(head_of(path, HEAD))
    if "datasetRunItems" in keys:
        return "run"
    if {"experimentId", "experimentItemId", "traceId"} <= keys:
        return "experiment_item"
    if {"datasetRunId", "datasetItemId", "traceId"} <= keys:
        return "run_item"
    if {"id", "traceId", "type", "startTime", "parentObservationId"} <= keys:
        return "observation"
    if {"id", "name", "dataType", "source"} <= keys:
        return "score"
    if {"id", "expectedOutput"} <= keys and {"datasetName", "datasetId"} & keys:
        return "item"
    is_trace = {"id", "timestamp"} <= keys and len(_OF_TRACES & keys) > 1 and "traceId" not in keys
    return "trace" if is_trace else None


def camel(name: str) -> str:
    """Exports to a bucket have `trace_id` for what the API calls `traceId`."""
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


def _first_keys(head: bytes) -> frozenset[str]:
    """Of the first object, as far as the head goes."""
    start = _BEGINNING.match(head)
    found, depth = set(), 0
    for token in _TOKEN.finditer(head, start.end()) if start else ():
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                break
        elif depth == 1 and token[2]:
            found.add(camel(token[1].decode("utf-8", "replace")))
    return frozenset(found)


class Export:
    """The files of an export by what they hold; a file that was named is read alone."""

    def __init__(self, path: Path) -> None:
        self.root = path.parent if is_file(path) else path
        listed = iter((path,)) if is_file(path) else _below(path, DEPTH)
        self.files: dict[Kind, list[Path]] = {}
        for file in listed:
            if kind := kind_of(file):
                self.files.setdefault(kind, []).append(file)

    @property
    def traces(self) -> list[Path]:
        """Files with a row for each trace; an item of an experiment says more than the trace that it is of."""
        return [*self.files.get("experiment_item", []), *self.files.get("trace", [])]


def looks_like_one(folder: Path) -> bool:
    """What was done, and what was said of it, in different files: the first of the folder and of each folder in it."""
    listed = [*files(folder)[:LOOKS], *(file for below in folders(folder)[:LOOKS] for file in _first(below, DEPTH - 1))]
    kinds = {kind for file in listed if (kind := kind_of(file))}
    return len(kinds) > 1 and bool({"trace", "observation", "experiment_item"} & kinds)


def _first(folder: Path, depth: int) -> list[Path]:
    return list(islice(_below(folder, depth), 1))


def _below(folder: Path, depth: int) -> Iterator[Path]:
    for child in children(folder):
        if child.is_file():
            yield child
        elif depth > 1:
            yield from _below(child, depth - 1)
