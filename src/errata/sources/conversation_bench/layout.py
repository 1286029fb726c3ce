"""The files of a conversation, names and paths around it, and numbers that may be text."""

import os
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

from errata.sources.base import number_or_none
from errata.sources.conversation_bench import JUDGED_SUFFIX, JUDGES, TRANSCRIPT
from errata.sources.shared import values
from errata.sources.shared.values import LARGEST, SMALLEST
from errata.text.lazy_regex import lazy_regex

RUN_LOG = "run.log"
AUDIO = "conversation.wav"
_NAME = lazy_regex(r"\w[\w.-]*")


class ConversationFiles(NamedTuple):
    """The row files of one conversation, and the folder that every reference is relative to."""

    root: Path
    native_id: str
    judged: dict[str, Path]
    """By judge, the deciding one first."""
    transcript: Path | None
    is_folder: bool = True


def files_of_folder(folder: Path) -> ConversationFiles:
    judged = {judge: folder / f"{judge}{JUDGED_SUFFIX}" for judge in JUDGES}
    transcript = folder / TRANSCRIPT
    return ConversationFiles(
        root=folder,
        native_id=folder.name,
        judged={judge: path for judge, path in judged.items() if path.is_file()},
        transcript=transcript if transcript.is_file() else None,
    )


def files_of_judged_file(path: Path) -> ConversationFiles:
    """A file of judged rows outside a run folder. The judge is `judge` unless the file's name has one."""
    judge = path.name.removesuffix(JUDGED_SUFFIX) if path.name.endswith(JUDGED_SUFFIX) else "judge"
    return ConversationFiles(
        root=path.parent, native_id=path.stem, judged={judge: path}, transcript=None, is_folder=False
    )


def upwards(path: Path) -> Iterator[Path]:
    """A folder's parents, nearest first."""
    yield from path.parents


def last_part(path: str) -> str:
    """The last name of a path from any operating system; empty if it could lead elsewhere."""
    name = PureWindowsPath(path.strip()).name
    return name if name not in ("", ".", "..") and "\x00" not in name else ""


def is_name(text: str) -> bool:
    """Whether this is one word, like benchmark names, and safe to use as a folder name."""
    return _NAME.fullmatch(text) is not None


def from_run(path: Path, root: Path) -> str:
    """The name of a file outside the run's folder, for references."""
    return Path(os.path.relpath(path, root)).as_posix()


def count(value: Any) -> int | None:
    """A whole number of tokens, turns or rows."""
    return values.count(number_or_none(value) if type(value) is str else value)


def number(value: Any) -> float | None:
    if type(value) is int:
        return value if SMALLEST <= value <= LARGEST else None
    return number_or_none(value)
