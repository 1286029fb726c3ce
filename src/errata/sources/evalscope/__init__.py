"""evalscope: a run folder with predictions, reviews and reports, or one file of predictions or reviews."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from errata.model import Harness, Item
from errata.sources.base import Match, children, decode, folders, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "evalscope"
TITLE = "evalscope: a run folder, or one file of predictions or reviews"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 64 * 1024
LOOKS = 5

Kind = Literal["predictions", "reviews", "reports"]

_INDEX = lazy_regex(rb'"(?<!\\")index"\s*:\s*\d')
_ROW = lazy_regex(rb'\s*\{\s*"index"\s*:\s*\d+\s*,')
_KINDS: tuple[tuple[Kind, re.Pattern[bytes]], ...] = (
    ("predictions", lazy_regex(rb'"(?<!\\")model_output"\s*:\s*(?:\{|null)')),
    ("reviews", lazy_regex(rb'"(?<!\\")sample_score"\s*:\s*\{')),
)
_REPORT = tuple(
    lazy_regex(rb'"(?<!\\")' + key + rb'"\s*:')
    for key in (b"dataset_name", b"dataset_pretty_name", b"model_name", b"metrics")
)


def recognise(path: Path) -> Match | None:
    try:
        if path.is_file():
            kind = kind_of(path)
            return Match.sure(f"evalscope's {kind}") if kind in ("predictions", "reviews") else None
        for name in ("reviews", "predictions", "reports"):
            if (path / name).is_dir() and _holds(path / name, name):
                return Match.sure(f"a folder of evalscope with `{name}`")
    except (OSError, ValueError):
        return None
    return None


def explain(path: Path) -> str | None:
    """A hint for a report, which is read together with its rows."""
    try:
        is_report = kind_of(path) == "reports"
    except (OSError, ValueError):
        return None
    return "this is a report of evalscope: import the folder that contains `reports`" if is_report else None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.evalscope.reader import read as read_log

    return read_log(path)


def kind_of(path: Path) -> Kind | None:
    head = head_of(path, HEAD)
    if not head.lstrip().startswith(b"{"):
        return None
    return _kind_of_row(head) or ("reports" if all(key.search(head) for key in _REPORT) else None)


def _kind_of_row(head: bytes) -> Kind | None:
    """By the fields of the first row; if it is longer than the head, by the field that comes first."""
    # a review may quote a whole prediction
    matches = [(match.start(), kind) for kind, pattern in _KINDS if (match := pattern.search(head))]
    if not matches or not _INDEX.search(head):
        return None
    try:
        row = decode(head.lstrip().partition(b"\n")[0])
    except ValueError:
        return min(matches)[1] if _ROW.match(head) else None
    if not isinstance(row, dict) or not isinstance(row.get("index"), int):
        return None
    if isinstance(row.get("sample_score"), dict):
        return "reviews"
    return "predictions" if "model_output" in row and isinstance(row["model_output"], dict | None) else None


def _holds(folder: Path, kind: str) -> bool:
    """Whether one of the first files of the first models has this kind."""
    files = (file for model in islice(folders(folder), LOOKS) for file in children(model))
    return any(kind_of(file) == kind for file in islice(files, LOOKS))
