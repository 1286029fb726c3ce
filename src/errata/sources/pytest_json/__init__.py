"""pytest-json-report: the JSON that pytest leaves with `--json-report`."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item, Unreadable
from errata.sources.base import Match, Numbering, convert_each, head_of, of_run
from errata.sources.pytest_json.plan import never_run, not_collected
from errata.sources.pytest_json.runs import NAME, run_of, survey
from errata.sources.pytest_json.tests import items_of
from errata.sources.shared.json_rows import long_document

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "pytest-json-report: the file that `pytest --json-report` writes"

HEAD = 64 * 1024
_SIGNS = tuple(
    re.compile(rb'(?<!\\)"' + sign) for sign in (rb'exitcode"\s*:\s*-?\d', rb'root"\s*:\s*"', rb'summary"\s*:\s*\{')
)


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if not head.lstrip().startswith(b"{") or not all(sign.search(head) for sign in _SIGNS):
        return None
    return Match.sure("`exitcode`, `root` and `summary`")


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    document = long_document(path, "tests", source=NAME, root=path.parent)
    if isinstance(document, Unreadable):
        yield document
        return
    told = survey(document)
    run = run_of(document, told, path)
    yield run
    yield from of_run(run.id, convert_each(document.rows(), partial(items_of, run, Numbering()), source=NAME))
    yield from of_run(run.id, document.problems())
    yield from not_collected(run, document)
    yield from never_run(run, document, told.names)
