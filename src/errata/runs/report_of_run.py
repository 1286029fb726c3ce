"""Which report is the one about a run: what it says itself, else what its name says; of several, the newest."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

from errata.memory.reading.head import parse_file_name
from errata.memory.report_files import ReportFile
from errata.memory.spelling import same_run
from errata.model import StoredRun
from errata.runs.reports_in_use import reports_at, reports_for, shelf_for
from errata.store.database import Store


class Found(NamedTuple):
    """A report, and the folder of reports that it lies in."""

    path: Path
    folder: Path


FindReport = Callable[[StoredRun, Store], Found | None]


def report_of(stored: StoredRun, store: Store, *, named: Path | None = None) -> Found | None:
    """In the folder that is named, else where reports are looked for anyway."""
    run = stored.run
    with reports_at(named) if named else nullcontext():
        shelf = shelf_for(run)
    own = {one.path for one in reports_for(stored, store, shelf).shelved.own} if shelf.files else set()
    by_text = (one for one in shelf.files if one.name in own)
    by_name = (one for one in shelf.files if same_run(_run_in_name(one), run.native_id, run.external_id))
    found = next(by_text, None) or next(by_name, None)
    return Found(found.path, found.folder) if found else None


def _run_in_name(file: ReportFile) -> str:
    return parse_file_name(file.path.relative_to(file.folder).as_posix()).run
