"""A report on the disk, edited so that nobody's work is lost: whole or not at all, and never what changed meanwhile."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from errata.errors import NotFoundError, ReportError
from errata.memory.actions_section import Edited, is_editable

try:
    import fcntl
except ImportError:  # where there is none, the comparison right before the exchange has to do
    fcntl = None  # type: ignore[assignment]

SUFFIXES = (".md", ".markdown")
TRIES = 5
WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

Edit = Callable[[bytes], Edited]


def edit_report(path: Path, edit: Edit, *, folder: Path | None = None, dry_run: bool = False) -> Edited:
    """Replace the report with the result of `edit`, which is called again if the file changed in the meantime.

    `folder` is the folder of reports: a link that leads out of it is not followed.
    """
    target = _inside(path, folder or path.parent)
    _refuse_read_only(target)
    if dry_run:
        return edit(_read(target))
    for _ in range(TRIES):
        with _locked(target):
            before = _read(target)
            edited = edit(before)
            if not edited.changed or _replace_if_unchanged(target, before, edited.data):
                return edited
    raise ReportError(f"`{path}` is being changed all the time", hint="close what writes to it, and say it again")


def _inside(path: Path, folder: Path) -> Path:
    """Where the file really is."""
    try:
        target, root = path.resolve(strict=True), folder.resolve(strict=True)
        is_file = target.is_file()
    except (OSError, RuntimeError):
        raise NotFoundError(f"No such report: `{path}`", hint="`--report FILE` names one") from None
    if not is_file or target.suffix.lower() not in SUFFIXES:
        raise ReportError(f"`{path}` is not a markdown file", hint=f"reports end in `{SUFFIXES[0]}`")
    if not target.is_relative_to(root):
        raise ReportError(
            f"`{path}` is a link that leads out of `{folder}`, to `{target}`",
            hint="name the file itself: `--report FILE`",
        )
    return target


def _read(path: Path) -> bytes:
    with _report_errors(path):
        data = path.read_bytes()
    if not is_editable(data):
        raise ReportError(
            f"`{path}` is not a text that can be edited", hint="a report is markdown in UTF-8, of 2 MB at most"
        )
    return data


def _refuse_read_only(path: Path) -> None:
    with _report_errors(path):
        if not path.stat().st_mode & WRITABLE:
            raise ReportError(f"`{path}` is read-only", hint="nothing was written; `chmod u+w` lets it be edited")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One errata at a time. The lock belongs to the file: if the file was replaced meanwhile, the new one is locked."""
    while True:
        with _report_errors(path), path.open("rb") as file:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # some network drives know no locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            if os.fstat(file.fileno()).st_ino == path.stat().st_ino:
                yield
                return


def _replace_if_unchanged(path: Path, before: bytes, after: bytes) -> bool:
    """False where the file is not any more what was edited."""
    with _report_errors(path):
        now = path.stat()
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        made = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(after)
                file.flush()
                os.fsync(file.fileno())
            made.chmod(stat.S_IMODE(now.st_mode))
            with contextlib.suppress(OSError, AttributeError):
                os.chown(made, now.st_uid, now.st_gid)
            if path.read_bytes() != before:
                return False
            made.replace(path)
        finally:
            made.unlink(missing_ok=True)
    return True


@contextlib.contextmanager
def _report_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ReportError(f"`{path}` can't be edited: {error.strerror}", hint="nothing was written to it") from error
