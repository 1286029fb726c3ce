"""Reading zip archives from strangers: sizes are capped, names can't leave the archive, nothing is unpacked to disk."""

import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from errata.errors import SourceError

MEMBER_CAP = 64 * 1024 * 1024
TOTAL_CAP = 1024 * 1024 * 1024
COUNT_CAP = 20_000
RATIO_CAP = 200
"""Text deflates by 3 to 20; what grows two hundredfold was made to."""
RATIO_FROM = 1024 * 1024


class Member(NamedTuple):
    name: str
    data: bytes


def zip_members(path: Path) -> Iterator[Member]:
    """The files of an archive. `zipfile.BadZipFile` for a damaged one; `SourceError` for a hostile one."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if not info.is_dir()]
            _refuse_hostile(path, infos)
            for info in infos:
                yield Member(info.filename, _read(archive, info, path))
    except (zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise zipfile.BadZipFile(f"{path.name}: {error}") from error


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> bytes:
    try:
        with archive.open(info) as member:
            # the size in the directory is only a claim: never read more than it says
            data = member.read(info.file_size + 1)
    except OSError as error:
        raise zipfile.BadZipFile(f"{info.filename}: {error}") from error
    if len(data) > info.file_size:
        raise SourceError(f"`{path.name}` holds more in `{info.filename}` than it says", hint=_HINT)
    return data


_HINT = "import the unpacked folder instead, if you trust where the archive comes from"


def _refuse_hostile(path: Path, infos: list[zipfile.ZipInfo]) -> None:
    if len(infos) > COUNT_CAP:
        raise SourceError(f"`{path.name}` holds {len(infos)} files; at most {COUNT_CAP} are read", hint=_HINT)
    total = 0
    for info in infos:
        name = PurePosixPath(info.filename.replace("\\", "/"))
        outside = name.is_absolute() or ".." in name.parts or ":" in (name.parts or ("",))[0]
        if outside or stat.S_ISLNK(info.external_attr >> 16):
            raise SourceError(f"`{path.name}` has a member that leaves the archive: `{info.filename}`", hint=_HINT)
        total += info.file_size
        grows = info.file_size > RATIO_FROM and info.file_size > RATIO_CAP * max(info.compress_size, 1)
        if info.file_size > MEMBER_CAP or total > TOTAL_CAP or grows:
            size = f"{info.file_size / 2**20:,.0f} MB from {info.compress_size / 2**20:,.2f} MB"
            raise SourceError(f"`{path.name}` unpacks too large: `{info.filename}`, {size}", hint=_HINT)
