"""Allure: the folder of results that its adapters write, one JSON file for each test, with fixtures and attachments."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

from errata.model import Item
from errata.sources.allure.attempts import Reading, items_of
from errata.sources.allure.layout import LOOKS, NAME, is_result, listed, survey
from errata.sources.allure.runs import run_of
from errata.sources.base import Match, convert_each, json_file, of_run
from errata.sources.shared.documents import Documents

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "Allure: the folder `allure-results`, or one result of it"


def recognise(path: Path) -> Match | None:
    try:
        if path.is_file():
            return Match.sure("`historyId` or `fullName`, with a status") if is_result(path) else None
        found = path.is_dir() and any(map(is_result, islice(listed(path), LOOKS)))
    except (OSError, ValueError):
        return None
    return Match.sure("results of Allure") if found else None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    root = path if path.is_dir() else path.parent
    documents = Documents(root, NAME, keep="end")
    found = survey(path, documents)
    run = run_of(found, path, documents)
    yield run
    rows = (json_file(one.path, source=NAME, root=root) for one in found.results.values())
    reading = Reading(run, found, documents)
    yield from of_run(run.id, convert_each(rows, partial(items_of, reading), source=NAME))
    yield from of_run(run.id, documents.problems())
