"""Which paths are evalscope's: the folder of a run by its first files, and its files by their first bytes."""

import re
from itertools import islice
from pathlib import Path
from typing import Literal

from errata.sources.base import Match, head_of
from errata.sources.shared.documents import children, folders

HEAD = 64 * 1024
LOOKS = 5

Kind = Literal["predictions", "reviews", "reports"]

_ROW = re.compile(rb'\s*\{\s*"index"\s*:\s*\d+\s*,')
_PREDICTION = re.compile(rb'(?<!\\)"model_output"\s*:\s*(?:\{|null)')
_REVIEW = re.compile(rb'(?<!\\)"sample_score"\s*:\s*\{')
_REPORT = tuple(
    re.compile(rb'(?<!\\)"' + key + rb'"\s*:')
    for key in (b"dataset_name", b"dataset_pretty_name", b"model_name", b"metrics")
)


def recognise(path: Path) -> Match | None:
    try:
        if path.is_file():
            kind = kind_of(path)
            return Match.sure(f"evalscope's {kind}") if kind in ("predictions", "reviews") else None
        for name in ("reviews", "predictions", "reports"):
            below = (file for model in islice(folders(path / name), LOOKS) for file in children(model))
            if any(kind_of(file) == name for file in islice(below, LOOKS)):
                return Match.sure(f"a folder of evalscope with `{name}`")
    except (OSError, ValueError):
        return None
    return None


def explain(path: Path) -> str | None:
    """A hint for a report, which is read with the rows that it counts."""
    try:
        return (
            "this is a report of evalscope: name the folder that holds `reports`"
            if kind_of(path) == "reports"
            else None
        )
    except (OSError, ValueError):
        return None


def kind_of(path: Path) -> Kind | None:
    head = head_of(path, HEAD)
    if _ROW.match(head):
        # a review may quote a whole prediction, so what stands first decides
        found = [(match.start(), kind) for kind, pattern in _KINDS if (match := pattern.search(head))]
        return min(found)[1] if found else None
    return "reports" if head.lstrip().startswith(b"{") and all(key.search(head) for key in _REPORT) else None


_KINDS: tuple[tuple[Kind, re.Pattern[bytes]], ...] = (("predictions", _PREDICTION), ("reviews", _REVIEW))
