"""Find earlier reports: the folders they are in, the files that can be read, and what their names state."""

import os
import stat
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from errata.errors import NotFoundError
from errata.memory.spelling import date_in, folded
from errata.text.lazy_regex import lazy_regex

FOLDER = "reports"
SUFFIXES = (".md", ".markdown")
DEEPEST = 6
MOST_LOOKED_AT = 20_000
MOST_FILES = 2_000
LARGEST = 1024 * 1024
MOST_LINES = 20_000
PART = b"<!-- errata:part -->"
"""Below the title of a file with the details of a report."""
HEAD = 2_000


class ReportFile(msgspec.Struct, frozen=True):
    path: Path
    folder: Path
    text: str
    digest: str
    written: str = ""

    @property
    def name(self) -> str:
        """Relative to the reports folder, so independent of the working directory."""
        return f"{self.folder.absolute().name}/{self.path.relative_to(self.folder).as_posix()}"


class Skipped(msgspec.Struct, frozen=True):
    path: Path
    why: str


class ReportFiles(msgspec.Struct, frozen=True):
    folders: tuple[Path, ...] = ()
    files: tuple[ReportFile, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def folders_for(origins: Iterable[Path], *, cwd: Path, named: Path | None = None) -> tuple[Path, ...]:
    """The folder that was named; else `reports` here, beside the runs, and beside what they lie in.

    Upwards one goes to the root of the repository, and without a repository nowhere.
    """
    if named is not None:
        if not named.is_dir():
            raise NotFoundError(f"No such folder: `{named}`", hint="`--reports DIR` names a folder of markdown reports")
        return (named,)
    places = [cwd]
    for origin in origins:
        places += _upwards(origin)
    folders = dict.fromkeys(place / FOLDER for place in places if _is_folder(place / FOLDER))
    return tuple({folder.resolve(): folder for folder in reversed(folders)}.values())[::-1]


def find_reports(folders: Iterable[Path]) -> ReportFiles:
    there = tuple(folders)
    files: list[ReportFile] = []
    known: set[str] = set()
    skipped: list[Skipped] = []
    for folder in there:
        for file in _scan(folder):
            if isinstance(file, Skipped):
                skipped.append(file)
                continue
            if len(files) == MOST_FILES:
                skipped.append(Skipped(file, f"more than {MOST_FILES:,} reports; the newest names were read"))
                break
            read = _read(file, folder)
            if read is None:
                continue
            if isinstance(read, Skipped):
                skipped.append(read)
            elif read.digest not in known:  # a copy adds nothing
                known.add(read.digest)
                files.append(read)
    return ReportFiles(there, tuple(files), tuple(skipped))


def _upwards(origin: Path) -> list[Path]:
    """What a path lies in, up to the root of its repository; without one, only the folder beside it."""
    above = list(origin.absolute().parents)
    for at, place in enumerate(above):
        if (place / ".git").exists():
            return above[: at + 1]
    return above[:1]


def _is_folder(path: Path) -> bool:
    """A link that leads out of where it lies is none."""
    try:
        return path.is_dir() and path.resolve().is_relative_to(path.parent.resolve())
    except OSError:
        return False


def _scan(folder: Path) -> Iterator[Path | Skipped]:
    looked_at = [MOST_LOOKED_AT]
    entries = list(_walk(folder, folder.resolve(), looked_at, 0))
    files = sorted(one for one in entries if isinstance(one, Path))
    yield from sorted(files, key=lambda path: date_in_name(path.name), reverse=True)
    yield from (one for one in entries if isinstance(one, Skipped))
    if looked_at[0] <= 0:
        yield Skipped(folder, f"more than {MOST_LOOKED_AT:,} files; the rest was not looked at")


def _walk(place: Path, root: Path, looked_at: list[int], depth: int) -> Iterator[Path | Skipped]:
    try:
        entries = sorted(os.scandir(place), key=lambda entry: entry.name)
    except OSError as error:
        yield Skipped(place, f"can't be looked into: {error.strerror}")
        return
    for entry in entries:
        looked_at[0] -= 1
        if looked_at[0] <= 0:
            return
        path = place / entry.name
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            if depth < DEEPEST:
                yield from _walk(path, root, looked_at, depth + 1)
        elif path.suffix.lower() in SUFFIXES:
            yield path if _is_inside(path, root) else Skipped(path, "a link that leads out of the folder")


def _is_inside(path: Path, root: Path) -> bool:
    try:
        return not path.is_symlink() or path.resolve().is_relative_to(root)
    except (OSError, RuntimeError):  # a link to itself
        return False


def _read(path: Path, folder: Path) -> ReportFile | Skipped | None:
    """None for the details of a report of errata's own, which are not reports."""
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):
            return Skipped(path, "no regular file")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        return Skipped(path, f"can't be read: {error.strerror}")
    if PART in content[:HEAD]:
        return None
    if len(content) > LARGEST:
        return Skipped(path, f"larger than {LARGEST // 1024 // 1024} MB")
    if content.count(b"\n") > MOST_LINES:
        return Skipped(path, f"more than {MOST_LINES:,} lines")
    if b"\0" in content:
        return Skipped(path, "binary, no text")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Skipped(path, f"no UTF-8 at byte {error.start:,}")
    written = datetime.fromtimestamp(about.st_mtime, UTC).date().isoformat()
    return ReportFile(path, folder, text, blake2b(content, digest_size=16).hexdigest(), written)


# --- the model, run and date in the name of a report file


_DATED = lazy_regex(r"^(?:(?P<head>.*?)[_.\- ])?(?P<date>\d{4}-\d\d-\d\d|20\d{6})(?:[_.\- ](?P<tail>.*))?$")
_PREFIX = lazy_regex(r"[A-Za-z0-9]{3,64}")


class FileName(NamedTuple):
    provider: str = ""
    model: str = ""
    run: str = ""
    date: str = ""


def date_in_name(name: str) -> str:
    match = _DATED.match(PurePosixPath(name).stem)
    return date_in(match["date"]) if match else ""


def parse_file_name(below: str) -> FileName:
    """`below` is the path from the folder of reports on."""
    *folders, name = PurePosixPath(below).parts
    match = _DATED.match(PurePosixPath(name).stem)
    if match is None or not date_in(match["date"]):
        return FileName()
    provider, model = (["", "", *folders])[-2:]
    written, run = _split(match["head"] or match["tail"] or "", model)
    day = date_in(match["date"])
    is_own = bool(written) and folded(written) != folded(model)
    return FileName("", written, run, day) if is_own else FileName(provider, model, run, day)


def _split(head: str, folder: str) -> tuple[str, str]:
    """The model and the prefix, where a name holds both; a folder of the model leaves all of it to the prefix."""
    before, _, last = head.rpartition("_")
    if before and _PREFIX.fullmatch(last) and (_is_id(last) or (folder and folded(before) == folded(folder))):
        return before, last
    if folder or _is_id(head):
        return "", head if _PREFIX.fullmatch(head) else ""
    return head, ""


def _is_id(text: str) -> bool:
    return len(text) >= 5 and any(letter.isdigit() for letter in text) and text.isalnum()
