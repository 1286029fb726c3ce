"""JUnit XML, as pytest, promptfoo and most test runners write it: one report is one run."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of

NAME = "junit"
TITLE = "JUnit XML: a report of pytest, promptfoo or another test runner"
HARNESS = Harness(name=NAME, title="JUnit")

HEAD = 64 * 1024
_BEGINNINGS = (b"<", b"\xff\xfe", b"\xfe\xff")
"""How XML begins, in UTF-8 or with a UTF-16 byte order mark."""


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if not head.lstrip().startswith(_BEGINNINGS):
        return None
    from errata.sources.shared.xml_elements import first_tag

    tag = first_tag(head)
    return Match.sure(f"`<{tag}>`") if tag in ("testsuites", "testsuite") else None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.junit.reader import read as read_log

    return read_log(path)
