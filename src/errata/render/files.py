"""Documents → files: below one folder, each completely or not at all, and only where something changed."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from errata.errors import ReportError
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import outgoing_line

KEPT_OF_NAME = 50
"""Characters: a name has at most 255 bytes, and a character up to four."""


class WrittenFile(NamedTuple):
    path: Path
    change: str
    """`new`, `changed` or `unchanged`."""


def write_files(
    folder: Path, files: Mapping[str, str], *, executable: frozenset[str] = frozenset()
) -> list[WrittenFile]:
    """Path relative to the folder → content."""
    for parent in dict.fromkeys((folder / name).parent for name in files):
        _make(folder, parent)
    return [_write(folder / name, content, executable=name in executable) for name, content in files.items()]


def details_name(name: str) -> str:
    """The file beside a report that has what is too much for it."""
    return f"{name.removesuffix('.md')}-details.md"


def write_file(folder: Path, name: str, content: str) -> WrittenFile:
    _make(folder, (folder / name).parent)
    return _write(folder / name, content)


def own_folder(folder: Path, base: Path = Path()) -> Path:
    """A usual name in the working folder: whoever made that folder does not choose where files go with a link."""
    if not folder.resolve().is_relative_to(base.resolve()):
        raise ReportError(f"`{folder}` leads out of this folder", hint="remove the link, or name the folder you mean")
    return folder


def _make(folder: Path, parent: Path) -> None:
    """A link that somebody put there must not lead a report into another folder."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        _clear_unfinished(parent)
    except OSError as error:
        raise _write_error(parent, error) from error
    if not parent.resolve().is_relative_to(folder.resolve()):
        raise ReportError(f"`{parent}` leads out of `{folder}`", hint="remove the link, or name another folder")


def _write(path: Path, content: str, *, executable: bool = False) -> WrittenFile:
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
        raise _write_error(path, error) from error
    return WrittenFile(path, "new" if before is None else "unchanged" if before == data else "changed")


def _write_error(path: Path, error: OSError) -> ReportError:
    return ReportError(f"`{path}` can't be written: {error.strerror or error}", hint="name another folder")


def _replace(path: Path, data: bytes) -> None:
    new = _unfinished(path)
    try:
        new.write_bytes(data)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


@contextmanager
def replacing(path: Path, *, makes_folder: bool = True) -> Iterator[Path]:
    """A file that takes the place of `path` once it is complete; if it is never complete, nothing is left of it."""
    unfinished = _unfinished(path)
    try:
        if makes_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        _clear_unfinished(path.parent)
        if path.exists() and not path.is_file():  # a pipe or a device, such as `/dev/stdout`
            yield path
            return
        yield unfinished
        unfinished.replace(path)
    except OSError as error:
        raise _write_error(path, error) from error
    finally:
        with suppress(OSError):  # where it is gone, or its folder could not be made
            unfinished.unlink()


def _clear_unfinished(folder: Path) -> None:
    """What a process that was killed left behind."""
    for path in folder.glob(".*.part"):
        process = path.name.rpartition(".part")[0].rpartition(".")[2]
        if process.isdecimal() and int(process) != os.getpid() and not _is_alive(int(process)):
            path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _unfinished(path: Path) -> Path:
    """Hidden, and never longer than a file name may be."""
    return path.with_name(f".{path.name[:KEPT_OF_NAME]}.{os.getpid()}.part")


UNKNOWN, UNNAMED = "unknown", "unnamed"
_UNFIT = lazy_regex(r"[^A-Za-z0-9._-]+")


def slug(text: str) -> str:
    """What may stand in a path: no secret, no folder of its own, no dot file, never empty."""
    return _UNFIT.sub("-", outgoing_line(text)).strip("-.")[:80].rstrip("-.") or UNKNOWN


def key_slug(name: str) -> str:
    """What may stand in a file name and a key; never empty, never a dot file, never longer than a file name may be."""
    return _UNFIT.sub("-", outgoing_line(name)).strip("-.")[:100].rstrip("-.") or UNNAMED


def unique_keys(names: Iterable[str], *, reserved: Iterable[str] = ()) -> list[str]:
    """File names and keys for things of any name: slugged, each its own, whatever the case of its letters."""
    taken = set(reserved)
    keys = []
    for name in names:
        key = base = key_slug(name)
        number = 2
        while key.lower() in taken:
            key, number = f"{base}-{number}", number + 1
        taken.add(key.lower())
        keys.append(key)
    return keys
