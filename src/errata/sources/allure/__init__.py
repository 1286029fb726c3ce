"""Allure: the results folder that its adapters write, with one JSON file per test, fixtures and attachments."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, children, files, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "allure"
TITLE = "Allure: the folder `allure-results`, or one result file"
HARNESS = Harness(name=NAME, title="Allure")

HEAD = 64 * 1024
LOOKS = 200
_RESULT = tuple(
    lazy_regex(rb'"(?<!\\")(?:' + keys + rb')"\s*:')
    for keys in (rb"uuid", rb"status|stage", rb"historyId|testCaseId|fullName", rb"start|labels|steps")
)


def recognise(path: Path) -> Match | None:
    try:
        if path.is_file():
            return Match.sure("`historyId` or `fullName`, with a status") if is_result(path) else None
        holds_results = path.is_dir() and any(map(is_result, islice(_usual_first(files(path)), LOOKS)))
    except (OSError, ValueError):
        return None
    return Match.sure("Allure results") if holds_results else None


def is_result(path: Path) -> bool:
    head = head_of(path, HEAD)
    return head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _RESULT)


def files_in(folder: Path) -> list[Path]:
    """The files of a folder, those with the usual name of a result first."""
    return _usual_first(children(folder))


def _usual_first(paths: Iterable[Path]) -> list[Path]:
    return sorted(paths, key=lambda path: not path.name.endswith("-result.json"))


def read(path: Path) -> Iterator[Item]:
    from errata.sources.allure.reader import read as read_log

    return read_log(path)
