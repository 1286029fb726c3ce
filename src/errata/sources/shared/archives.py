"""Zip archives from untrusted places: sizes are capped, names can't leave the archive, nothing is unpacked to disk."""

import errno
import lzma
import stat
import struct
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple
from zipfile import BadZipFile

from errata.errors import SourceError

# members compressed with Zstandard: the standard library reads them from Python 3.14, a backport before that
if sys.version_info >= (3, 14):
    import zipfile

    from compression.zstd import ZstdDecompressor, ZstdError
else:
    from backports.zstd import ZstdDecompressor, ZstdError, zipfile

MEMBER_CAP = 64 * 1024 * 1024
TOTAL_CAP = 1024 * 1024 * 1024
COUNT_CAP = 20_000
RATIO_CAP = 200
"""Text deflates by a factor of 3 to 20; a factor of 200 is deliberate."""
RATIO_FROM = 1024 * 1024


class Caps(NamedTuple):
    """How much an archive may hold before it is refused."""

    member: int
    total: int
    members: int
    ratio: float


class ArchiveMember(NamedTuple):
    name: str
    data: bytes


class Archive:
    """The files of an archive by name, each unpacked on demand and not cached."""

    def __init__(self, opened: zipfile.ZipFile, caps: Caps, problem: str = "") -> None:
        """`problem`: what of the archive is lost."""
        self._opened = opened
        self._caps = caps
        self.problem = problem
        # if a name occurs twice, the last member was written last
        self._infos = {info.filename: info for info in opened.infolist() if not info.is_dir()}

    def __contains__(self, name: object) -> bool:
        return name in self._infos

    def names(self, prefix: str = "") -> list[str]:
        """In the order of the archive's directory."""
        return [name for name in self._infos if name.startswith(prefix)]

    def read(self, name: str) -> bytes:
        """The bytes of a member. `KeyError` if it is missing, `BadZipFile` if it is damaged or too large."""
        info = self._infos[name]
        if _too_large(info, self._caps):
            raise BadZipFile(f"too large when unpacked: {_size(info)}")
        with _damage_in_one_form():
            data = _unpack(self._opened, info)
        if data is None:
            raise BadZipFile("larger than its declared size")
        return data


@contextmanager
def open_archive(path: Path, caps: Caps) -> Iterator[Archive]:
    """An archive read member by member: a member that is too large is refused only when it is read.

    An archive whose end is missing has no directory; then its members are looked for one after the other.
    `BadZipFile` for a damaged archive, `SourceError` for a hostile one.
    """
    problem = ""
    try:
        with _damage_in_one_form():
            opened = zipfile.ZipFile(path)
    except BadZipFile as error:
        with _damage_in_one_form():
            opened = _WithoutDirectory(path)
        if not opened.infolist():
            opened.close()
            raise
        problem = f"{error}: the directory at its end is missing; its complete members were read"
    with opened:
        _refuse_hostile(path, opened.infolist(), caps)
        yield Archive(opened, caps, problem)


class _WithoutDirectory(zipfile.ZipFile):
    """An archive that was never closed, or lost its end: every complete member is found by the header before it."""

    def _RealGetContents(self) -> None:  # noqa: N802 the name of the standard library
        file = self.fp
        assert file is not None
        self.filelist, self.NameToInfo, self.start_dir = [], {}, 0
        size, at = file.seek(0, 2), 0
        while len(self.filelist) <= COUNT_CAP * 20 and (info := _member_at(file, at, size)) is not None:
            self.filelist.append(info)
            self.NameToInfo[info.filename] = info
            at = info.next_header


class _FoundMember(zipfile.ZipInfo):
    """A member and the place behind it."""

    next_header = 0


_LOCAL = struct.Struct("<4s5H3L2H")
_WIDE_SIZE = 0xFFFFFFFF


def _member_at(file: IO[bytes], at: int, size: int) -> "_FoundMember | None":
    """None if there is no member, or its end is missing, or only a later directory has its size."""
    file.seek(at)
    head = file.read(_LOCAL.size)
    if len(head) < _LOCAL.size:
        return None
    mark, _, flags, method, _, _, crc, packed, unpacked, name_size, extra_size = _LOCAL.unpack(head)
    name, extra = file.read(name_size), file.read(extra_size)
    if mark != b"PK\x03\x04" or flags & _SIZE_FOLLOWS:
        return None
    if _WIDE_SIZE in (packed, unpacked):
        if len(extra) < 20 or extra[:2] != b"\x01\x00":
            return None
        unpacked, packed = struct.unpack_from("<QQ", extra, 4)
    info = _FoundMember(name.decode("utf-8" if flags & _UTF_8 else "cp437", "replace"))
    info.header_offset, info.flag_bits, info.compress_type = at, flags, method
    info.CRC, info.compress_size, info.file_size = crc, packed, unpacked
    info.next_header = at + _LOCAL.size + name_size + extra_size + packed
    return info if info.next_header <= size else None


