"""Braintrust: what `Eval` returns, or the rows of an experiment with their spans, as lines or as a list."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item
from errata.sources.base import Match, Numbering, head_of
from errata.sources.braintrust.experiments import experiment_of, runs_of, survey
from errata.sources.braintrust.groups import NAME, groups_of
from errata.sources.braintrust.rows import items_of
from errata.sources.shared.runs import items_of_runs

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "Braintrust: the result of `Eval` with `summary` and `results`, or the rows of an experiment"

HEAD = 256 * 1024
_ROW = re.compile(rb'\s*(?:\{\s*"(?:results|events|data)"\s*:\s*)?(?:\[\s*)?\{\s*"')


def _keys(*keys: bytes) -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(rb'(?<!\\)"' + key) for key in keys)


_SUMMARY = _keys(rb'summary"\s*:\s*\{', rb'experiment_name"\s*:', rb'project_name"\s*:')
_RESULT = _keys(rb'scores"\s*:\s*[{n]', rb'expected"\s*:', rb'exc_info"\s*:')
_SPAN = _keys(rb'scores"\s*:\s*[{n]', rb'root_span_id"\s*:', rb'span_attributes"\s*:')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if not head.lstrip().startswith((b"{", b"[")):
        return None
    if head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _SUMMARY):
        return Match.sure("`summary` with `experiment_name` and `project_name`")
    for signs, told in ((_RESULT, "`scores`, `expected` and `exc_info`"), (_SPAN, "`scores` and `root_span_id`")):
        if _ROW.match(head) and all(sign.search(head) for sign in signs):
            return Match.sure(f"rows with {told}")
    return None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    found = survey(path)
    runs = runs_of(found, path)
    convert = partial(items_of, runs, found.experiments, Numbering())
    yield from items_of_runs(
        runs, groups_of(path), convert, which=lambda group: experiment_of(group.data[0]), source=NAME
    )
