"""JUnit XML, as pytest, promptfoo and most test runners write it: one report is one run."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Item, Unreadable
from errata.sources.base import Match, Numbering, Row, head_of
from errata.sources.junit.attempts import items_of
from errata.sources.junit.runs import runs_of
from errata.sources.junit.survey import NAME, survey, tests_of
from errata.sources.shared.runs import items_of_runs
from errata.sources.shared.xml_elements import first_tag

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "JUnit XML: a report of pytest, promptfoo or another test runner"

HEAD = 64 * 1024


def recognise(path: Path) -> Match | None:
    tag = first_tag(head_of(path, HEAD))
    return Match.sure(f"`<{tag}>`") if tag in ("testsuites", "testsuite") else None


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
