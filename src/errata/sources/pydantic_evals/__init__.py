"""pydantic-evals: a report as `EvaluationReportAdapter` writes it."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "pydantic-evals"
TITLE = "pydantic-evals: a report as JSON"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 256 * 1024


def _keys(*names: bytes) -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(rb'"(?<!\\")' + name + rb'"\s*:') for name in names)


_REPORT = lazy_regex(rb'"(?<!\\")cases"\s*:\s*\[')
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
    from errata.sources.pydantic_evals.reader import read as read_log

    return read_log(path)
