"""HELM: the folder of a run, with its requests, their statistics and what these come to."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from errata.model import Item, Unreadable
from errata.sources.base import Numbering, Row, convert_each, json_file, of_run
from errata.sources.helm.instances import Measured, Reading, Request, items_of
from errata.sources.helm.layout import INSTANCES, NAME, SCENARIO, SPEC, STATE, STATS
from errata.sources.helm.recognition import explain, recognise
from errata.sources.helm.runs import Folder, run_of
from errata.sources.helm.stats import stats_of
from errata.sources.shared.documents import Documents, is_file
from errata.sources.shared.json_rows import LongDocument, long_document
from errata.sources.shared.row_groups import Items
from errata.sources.shared.values import mapping

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = "HELM: the folder of a run, with scenario_state.json and per_instance_stats.json"


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    documents = Documents(path, NAME)
    problems: list[Unreadable] = []
    state = _long(path / STATE, "request_states", problems)
    measured = _long(path / INSTANCES, "", problems)
    folder = Folder(
        path=path,
        spec=documents.get(path / SPEC),
        scenario=documents.get(path / SCENARIO),
        stats=tuple(stats_of(_list(path / STATS, problems))),
        state_spec=_adapter(state),
        since=_since(state),
    )
    run = run_of(folder)
    yield run
    yield from of_run(run.id, (*documents.problems(), *problems))
    if state is not None:
        items = Items(measured, Measured, Measured.key) if measured is not None else None
        reading = Reading(run, folder.adapter, folder.main, folder.split, items)
        rows = Items(state, Request, Request.key).together()
        yield from of_run(run.id, convert_each(rows, partial(items_of, reading, Numbering()), source=NAME))
    if measured is not None:
        yield from of_run(run.id, measured.problems())


def _long(path: Path, listed: str, problems: list[Unreadable]) -> LongDocument | None:
    """None where there is no such file, or it can't be read."""
    if not is_file(path):
        return None
    read = long_document(path, listed, source=NAME, root=path.parent)
    if isinstance(read, Unreadable):
        problems.append(read)
        return None
    return read


def _list(path: Path, problems: list[Unreadable]) -> Any:
    read = json_file(path, source=NAME, root=path.parent) if is_file(path) else None
    if isinstance(read, Unreadable):
        problems.append(read)
    return read.data if isinstance(read, Row) else None


def _adapter(state: LongDocument | None) -> dict[str, Any]:
    try:
        return mapping(state.field("adapter_spec")) if state is not None else {}
    except (KeyError, ValueError):
        return {}


def _since(state: LongDocument | None) -> Any:
    first = state.row(0) if state is not None and state.items else None
    data = first.data if isinstance(first, Row) else None
    return mapping(mapping(data).get("result")).get("request_datetime")
