"""Actions: what was done about failures. Build one, write it into the run's report, remove it again."""

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from errata.errors import NotFoundError, ReportError, SettingsError
from errata.memory.actions_section import Edited, NoPlaceError, has_section, is_editable, with_entry, without_entry
from errata.memory.entries import entry_for, safe
from errata.memory.history import same_case
from errata.memory.spelling import folded, same_run
from errata.model import Action, StoredRun
from errata.model.action import CaseAddress, action_id
from errata.model.history import ActionResult
from errata.model.record import Struct
from errata.model.times import from_iso, moment_of, to_text

SHORTEST = 6
DAY = len("2026-03-04")
Written = Literal["written", "there", "no report"]


class ActionRequest(Struct):
    what: str
    path: str
    addresses: tuple[str, ...]
    date: str = ""
    author: str = ""
    expected: str = ""
    run: str = ""
    report: Path | None = None


class ActionRecord(Struct):
    action: Action
    is_new: bool
    targets: tuple[CaseAddress, ...]
    run: StoredRun | None = None
    """Whose report it belongs into."""
    report: Path | None = None
    written: Written = "no report"
    line: int | None = None
    text: str = ""


class ActionRemoval(Struct):
    action: Action
    edited: Edited | None = None
    """The report without its line, where that was asked for."""

    @property
    def undo(self) -> list[str]:
        action = self.action
        words = ["errata", "action", "add", "--what", action.what, "--path", action.path, "--date", action.date]
        words += [word for address in action.addresses for word in ("--for", address)]
        words += ["--author", action.author] if action.author else []
        words += ["--expected", action.expected_effect] if action.expected_effect else []
        return [*words, *(["--report", action.report] if self.edited else [])]


class ActionStatus(msgspec.Struct, frozen=True):
    effect: ActionResult
    in_store: bool
    """Else only a report has it."""


class ReportLocation(NamedTuple):
    path: Path
    folder: Path


def make_action(request: ActionRequest, targets: Sequence[CaseAddress], now: datetime) -> Action:
    what, path = safe(request.what).rstrip("."), safe(request.path)
    for name, text in (("what", what), ("path", path)):
        if not text:
            raise SettingsError(f"`--{name}` is empty", hint="`--what` names the change, `--path` the changed file")
    date = _date(request.date, now)
    keys = tuple(dict.fromkeys(target.key for target in targets))
    return Action(
        id=action_id(date, path, what, keys),
        what=what,
        path=path,
        addresses=keys,
        date=date,
        at=to_text(now) if date == to_text(now)[:DAY] else None,
        author=safe(request.author),
        expected_effect=safe(request.expected),
    )


def distinct_actions(*groups: Iterable[Action]) -> list[Action]:
    """Each action once, oldest first. Of the same one in the store and in a report, the first group's is kept.

    A report may have it below each failure that it is about.
    """
    distinct: dict[tuple[str, str, str], Action] = {}
    for action in (action for group in groups for action in group):
        known = distinct.setdefault((action.date[:DAY], folded(action.path), folded(action.what)), action)
        if known.report and known.report == action.report:
            had = known.addresses
            more = (added for added in action.addresses if not any(same_case(added, other) for other in had))
            distinct[action.date[:DAY], folded(action.path), folded(action.what)] = msgspec.structs.replace(
                known, addresses=(*had, *more)
            )
    return sorted(distinct.values(), key=lambda action: action.date)


def write_into_report(record: ActionRecord, location: ReportLocation, *, dry_run: bool = False) -> ActionRecord:
    action, place = record.action, str(location.path.absolute())
    suites = {target.suite for target in record.targets if target.suite}
    entry = entry_for(action, record.run.run.suite if record.run else min(suites, default=""))

    def edit(data: bytes) -> Edited:
        require_report(location.path, data, record)
        try:
            return with_entry(data, entry)
        except NoPlaceError:
            hint = "add a heading `Actions taken` to it"
            raise ReportError(f"`{location.path}` has no place for an action", hint=hint) from None

    edited = edit_report(location.path, edit, folder=location.folder, dry_run=dry_run)
    return msgspec.structs.replace(
        record,
        action=action if dry_run else msgspec.structs.replace(action, report=place),
        report=location.path,
        written=edited.state,
        line=edited.line,
        text=edited.text,
    )


def require_report(path: Path, data: bytes, record: ActionRecord) -> None:
    """Nothing but reports is edited: a file that has the section, or names the run or one of the cases."""
    run = record.run.run if record.run else None
    ids = [name for name in (run.native_id, run.external_id) if name] if run else []
    names = [target.name for target in record.targets]
    content = data.decode("utf-8", "replace")
    by_name = any(same_run(part, *ids) for part in re.split(r"[_. ]", path.stem))
    by_text = any(name in content for name in (*ids, *names) if len(name) >= SHORTEST)
    if not (by_name or by_text or has_section(data)):
        raise ReportError(
            f"`{path}` does not look like a report: it mentions neither the run nor {names[0]}",
            hint="only reports are edited; a heading `Actions taken` makes it one",
        )


def remove_from_report(action: Action, *, dry_run: bool) -> Edited:
    if not action.report:
        raise ReportError(
            f"Action `{action.id}` is not in any report", hint="leave out `--report` to remove it from the store"
        )

    def edit(data: bytes) -> Edited:
        entries = (entry_for(action, suite) for suite in _possible_suites(action))
        edited = next((edited for entry in entries if (edited := without_entry(data, entry))), None)
        if edited is None:
            raise ReportError(
                f"`{action.report}` no longer has its line as errata wrote it",
                hint="delete it by hand; without `--report`, it is removed only from the store",
            )
        return edited

    return edit_report(Path(action.report), edit, dry_run=dry_run)


def _possible_suites(action: Action) -> Iterator[str]:
    """The run that named the suite may have been removed since."""
    yield ""
    for address in action.addresses:
        parts = address.split("/")
        yield from ("/".join(parts[:size]) for size in range(1, len(parts)))


def _date(text: str, now: datetime) -> str:
    if not text:
        return to_text(now)[:DAY]
    try:
        date = from_iso(text) if len(text) > DAY else datetime.fromisoformat(text).date().isoformat()
    except ValueError:
        raise SettingsError(
            f"`{text}` is not a date", hint="`--date 2026-03-04`, or a time: `2026-03-04T10:30Z`"
        ) from None
    if moment_of(date) > now + timedelta(days=1):
        raise SettingsError(f"`{text}` is in the future", hint="`--date` is the day on which it was done")
    return date


# --- a report on the disk, edited so that nobody's work is lost: completely or not at all, never over another change


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
    raise ReportError(f"`{path}` keeps changing", hint="stop the program that writes to it, then repeat the command")


def _inside(path: Path, folder: Path) -> Path:
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
