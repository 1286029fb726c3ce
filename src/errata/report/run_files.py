"""A run → its report in the folder of reports: written anew each time, but for the section "Actions taken"."""

from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.memory.keeping import kept_actions, with_actions
from errata.memory.reading.own import ENDS, OPENS, Memory
from errata.model import StoredRun
from errata.model.output.report.run import RunReport
from errata.render.files import Written, write_file
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.render.paths import report_path
from errata.report.run_collect import run_report
from errata.report.run_document import ACTIONS_TAKEN, run_document
from errata.runs.report_of_run import report_of
from errata.store.database import Store

REPORTS = "reports"


class RunWritten(NamedTuple):
    report: RunReport
    written: tuple[Written, ...]
    """Nothing where all passed: there is nothing to report."""


def write_run_report(
    stored: StoredRun, store: Store, *, day: str, folder: Path, file: Path | None = None, html: bool = False
) -> RunWritten:
    """Into the folder of reports under the name that C-22 gives it, or into one file."""
    report = run_report(stored, store, made=day)
    if not report.failures and not report.subject.pending and not report.subject.missing:
        return RunWritten(report, ())
    document = run_document(report)
    root, name = (file.parent, file.name) if file is not None else (folder, _name(report, day, folder))
    said = _actions_so_far(root / name, stored, store, folder)
    text = with_actions(to_markdown(document), said)
    written = [write_file(root, name, text)]
    if html:
        page = write_file(root, f"{name.removesuffix('.md')}.html", to_html(document))
        written.append(page)
    return RunWritten(report, tuple(written))


def _name(report: RunReport, day: str, folder: Path) -> str:
    """Where ids begin with a day, as those of conversations do, eight characters may name several runs."""
    subject = report.subject
    usual = report_path(subject.model, subject.provider, subject.native_id, day)
    if _is_about_another(folder / usual, subject.native_id):
        return report_path(subject.model, subject.provider, subject.native_id, day, whole=True)
    return usual


def _is_about_another(path: Path, run: str) -> bool:
    return path.is_file() and _run_in(path) not in ("", run)


def _run_in(path: Path) -> str:
    """The run that a report of errata's own says it is about."""
    text = path.read_text(encoding="utf-8", errors="replace").rpartition(OPENS)[2]
    try:
        return msgspec.json.decode(text.partition(ENDS)[0], type=Memory).run
    except msgspec.MsgspecError:
        return ""


def _actions_so_far(path: Path, stored: StoredRun, store: Store, folder: Path) -> str:
    """Of the file itself where it is there already; else of the newest report of the same run."""
    if not path.is_file():
        found = report_of(stored, store, named=folder if folder.is_dir() else None)
        if found is None or _is_about_another(found.path, stored.run.native_id):
            return ""
        path = found.path
    return kept_actions(_end_of(path.read_text(encoding="utf-8", errors="replace")))


def _end_of(text: str) -> str:
    """From its last section on, where that can only be the one about actions: a large file is slow to read whole."""
    before, head, after = text.rpartition(f"\n## {ACTIONS_TAKEN}\n")
    alone = head and head not in before and "\n## " not in after
    return f"{head}{after}" if alone else text
