"""Which report is the one of a run: by its name, else by the run's id in its text; of several, the newest."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from errata.memory.finding import ReportFile, folders_for, look_into
from errata.memory.reading.names import told_by_name
from errata.memory.spelling import same_run
from errata.model import Run, StoredRun


class Found(NamedTuple):
    """A report, and the folder of reports that it lies in."""

    path: Path
    folder: Path


FindReport = Callable[[StoredRun], Found | None]


def reports_in(named: Path | None, *, cwd: Path) -> FindReport:
    """Looks into the folder that was named, else where reports of the run usually lie."""

    def find(stored: StoredRun) -> Found | None:
        run = stored.run
        files = look_into(folders_for([Path(run.origin)] if run.origin else [], cwd=cwd, named=named)).files
        by_name = (one for one in files if same_run(_run_in_name(one), *_ids(run)))
        by_text = (one for one in files if not _run_in_name(one) and any(name in one.text for name in _ids(run)))
        found = next(by_name, None) or next(by_text, None)
        return Found(found.path, found.folder) if found else None

    return find


def _run_in_name(file: ReportFile) -> str:
    return told_by_name(file.path.relative_to(file.folder).as_posix()).run


def _ids(run: Run) -> list[str]:
    return [name for name in (run.native_id, run.external_id) if name]
