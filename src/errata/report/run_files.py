"""A run → its report in the folder of reports: rewritten each time, except the section "Actions taken"."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import msgspec

from errata.memory.actions_section import section_text, with_section_text
from errata.memory.own_reports import ENDS, OPENS, Memory
from errata.memory.spelling import folded
from errata.model.output.report.run import RunReport, RunSubject
from errata.render.document import Code, line
from errata.render.files import WrittenFile, details_name, slug, write_file
from errata.render.html import to_html
from errata.render.markdown import to_markdown
from errata.render.paging import paged
from errata.report.run_document import ACTIONS_TAKEN, run_document
from errata.text.outgoing import name_without_secrets
from errata.text.shell import shell_word

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
    called: str = "",
    file: Path | None = None,
    html: bool = False,
    details: bool = True,
) -> RunWritten:
    """Into the folder of reports under the name that C-22 gives it, or into one file.

    What is too much for one file is in a second one beside it, unless `details` is false. `find_earlier` finds the
    newest report about the run, whose section about actions is kept. `called` sets the run apart from others with its
    id, as `terse` does for a prompt.
    """
    if not (report.failures or report.subject.pending or report.subject.missing or report.values):
        return RunWritten(report, ())
    document = run_document(report)
    root, name = (file.parent, file.name) if file is not None else (folder, _name(report, day, folder, called))
    actions = _actions_so_far(root / name, report.subject, find_earlier)
    beside = details_name(name) if details else ""
    pages = paged(document, Path(beside).name, hint=line(Code(f"errata report {shell_word(report.subject.native_id)}")))
    written = [write_file(root, name, with_section_text(to_markdown(pages.main), actions))]
    if pages.details is not None and beside:
        written.append(write_file(root, beside, to_markdown(pages.details)))
    if html:
        written.append(write_file(root, f"{name.removesuffix('.md')}.html", to_html(document)))
    return RunWritten(report, tuple(written))


def report_path(model: str, provider: str, run: str, day: str, *, folder: Path | None = None, called: str = "") -> str:
    """`{provider}/{model}/{first 8 characters of its id}_{day}.md`, relative to the folder of reports.

    The provider is the part before the slash of a model's name, if any. `called` takes the place of the beginning of
    the id where that names another run, too. Folders that are in `folder` already are used, however they are spelt.
    """
    before, slash, name = name_without_secrets(model).partition("/")
    vendor = _existing(folder, slug(before if slash else provider))
    called = called or _beginning(run)
    own = _existing(folder / vendor if folder is not None else None, slug(name if slash else model))
    return f"{vendor}/{own}/{called}_{day}.md"


def _existing(parent: Path | None, name: str) -> str:
    """The folder that differs from the name in capitals, dots or hyphens only; else the name."""
    try:
        folders = (
            sorted(one.name for one in parent.iterdir() if one.is_dir() and not one.is_symlink()) if parent else []
        )
    except OSError:
        return name
    return name if name in folders else next((one for one in folders if folded(one) == folded(name)), name)


def _name(report: RunReport, day: str, folder: Path, called: str) -> str:
    """The file of this run that is there already; else the shortest name that is not the file of another run.

    Where ids begin with a day, as those of conversations do, eight characters may name several runs. Where a harness
    runs several models or prompts at once, the whole id does: what sets them apart follows the eight characters. Only
    errata's own id is of one run alone.
    """
    subject = report.subject
    whole = slug(subject.native_id)
    names = ["", whole, f"{whole}-{subject.run_id[:PREFIX]}", f"{whole}-{subject.run_id}"]
    if called:
        names.insert(0, f"{_beginning(subject.native_id)}-{slug(called)}")
    paths = [
        report_path(subject.model, subject.provider, subject.native_id, day, folder=folder, called=name)
        for name in names
    ]
    own = (one for one in paths if (memory := _memory_in(folder / one)) is not None and _is_about(memory, subject))
    return next(own, None) or next((one for one in paths if not _is_about_another(folder / one, subject)), paths[-1])


def _beginning(native_id: str) -> str:
    return slug(native_id)[:PREFIX].rstrip("-.")


def _is_about_another(path: Path, subject: RunSubject) -> bool:
    """By the ids that a report of errata's own holds; a report that somebody wrote is of the run in its name."""
    memory = _memory_in(path)
    return memory is not None and not _is_about(memory, subject)


def _is_about(memory: Memory, subject: RunSubject) -> bool:
    return memory.is_about(subject.native_id, subject.run_id)


def _memory_in(path: Path) -> Memory | None:
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace").rpartition(OPENS)[2]
    try:
        return msgspec.json.decode(text.partition(ENDS)[0], type=Memory)
    except msgspec.MsgspecError:
        return None


def _actions_so_far(path: Path, subject: RunSubject, find_earlier: Callable[[], Path | None]) -> str:
    """Of the file itself where it is there already; else of the newest report of the same run."""
    earlier = path if path.is_file() else find_earlier()
    if earlier is None or (earlier != path and _is_about_another(earlier, subject)):
        return ""
    return section_text(_end_of(earlier.read_text(encoding="utf-8", errors="replace")))


def _end_of(text: str) -> str:
    """From its last section on, where that can only be the one about actions: a large file is slow to read whole."""
    before, head, after = text.rpartition(f"\n## {ACTIONS_TAKEN}\n")
    alone = head and head not in before and "\n## " not in after
    return f"{head}{after}" if alone else text
