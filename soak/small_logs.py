"""Small logs for fuzzing: fixtures with fewer rows and shorter texts, so that reading takes milliseconds."""

import io
import json
import shutil
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from errata import sources
from errata.errors import ErrataError
from errata.model import Attempt
from soak.damage import ARCHIVE, zipfile

FIXTURES = Path(__file__).parent.parent / "tests" / "fixtures" / "sources"
MOST = 400_000
"""Bytes of a log: larger ones are left out where a source has smaller ones."""


class Cut(NamedTuple):
    """How much of a log is left."""

    elements: int
    text: int
    """Characters of each text."""
    rows: int
    folders: int
    """Of each folder."""
    whole: int
    """Bytes of a file that is small enough as it is."""


SMALL = Cut(elements=4, text=600, rows=6, folders=2, whole=8_000)
TINY = Cut(elements=1, text=80, rows=1, folders=1, whole=400)


class SmallLog(NamedTuple):
    name: str
    files: dict[str, bytes]
    """Path below the folder → content."""


def targets() -> list[str]:
    return sorted({path.relative_to(FIXTURES).parts[0] for path in FIXTURES.glob("**/ORIGIN.md")})


@cache
def small_logs(target: str, cut: Cut = SMALL) -> tuple[SmallLog, ...]:
    """The fixtures of a source; shortened where its source still finds attempts in them."""
    with tempfile.TemporaryDirectory() as folder:
        return _small_logs(target, Path(folder) / f"try-{target}", cut)


def _small_logs(target: str, folder: Path, cut: Cut) -> tuple[SmallLog, ...]:
    logs = []
    for fixture in sorted(path.parent for path in (FIXTURES / target).glob("**/ORIGIN.md")):
        data = fixture / "data"
        whole = {path.relative_to(data).as_posix(): path.read_bytes() for path in data.rglob("*") if path.is_file()}
        name = fixture.relative_to(FIXTURES).as_posix()
        short = {path: shortened(path, content, cut) for path, content in whole.items()}
        small = {path: shortened(path, content) for path, content in whole.items()} if cut is not SMALL else short
        fewer = [_fewer_folders(short, cut), _fewer_folders(small, SMALL)]
        choices = [SmallLog(name, files) for files in (*fewer, short, small, whole)]
        logs.append(next((log for log in choices if _has_attempts(log, folder)), choices[-1]))
    small_enough = tuple(log for log in logs if sum(map(len, log.files.values())) <= MOST)
    return small_enough or (min(logs, key=lambda log: sum(map(len, log.files.values()))),)


def shortened(path: str, content: bytes, cut: Cut = SMALL) -> bytes:
    """Fewer rows and elements, shorter texts; what can't be parsed stays as it is."""
    if len(content) <= cut.whole:
        return content
    if content.startswith(ARCHIVE):
        return _shorter_archive(content, cut)
    try:
        return json.dumps(_shorter(json.loads(content), cut)).encode("utf-8", "surrogatepass")
    except (ValueError, RecursionError):
        pass
    lines = content.splitlines(keepends=True)
    if path.endswith((".jsonl", ".ndjson")) or content[:1] == b"{":
        return b"".join(_shorter_line(line, cut) for line in (*lines[: cut.rows], *lines[cut.rows :][-2:]))
    if path.endswith((".csv", ".tsv", ".log", ".txt", ".md")):
        return b"".join(lines[: 4 * cut.rows])
    return content


def _fewer_folders(files: dict[str, bytes], cut: Cut) -> dict[str, bytes]:
    """Some folders of each folder: the others hold more cases of the same kind."""
    kept: dict[Path, list[str]] = {}
    left = {}
    for name in sorted(files):
        path = Path(name)
        pairs = list(zip(list(path.parents)[1:], [parent.name for parent in path.parents], strict=False))
        for parent, child in pairs:
            if child not in kept.setdefault(parent, []) and len(kept[parent]) < cut.folders:
                kept[parent].append(child)
        if all(child in kept[parent] for parent, child in pairs):
            left[name] = files[name]
    return left


def write(log: SmallLog, folder: Path) -> None:
    for name, content in log.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def _shorter(value: Any, cut: Cut) -> Any:
    if isinstance(value, dict):
        return {key: _shorter(inner, cut) for key, inner in value.items()}
    if isinstance(value, list):
        return [_shorter(inner, cut) for inner in value[: cut.elements]]
    if isinstance(value, str) and value[:1] not in ("{", "["):
        return value[: cut.text]
    return value


def _shorter_line(line: bytes, cut: Cut) -> bytes:
    try:
        return json.dumps(_shorter(json.loads(line), cut)).encode("utf-8", "surrogatepass") + b"\n"
    except (ValueError, RecursionError):
        return line


def _shorter_archive(content: bytes, cut: Cut) -> bytes:
    """The first members of each folder in it, shortened."""
    made, kept = io.BytesIO(), Counter[str]()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as before, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as after:
            for name in before.namelist():
                folder = name.rpartition("/")[0]
                kept[folder] += 1
                if not folder or kept[folder] <= cut.rows:
                    after.writestr(name, shortened(name, before.read(name), cut))
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        return content
    return made.getvalue()


def _has_attempts(log: SmallLog, folder: Path) -> bool:
    write(log, folder)
    try:
        return any(isinstance(item, Attempt) for match in sources.find(folder) for item in sources.read(match))
    except ErrataError:
        return False
    finally:
        shutil.rmtree(folder)
