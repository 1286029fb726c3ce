"""Find earlier reports: the folders they are in, the files that can be read, and what their names state."""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from errata.errors import NotFoundError
from errata.memory.spelling import CaseSpellings, date_in, folded, same_model, same_run
from errata.model import Run
from errata.model.prior_report import PriorReport, PriorRun
from errata.model.times import moment_of
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


DAY = len("2026-03-04")
SHORT_PREFIX = 4
"""So few characters of an id name a run only together with its day."""


class RelatedReports(msgspec.Struct, frozen=True, kw_only=True):
    same_model: tuple[PriorReport, ...] = ()
    others: tuple[PriorReport, ...] = ()
    own: tuple[PriorReport, ...] = ()
    later: tuple[PriorReport, ...] = ()

    @property
    def all(self) -> tuple[PriorReport, ...]:
        return (*self.same_model, *self.others, *self.own, *self.later)


class RunReports(msgspec.Struct, frozen=True):
    files: ReportFiles
    related: RelatedReports
    case_names: CaseSpellings


def group_by_relation(
    reports: Iterable[PriorReport], run: Run, *, began: str, runs: Sequence[Run] = ()
) -> RelatedReports:
    """`began` is the start of the run; `runs` are other runs with known start and suite."""
    groups: dict[str, list[PriorReport]] = {"same_model": [], "others": [], "own": [], "later": []}
    known = _by_beginning(runs)
    for report in sorted(reports, key=lambda one: one.date or one.written, reverse=True):
        parts: dict[str, list[PriorRun]] = {}
        for part in _parts(report):
            near = [one for written in runs_of(part) for one in known.get(_beginning(written), ())]
            its_run = next((one for one in near if is_about(part, one)), None)
            if its_run is None or its_run.suite == run.suite:
                parts.setdefault(_relation_of(part, its_run, run, began), []).extend(part.runs)
        for relation, its_runs in parts.items():
            groups[relation].append(_about_runs(report, its_runs))
    return RelatedReports(**{kind: tuple(some) for kind, some in groups.items()})


def _parts(report: PriorReport) -> list[PriorReport]:
    """A report on several runs, one for each: some may be of other models, or later."""
    if len(report.runs) < 2:
        return [report]
    return [_about_runs(report, [run]) for run in report.runs]


def _about_runs(report: PriorReport, its_runs: Sequence[PriorRun]) -> PriorReport:
    """The part of a report on these of its runs, with what it has on all of them."""
    if len(its_runs) == len(report.runs) and (report.model or len(its_runs) != 1):
        return report
    ids = {"", *(run.id for run in its_runs)}
    failures = tuple(one for one in report.failures if one.run in ids)
    return msgspec.structs.replace(
        report,
        run=", ".join(run.id for run in its_runs),
        model=its_runs[0].model or report.model,
        passed=its_runs[0].passed,
        total=its_runs[0].total,
        runs=tuple(its_runs),
        failures=failures,
        gaps=tuple(case for case in report.gaps if any(one.case == case for one in failures)),
    )


def _by_beginning(runs: Iterable[Run]) -> dict[str, list[Run]]:
    by_prefix: dict[str, list[Run]] = {}
    for run in runs:
        names = (*_names_of(run), run.native_id.rpartition("_")[2])
        for beginning in {_beginning(name) for name in names if name}:
            by_prefix.setdefault(beginning, []).append(run)
    return by_prefix


def _beginning(name: str) -> str:
    return name.strip()[:SHORT_PREFIX].casefold()


def _names_of(run: Run) -> tuple[str, ...]:
    return (run.native_id, run.external_id, run.id, run.name)


def _relation_of(report: PriorReport, its_run: Run | None, run: Run, began: str) -> str:
    if is_about(report, run):
        return "own"
    known = its_run.started_at if its_run is not None else None
    its_days = {one.date for one in report.runs}
    known = known or (max(its_days) if its_days and all(its_days) else None)
    # on the same day the report may be older or newer than the run; the start of its own run decides, if known
    by_run = known is not None and (known < began[:DAY] if len(known) == DAY else moment_of(known) < moment_of(began))
    day = report.date or report.written
    if not ("" < day < began[:DAY] or by_run):
        return "later"
    model = report.model or (its_run.subject.model if its_run is not None else "")
    return "same_model" if same_model(model, run.subject.model, providers=(run.subject.provider,)) else "others"


def is_about(report: PriorReport, run: Run) -> bool:
    """By its id, the beginning of it, or the tail by which people call it; a report may be about several runs."""
    if report.run_id:
        return report.run_id == run.id
    return any(_is_named(written, report.date, run) for written in runs_of(report))


def runs_of(report: PriorReport) -> list[str]:
    return [written.strip() for written in report.run.split(",") if written.strip()]


def _is_named(written: str, date: str, run: Run) -> bool:
    if same_run(written, *_names_of(run)) or (len(written) >= SHORT_PREFIX and run.native_id.endswith(f"_{written}")):
        return True
    short = len(written) >= SHORT_PREFIX and run.native_id.startswith(written)
    return short and date == (run.started_at or "")[:DAY]
