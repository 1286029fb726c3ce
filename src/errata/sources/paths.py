"""Look at paths while they are recognised: the first bytes of a file, the entries of a folder. Nothing raises."""

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, overload

from errata.sources.json_values import BYTE_ORDER_MARK, abridged, hides_keys, in_utf_8

LISTING_CAP = 200_000
HEAD = 64 * 1024
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
"""The first bytes of an archive, and of an empty one."""


def head_of(path: Path, size: int) -> bytes:
    """The first bytes of a regular file in UTF-8, without a byte order mark; empty where there is no readable file."""
    return in_utf_8(_first_bytes(path, size).removeprefix(BYTE_ORDER_MARK))


def _first_bytes(path: Path, size: int) -> bytes:
    """Thirty sources look at the same files while a path is recognised; each file is opened once for all of them."""
    heads = _heads.get()
    if heads is None:
        return _read_head(path, size)
    known = heads.files.get(path)
    if known is None or (len(known.data) < size and known.size < size):
        known = heads.files[path] = _FileHead(_read_head(path, max(size, HEAD)), max(size, HEAD))
    return known.data[:size]


class _FileHead(NamedTuple):
    data: bytes
    size: int
    """How many bytes were asked for."""


class _Entry:
    """Its path is made when it is asked for: a folder may have very many entries, most of another kind."""

    __slots__ = ("_folder", "_path", "is_file", "is_folder", "name")

    def __init__(self, folder: Path, entry: os.DirEntry[str]) -> None:
        self._folder, self.name = folder, entry.name
        self._path: Path | None = None
        self.is_folder = entry.is_dir(follow_symlinks=False)
        self.is_file = not self.is_folder and entry.is_file(follow_symlinks=False)

    @property
    def path(self) -> Path:
        if self._path is None:
            self._path = self._folder / self.name
        return self._path


class _KnownPaths(NamedTuple):
    files: dict[Path, _FileHead]
    listings: dict[Path, list[_Entry]]


_heads: ContextVar[_KnownPaths | None] = ContextVar("heads", default=None)


@contextmanager
def heads_kept() -> Iterator[None]:
    """Files and folders don't change in this block."""
    before = _heads.set(_KnownPaths({}, {}))
    try:
        yield
    finally:
        _heads.reset(before)


MOST_HEAD = 8 * 1024 * 1024
LONG_HEAD = 32 * 1024


def _read_head(path: Path, size: int) -> bytes:
    data = small_file(path, max(size, HEAD))
    try:
        if data is None:
            if not path.is_file():  # opening a pipe would block, and reading would consume it
                return b""
            with path.open("rb") as file:
                data = file.read(size)
                if hides_keys(data[:LONG_HEAD]):
                    data += file.read(MOST_HEAD)
    except (OSError, ValueError):
        return b""
    return (abridged(data) if hides_keys(data[:LONG_HEAD]) else data)[:size]


def is_zip(path: Path) -> bool:
    return head_of(path, 4) in _ZIP


def is_file(path: str | Path) -> bool:
    """A regular file, not a link to one."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


_PLAIN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC if hasattr(os, "O_NOFOLLOW") else None


def small_file(path: str | Path, most: int) -> bytes | None:
    """What is in a regular file of fewer than `most` bytes, not a link to one; None for all others.

    There may be very many: neither a file object nor a question before opening, which take longer than reading.
    """
    try:
        handle = os.open(path, _PLAIN) if _PLAIN is not None else -1
    except (OSError, ValueError):
        return None
    if handle < 0:
        return None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size >= most:
            return None
        data = os.read(handle, status.st_size + 1)
        return data if len(data) == status.st_size else None
    except OSError:
        return None
    finally:
        os.close(handle)


class _Paths(Sequence[Path]):
    """The paths of entries, made when they are taken: most who list a folder look at its first few entries only."""

    __slots__ = ("_entries",)

    def __init__(self, entries: list[_Entry]) -> None:
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Path]:
        return map(_PATH, self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    @overload
    def __getitem__(self, at: int) -> Path: ...
    @overload
    def __getitem__(self, at: slice) -> list[Path]: ...
    def __getitem__(self, at: int | slice) -> Path | list[Path]:
        return [entry.path for entry in self._entries[at]] if isinstance(at, slice) else self._entries[at].path


def children(folder: Path) -> Sequence[Path]:
    """The sorted entries of a folder without links and hidden files; empty where it can't be listed."""
    return _Paths(_entries(folder))


def files(folder: Path) -> Sequence[Path]:
    return _Paths([entry for entry in _entries(folder) if entry.is_file])


def folders(folder: Path, *, named: re.Pattern[str] | None = None) -> Sequence[Path]:
    """`named`: only those whose names begin like this."""
    entries = [entry for entry in _entries(folder) if entry.is_folder]
    return _Paths(entries if named is None else [entry for entry in entries if named.match(entry.name)])


def names_in(folder: str | Path) -> frozenset[str]:
    """Of all entries: to look for each that may be there takes longer than one listing."""
    try:
        return frozenset(os.listdir(folder))  # noqa: PTH208 a path object for each would take longer
    except OSError:
        return frozenset()


def folder_names(folder: Path) -> list[str]:
    return [entry.name for entry in _entries(folder) if entry.is_folder]


def file_names(folder: str) -> list[str]:
    """The names of the same files as `files` has, without path objects."""
    try:
        with os.scandir(folder) as listed:
            names = [entry.name for entry in listed if entry.name[0] != "." and entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
    names.sort()
    return names


def _entries(folder: Path) -> list[_Entry]:
    """A listing has the kind of each entry; asking for each one takes ten times as long."""
    heads = _heads.get()
    if heads is None:
        return _listed(folder)
    if folder not in heads.listings:
        heads.listings[folder] = _listed(folder)
    return heads.listings[folder]


_NAME, _PATH = attrgetter("name"), attrgetter("path")


def _listed(folder: Path) -> list[_Entry]:
    try:
        with os.scandir(folder) as listed:
            visible = (entry for entry in listed if not entry.name.startswith(".") and not entry.is_symlink())
            entries = sorted(islice(visible, LISTING_CAP), key=_NAME)
    except OSError:
        return []
    return [_Entry(folder, entry) for entry in entries]
