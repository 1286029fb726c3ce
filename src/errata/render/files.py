"""Documents → files: below one folder, each whole or not at all, and only where something changed."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from errata.errors import ReportError


class Written(NamedTuple):
    path: Path
    change: str
    """`new`, `changed` or `unchanged`."""


def write_files(folder: Path, files: Mapping[str, str], *, executable: frozenset[str] = frozenset()) -> list[Written]:
    """Path relative to the folder → content."""
    for parent in dict.fromkeys((folder / name).parent for name in files):
        _make(folder, parent)
    return [_written(folder / name, content, executable=name in executable) for name, content in files.items()]


def write_file(folder: Path, name: str, content: str) -> Written:
    _make(folder, (folder / name).parent)
    return _written(folder / name, content)


def _make(folder: Path, parent: Path) -> None:
    """A link that somebody put there must not lead a report into another folder."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _refused(parent, error) from error
    if not parent.resolve().is_relative_to(folder.resolve()):
        raise ReportError(f"`{parent}` leads out of `{folder}`", hint="remove the link, or name another folder")


def _written(path: Path, content: str, *, executable: bool = False) -> Written:
    data = content.encode("utf-8", "replace")
    if path.is_symlink():
        raise ReportError(f"`{path}` leads out of its folder", hint="remove the link, or name another folder")
    try:
        before = path.read_bytes() if path.is_file() else None
        if before != data:
            _replace(path, data)
        if executable:
            path.chmod(path.stat().st_mode | 0o111)
    except OSError as error:
        raise _refused(path, error) from error
    return Written(path, "new" if before is None else "unchanged" if before == data else "changed")


def _refused(path: Path, error: OSError) -> ReportError:
    return ReportError(f"`{path}` can't be written: {error.strerror}", hint="name another folder")


def _replace(path: Path, data: bytes) -> None:
    new = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        new.write_bytes(data)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
