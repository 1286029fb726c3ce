"""Braintrust: the result of `Eval`, or the rows of an experiment with their spans, as lines or as a list."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "braintrust"
TITLE = "Braintrust: the result of `Eval` with `summary` and `results`, or the rows of an experiment"
HARNESS = Harness(name=NAME, title="Braintrust")

HEAD = 256 * 1024
_ROW = lazy_regex(rb'\s*(?:\{\s*"(?:results|events|data)"\s*:\s*)?(?:\[\s*)?\{\s*"')


def _keys(*keys: bytes) -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(rb'"(?<!\\")' + key) for key in keys)


_SUMMARY = _keys(rb'summary"\s*:\s*\{', rb'experiment_name"\s*:', rb'project_name"\s*:')
_RESULT = _keys(rb'scores"\s*:\s*[{n]', rb'expected"\s*:', rb'exc_info"\s*:')
_SPAN = _keys(rb'scores"\s*:\s*[{n]', rb'root_span_id"\s*:', rb'span_attributes"\s*:')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if not head.lstrip().startswith((b"{", b"[")):
        return None
    if head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _SUMMARY):
        return Match.sure("`summary` with `experiment_name` and `project_name`")
    for signs, names in ((_RESULT, "`scores`, `expected` and `exc_info`"), (_SPAN, "`scores` and `root_span_id`")):
        if _ROW.match(head) and all(sign.search(head) for sign in signs):
            return Match.sure(f"rows with {names}")
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.braintrust.reader import read as read_log

    return read_log(path)
