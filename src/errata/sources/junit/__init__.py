"""JUnit XML, as pytest, promptfoo and most test runners write it: one report is one run."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Item, Unreadable
from errata.sources.base import Match, Numbering, Row
from errata.sources.heads import head_of
from errata.sources.junit.attempts import items_of
from errata.sources.junit.runs import runs_of
from errata.sources.junit.survey import NAME, survey, tests_of
from errata.sources.several_runs import items_of_runs

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "JUnit XML: a report of pytest, promptfoo or another test runner"

HEAD = 64 * 1024
# whatever may stand before the first element: a declaration, comments, a document type that is refused later
_OPENING = re.compile(
    rb"\s*(?:<\?.{0,400}?\?>\s*|<!--.{0,4000}?-->\s*|<!DOCTYPE[^\[>]{0,400}(?:\[.{0,20000}?\]\s*)?>\s*){0,8}"
    rb"<(?:[\w.-]+:)?(?P<tag>testsuites?)(?=[\s/>])",
    re.DOTALL,
)


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        head = head.decode("utf-16", "replace").encode()
    opening = _OPENING.match(head) if head.lstrip().startswith(b"<") else None
    return Match.sure(f"`<{opening['tag'].decode()}>`") if opening else None


def read(path: Path) -> Iterator[Item]:
    """Counts and properties stand in many places, and the run comes first: the report is gone through twice."""
    path = path.absolute()
    report = survey(path)
    runs = runs_of(report, path)
    numbering = Numbering()
    rows = (found if isinstance(found, Unreadable) else Row(found, found.ref) for found in tests_of(path))
    yield from items_of_runs(
        runs,
        rows,
        lambda row: items_of(runs[report.column(row.data)], numbering, row.data),
        which=lambda row: report.column(row.data),
        source=NAME,
    )
