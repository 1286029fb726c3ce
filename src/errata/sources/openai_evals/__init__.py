"""OpenAI evals: the log of a run, one event a line."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from errata.model import Item, Unreadable
from errata.sources.base import Match, Row, convert_each, head_of, of_run
from errata.sources.openai_evals.runs import NAME, header_of, run_of
from errata.sources.openai_evals.samples import Event, Reading, items_of
from errata.sources.shared.row_groups import gathered

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "OpenAI evals: the JSON Lines that `oaieval` records"

HEAD = 64 * 1024
_SPEC = re.compile(rb'\s*\{\s*"spec"\s*:\s*\{')
_OF_SPEC = tuple(re.compile(rb'(?<!\\)"' + key + rb'"\s*:') for key in (b"eval_name", b"run_id"))
_EVENT = re.compile(rb'\s*\{\s*"run_id"\s*:\s*"[^"]*"\s*,\s*"event_id"\s*:\s*\d+\s*,\s*"sample_id"\s*:')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if _SPEC.match(head) and all(key.search(head.partition(b"\n")[0]) for key in _OF_SPEC):
        return Match.sure("`spec` with `eval_name` and `run_id` in the first line")
    return Match.sure("events with `run_id`, `event_id` and `sample_id`") if _EVENT.match(head) else None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    header = header_of(path)
    run = run_of(header, path)
    yield run
    rows = gathered(path, Event, Event.key, source=NAME, root=path.parent)
    events = (row for row in rows if not _is_header(row))
    yield from of_run(run.id, convert_each(events, partial(items_of, Reading(run, header)), source=NAME))


def _is_header(row: Row | Unreadable) -> bool:
    data = row.data[0].data if isinstance(row, Row) else None
    return isinstance(data, dict) and bool({"spec", "final_report"} & set(data))
