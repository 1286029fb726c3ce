"""Where the files of a conversation lie: its own folder, and what belongs to it further up."""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import NamedTuple

from errata.sources.base import head_of

NAME = "conversation-bench"

JUDGES = ("openai", "claude")
"""The first one whose file is there decides the outcome."""
JUDGED_SUFFIX = "_judged.jsonl"
TRANSCRIPT = "transcript.jsonl"
RUNTIME = "runtime.json"
RUN_LOG = "run.log"
AUDIO = "conversation.wav"
RUN_RESULTS = "run_results.csv"

HEAD = 64 * 1024


class Files(NamedTuple):
    """The rows of one conversation, and the folder that every reference is relative to."""

    root: Path
    native_id: str
    judged: dict[str, Path]
    """By judge, the one that decides first."""
    transcript: Path | None
    is_folder: bool = True


def files_of_folder(folder: Path) -> Files:
    judged = {judge: folder / f"{judge}{JUDGED_SUFFIX}" for judge in JUDGES}
    transcript = folder / TRANSCRIPT
    return Files(
        root=folder,
        native_id=folder.name,
        judged={judge: path for judge, path in judged.items() if path.is_file()},
        transcript=transcript if transcript.is_file() else None,
    )


def files_of_judged_file(path: Path) -> Files:
    """Rows that lie in no run folder. Where the name does not tell the judge, it is called `judge`."""
    judge = path.name.removesuffix(JUDGED_SUFFIX) if path.name.endswith(JUDGED_SUFFIX) else "judge"
    return Files(root=path.parent, native_id=path.stem, judged={judge: path}, transcript=None, is_folder=False)


def has_judged_rows(folder: Path) -> bool:
    return any((folder / f"{judge}{JUDGED_SUFFIX}").is_file() for judge in JUDGES)


def is_run_folder(folder: Path) -> bool:
    if has_judged_rows(folder):
        return True
    if not (folder / RUNTIME).is_file():
        return False
    start = head_of(folder / TRANSCRIPT, HEAD)
    return b'"turn"' in start and b'_text"' in start


def is_comparison(table: Path) -> bool:
    columns = head_of(table, HEAD).split(b"\n", 1)[0].strip().replace(b'"', b"").split(b",")
    return b"run_dir" in columns and b"model_name" in columns


def upwards(path: Path) -> Iterator[Path]:
    """A folder's parents, the nearest first."""
    yield from path.parents


def last_part(path: str) -> str:
    """The name a path of any machine ends in; empty where that could lead elsewhere."""
    name = PureWindowsPath(path.strip()).name
    return name if name not in ("", ".", "..") and "\x00" not in name else ""


def is_name(text: str) -> bool:
    """One word, as benchmarks are called: fit to be looked for as a folder."""
    return _NAME.fullmatch(text) is not None


_NAME = re.compile(r"\w[\w.-]*")


def from_run(path: Path, root: Path) -> str:
    """How a reference names a file that lies outside the run's folder."""
    return Path(os.path.relpath(path, root)).as_posix()
