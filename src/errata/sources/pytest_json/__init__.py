"""pytest-json-report: the JSON report of `pytest --json-report`."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "pytest-json"
TITLE = "pytest-json-report: the file that `pytest --json-report` writes"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 64 * 1024
_SIGNS = tuple(
    lazy_regex(rb'"(?<!\\")' + sign) for sign in (rb'exitcode"\s*:\s*-?\d', rb'root"\s*:\s*"', rb'summary"\s*:\s*\{')
)


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if not head.lstrip().startswith(b"{") or not all(sign.search(head) for sign in _SIGNS):
        return None
    return Match.sure("`exitcode`, `root` and `summary`")


def read(path: Path) -> Iterator[Item]:
    from errata.sources.pytest_json.reader import read as read_log

    return read_log(path)