_SIZE_FOLLOWS, _UTF_8 = 0x8, 0x800


def zip_members(path: Path) -> Iterator[ArchiveMember]:
    """The files of an archive. `BadZipFile` for a damaged one; `SourceError` for a hostile one."""
    caps = Caps(MEMBER_CAP, TOTAL_CAP, COUNT_CAP, RATIO_CAP)
    with _damage_in_one_form():
        opened = zipfile.ZipFile(path)
    with opened:
        infos = [info for info in opened.infolist() if not info.is_dir()]
        _refuse_hostile(path, infos, caps)
        for info in infos:
            if _too_large(info, caps):
                raise _refused_as_too_large(path, info)
        for info in infos:
            with _damage_in_one_form():
                data = _unpack(opened, info)
            if data is None:
                raise SourceError(f"`{path.name}`: `{info.filename}` is larger than its declared size", hint=_HINT)
            yield ArchiveMember(info.filename, data)


_HINT = "import the unpacked folder instead, if you trust where the archive comes from"
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    ZstdError,
    EOFError,
    LookupError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
    struct.error,
)


@contextmanager
def _damage_in_one_form() -> Iterator[None]:
    try:
        yield
    except BadZipFile:
        raise
    except OSError as error:
        # an offset before the beginning of the file is not a disk error
        if error.errno != errno.EINVAL:
            raise
        raise BadZipFile("points outside the file") from error
    except _DAMAGE as error:
        raise BadZipFile(str(error) or type(error).__name__) from error


def _unpack(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | None:
    """None if a member holds more than its declared size; no more than that is read."""
    if (data := _unpack_at_once(opened, info)) is not None:
        return data
    with opened.open(info) as member:
        data = member.read(info.file_size + 1)
    return data if len(data) <= info.file_size else None


def _unpack_at_once(opened: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | None:
    """A member without any damage, in a third of the time; None for any other, which `zipfile` then reads."""
    name, file = info.orig_filename.encode("utf-8", "replace"), opened.fp
    unpacked = _UNPACKED.get(info.compress_type)
    if unpacked is None or file is None or info.flag_bits & ~_PLAIN_FLAGS or info.file_size > MEMBER_CAP:
        return None
    file.seek(info.header_offset)
    head = file.read(_LOCAL.size + len(name))
    if len(head) < _LOCAL.size or not head.startswith(_MARK) or head[_LOCAL.size :] != name:
        return None
    name_size, extra_size = _LOCAL.unpack_from(head)[-2:]
    start, end = info.header_offset + len(head) + extra_size, getattr(info, "_end_offset", None)
    if name_size != len(name) or (end is not None and start + info.compress_size > end):
        return None
    file.seek(start)
    packed = file.read(info.compress_size)
    try:
        data = unpacked(packed, info.file_size)
    except (zlib.error, ZstdError, EOFError):
        return None
    whole = len(packed) == info.compress_size and len(data) == info.file_size and zlib.crc32(data) == info.CRC
    return data if whole else None


_MARK = b"PK\x03\x04"
_PLAIN_FLAGS = 0x8 | 0x800 | 0x6
"""The size follows, the name is UTF-8, how hard it was packed: nothing that changes how a member is read."""


def _inflate(packed: bytes, size: int) -> bytes:
    return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, size + 1)


def _from_zstd(packed: bytes, size: int) -> bytes:
    return bytes(ZstdDecompressor().decompress(packed, size + 1))


_UNPACKED = {zipfile.ZIP_DEFLATED: _inflate, zipfile.ZIP_ZSTANDARD: _from_zstd}


def _refuse_hostile(path: Path, infos: list[zipfile.ZipInfo], caps: Caps) -> None:
    if len(infos) > caps.members:
        raise SourceError(f"`{path.name}` holds {len(infos)} files; at most {caps.members} are read", hint=_HINT)
    total = 0
    for info in infos:
        name = PurePosixPath(info.filename.replace("\\", "/"))
        outside = name.is_absolute() or ".." in name.parts or ":" in (name.parts or ("",))[0]
        if outside or stat.S_ISLNK(info.external_attr >> 16):
            raise SourceError(f"`{path.name}` has a member that leaves the archive: `{info.filename}`", hint=_HINT)
        total += info.file_size
        if total > caps.total:
            raise _refused_as_too_large(path, info)


def _refused_as_too_large(path: Path, info: zipfile.ZipInfo) -> SourceError:
    return SourceError(f"`{path.name}` is too large when unpacked: `{info.filename}`, {_size(info)}", hint=_HINT)


def _too_large(info: zipfile.ZipInfo, caps: Caps) -> bool:
    grows = info.file_size > RATIO_FROM and info.file_size > caps.ratio * max(info.compress_size, 1)
    return info.file_size > caps.member or grows


def _size(info: zipfile.ZipInfo) -> str:
    return f"{info.file_size / 2**20:,.0f} MB from {info.compress_size / 2**20:,.2f} MB"
