"""MLflow 3 (and 2): traces with their assessments, the table of an evaluation, and its metrics."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "mlflow"
TITLE = "MLflow: traces of GenAI with their assessments, or the folder with an evaluation's results"
HARNESS = Harness(name=NAME, title="MLflow")

HEAD = 64 * 1024

Kind = Literal["traces", "table", "summary"]

_TRACES = lazy_regex(rb'\s*+(?:\{\s*"traces"\s*:\s*+)?(?:\[\s*+)?\{\s*"info"\s*:\s*\{')
_OF_TRACES = lazy_regex(rb'"(?<!\\")(?:trace_metadata|request_metadata)"\s*:')
_TABLE = lazy_regex(rb'\s*+(?:\[\s*+)?\{\s*"trace_id"\s*:\s*"tr-')
_OF_TABLE = lazy_regex(rb'"(?<!\\")(?:trace|spans|trace_metadata)"\s*:')
_SUMMARY = tuple(lazy_regex(rb'"(?<!\\")' + key) for key in (rb'metrics"\s*:\s*\{', rb'run_id"\s*:\s*"[0-9a-f]{32}"'))


def recognise(path: Path) -> Match | None:
    if path.is_dir():
        return Match.sure("traces or results of MLflow") if _are_together(path) else None
    kind = kind_of(path)
    if kind == "traces":
        return Match.sure("traces with `info` and `trace_metadata`")
    return Match.sure("rows with `trace_id` and `trace`") if kind == "table" else None


def kind_of(path: Path) -> Kind | None:
    head = head_of(path, HEAD)
    if _TRACES.match(head):
        return "traces" if _OF_TRACES.search(head) else None
    if _TABLE.match(head):
        return "table" if _OF_TABLE.search(head) else None
    is_summary = head.lstrip().startswith(b"{") and all(key.search(head) for key in _SUMMARY)
    return "summary" if is_summary else None


def _are_together(folder: Path) -> bool:
    """A quick check: whether a folder's first files include several that belong together."""
    from errata.sources.shared.documents import files

    kinds = [kind for file in files(folder) if (kind := kind_of(file))]
    return len(kinds) > 1 and ("traces" in kinds or "table" in kinds)


def read(path: Path) -> Iterator[Item]:
    from errata.sources.mlflow.reader import read as read_log

    return read_log(path)
