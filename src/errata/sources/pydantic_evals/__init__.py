"""pydantic-evals: a report, as `EvaluationReportAdapter` writes it."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item, Unreadable
from errata.sources.base import Match, convert_each, head_of, of_run
from errata.sources.pydantic_evals.cases import Reading, items_of
from errata.sources.pydantic_evals.reports import CASES, NAME, Report, run_of
from errata.sources.shared.json_rows import long_document

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "pydantic-evals: a report as JSON"

HEAD = 256 * 1024


def _keys(*names: bytes) -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(rb'(?<!\\)"' + name + rb'"\s*:') for name in names)


_REPORT = re.compile(rb'(?<!\\)"cases"\s*:\s*\[')
_CASE = _keys(b"inputs", b"assertions", b"task_duration")
_ALL_BROKEN = _keys(b"failures", b"inputs", b"error_stacktrace", b"source_case_name")


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if not head.lstrip().startswith(b"{") or not _REPORT.search(head):
        return None
    if all(key.search(head) for key in _CASE) or all(key.search(head) for key in _ALL_BROKEN):
        return Match.sure("`cases` with `inputs`, `assertions` and `task_duration`")
    return None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    document = long_document(path, CASES, source=NAME, root=path.parent)
    if isinstance(document, Unreadable):
        yield document
        return
    report = Report(document)
    run = run_of(report, path.parent)
    yield run
    yield from of_run(run.id, iter(report.problems))
    rows = convert_each(report.rows(), partial(items_of, Reading(run, report, {})), source=NAME)
    yield from of_run(run.id, rows)
