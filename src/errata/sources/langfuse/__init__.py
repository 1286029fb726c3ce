"""Langfuse: traces, observations, scores and dataset runs, saved from its API or exported to a bucket."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from errata.model import Harness, Item
from errata.sources.base import Match, children, folders, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "langfuse"
TITLE = "Langfuse: traces with observations and scores, saved from the API or exported; dataset runs"
HARNESS = Harness(name=NAME, title="Langfuse")

HEAD = 64 * 1024
LOOKS = 12
DEPTH = 3

Kind = Literal["trace", "observation", "score", "run", "run_item", "experiment_item", "item"]

_BEGINNING = lazy_regex(rb'\s*+(?:\{\s*"data"\s*:\s*+)?(?:\[\s*+)?(?=\{)')
# every kind has a key of these; with underscores, as in a bucket, too
_OWN_KEY = lazy_regex(rb'(?i)"(?:trace_*id|dataset_*run_*items|data_*type|expected_*output|timestamp)_*"\s*:')
_TOKEN = lazy_regex(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]', re.DOTALL)
_OF_TRACES = frozenset(
    ("sessionId", "userId", "release", "observations", "scores", "htmlPath", "bookmarked", "public", "totalCost")
)
_ALONE = {
    "trace": "traces with `timestamp`, `observations` or `sessionId`",
    "observation": "observations with `traceId` and `parentObservationId`",
    "experiment_item": "items of an experiment with `traceId`",
}


def recognise(path: Path) -> Match | None:
    if path.is_dir():
        return Match.sure("traces or observations, and scores or runs") if _is_export(path) else None
    because = _ALONE.get(kind_of(path) or "")
    return Match.sure(because) if because else None


def explain(path: Path) -> str | None:
    """A hint for files that are useless without their traces."""
    if path.is_file() and kind_of(path) in ("score", "run", "run_item", "item"):
        return "it belongs to Langfuse traces: import the folder that holds the traces, too"
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.langfuse.reader import read as read_log

    return read_log(path)


def kind_of(path: Path) -> Kind | None:
    """What a file of an export holds, by the fields of its first row."""
    head = head_of(path, HEAD)
    if not _OWN_KEY.search(head):  # going through the tokens takes fifty times as long
        return None
    keys = _first_keys(head)
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
    """Bucket exports have `trace_id` for the API's `traceId`."""
    first, *others = name.split("_")
    return first + "".join(part.capitalize() for part in others)


def _first_keys(head: bytes) -> frozenset[str]:
    """The keys of the first object, as far as the head goes."""
    start = _BEGINNING.match(head)
    keys, depth = set(), 0
    for token in _TOKEN.finditer(head, start.end()) if start else ():
        if token[0] in (b"{", b"["):
            depth += 1
        elif token[0] in (b"}", b"]"):
            depth -= 1
            if depth == 0:
                break
        elif depth == 1 and token[2]:
            keys.add(camel(token[1].decode("utf-8", "replace")))
    return frozenset(keys)


def _is_export(folder: Path) -> bool:
    """Whether traces and their scores or runs are in different files, by a few files of the folder and below."""
    from errata.sources.shared.documents import files

    listed = [*files(folder)[:LOOKS], *(file for below in folders(folder)[:LOOKS] for file in _first(below, DEPTH - 1))]
    kinds = {kind for file in listed if (kind := kind_of(file))}
    return len(kinds) > 1 and bool({"trace", "observation", "experiment_item"} & kinds)


def _first(folder: Path, depth: int) -> list[Path]:
    return list(islice(files_below(folder, depth), 1))


def files_below(folder: Path, depth: int) -> Iterator[Path]:
    for child in children(folder):
        if child.is_file():
            yield child
        elif depth > 1:
            yield from files_below(child, depth - 1)
