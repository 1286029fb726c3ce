"""A run → its report in the folder of reports: rewritten each time, except the section "Actions taken"."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.memory.reading.memory_comment import ENDS, OPENS, Memory
from errata.memory.section import section_text, with_section_text
from errata.model.output.report.run import RunReport
from errata.render.files import WrittenFile, slug, write_file
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.report.run_document import ACTIONS_TAKEN, run_document

REPORTS = "reports"
PREFIX = 8
"""Characters of a run's id in the name of its report."""


class RunWritten(NamedTuple):
    report: RunReport
    written: tuple[WrittenFile, ...]
    """Empty where everything passed."""


def write_run_report(
    report: RunReport,
    *,
    day: str,
    folder: Path,
    find_earlier: Callable[[], Path | None],
    file: Path | None = None,
    html: bool = False,
) -> RunWritten:
    """Into the folder of reports under the name that C-22 gives it, or into one file.

    `find_earlier` finds the newest report about the run, whose section about actions is kept.
    """
    if not report.failures and not report.subject.pending and not report.subject.missing:
        return RunWritten(report, ())
    document = run_document(report)
    root, name = (file.parent, file.name) if file is not None else (folder, _name(report, day, folder))
    actions = _actions_so_far(root / name, report.subject.native_id, find_earlier)
    written = [write_file(root, name, with_section_text(to_markdown(document), actions))]
    if html:
        written.append(write_file(root, f"{name.removesuffix('.md')}.html", to_html(document)))
    return RunWritten(report, tuple(written))


def report_path(model: str, provider: str, run: str, day: str, *, whole: bool = False) -> str:
    """`{provider}/{model}/{first 8 characters of its id}_{day}.md`, relative to the folder of reports.

    The provider is the part before the slash of a model's name, if any. With the `whole` id of the run where its
    beginning names another run, too.
    """
    before, slash, name = model.partition("/")
    folder = slug(before if slash else provider)
    called = slug(run) if whole else slug(run)[:PREFIX].rstrip("-.")
    return f"{folder}/{slug(name if slash else model)}/{called}_{day}.md"


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
    """The run that a report of errata's own is about."""
    text = path.read_text(encoding="utf-8", errors="replace").rpartition(OPENS)[2]
    try:
        return msgspec.json.decode(text.partition(ENDS)[0], type=Memory).run
    except msgspec.MsgspecError:
        return ""


def _actions_so_far(path: Path, run: str, find_earlier: Callable[[], Path | None]) -> str:
    """Of the file itself where it is there already; else of the newest report of the same run."""
    earlier = path if path.is_file() else find_earlier()
    if earlier is None or (earlier != path and _is_about_another(earlier, run)):
        return ""
    return section_text(_end_of(earlier.read_text(encoding="utf-8", errors="replace")))


def _end_of(text: str) -> str:
    """From its last section on, where that can only be the one about actions: a large file is slow to read whole."""
    before, head, after = text.rpartition(f"\n## {ACTIONS_TAKEN}\n")
    alone = head and head not in before and "\n## " not in after
    return f"{head}{after}" if alone else text
