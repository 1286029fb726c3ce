"""The files of an evaluation with MLflow: its traces, the table of its results, and the numbers that it came to."""

import re
from pathlib import Path
from typing import Literal

from errata.sources.base import head_of
from errata.sources.shared.documents import children, files, is_file

NAME = "mlflow"
HEAD = 64 * 1024
SUMMARY_CAP = 4 * 1024 * 1024

Kind = Literal["traces", "table", "summary"]

_TRACES = re.compile(rb'\s*(?:\{\s*"traces"\s*:\s*)?\[?\s*\{\s*"info"\s*:\s*\{')
_OF_TRACES = re.compile(rb'(?<!\\)"(?:trace_metadata|request_metadata)"\s*:')
_TABLE = re.compile(rb'\s*\[?\s*\{\s*"trace_id"\s*:\s*"tr-')
_OF_TABLE = re.compile(rb'(?<!\\)"(?:trace|spans|trace_metadata)"\s*:')
_SUMMARY = tuple(re.compile(rb'(?<!\\)"' + key) for key in (rb'metrics"\s*:\s*\{', rb'run_id"\s*:\s*"[0-9a-f]{32}"'))


def kind_of(path: Path) -> Kind | None:
    head = head_of(path, HEAD)
    if _TRACES.match(head):
        return "traces" if _OF_TRACES.search(head) else None
    if _TABLE.match(head):
        return "table" if _OF_TABLE.search(head) else None
    is_summary = head.lstrip().startswith(b"{") and all(key.search(head) for key in _SUMMARY)
    return "summary" if is_summary else None


class Files:
    """What is read together: a folder as a whole, or a file with the numbers that stand beside it."""

    def __init__(self, path: Path) -> None:
        self.folder = path.parent if is_file(path) else path
        listed = files(self.folder) if is_file(path) else children(self.folder)
        found = {file: kind for file in listed if file.is_file() and (kind := kind_of(file))}
        self.summaries = [file for file, kind in found.items() if kind == "summary"]
        # the table repeats the traces: it comes after them, for what they do not have
        self.rows = [file for wanted in ("traces", "table") for file, kind in found.items() if kind == wanted]
        if self.folder != path:
            self.rows = [path]


def are_one(folder: Path) -> bool:
    """A cheap look: whether the first files of a folder are several that belong together."""
    kinds = [kind for file in files(folder) if (kind := kind_of(file))]
    return len(kinds) > 1 and ("traces" in kinds or "table" in kinds)
