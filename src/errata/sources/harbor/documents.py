"""The JSON documents and texts of a folder, with what could not be read of them kept aside."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Artefact, SourceRef, Unreadable
from errata.model.words import ArtefactRole
from errata.sources.base import describe, json_file, relative, unreadable
from errata.text.redact import redact

NAME = "harbor"
TEXT_CAP = 64 * 1024
TRAJECTORY_CAP = 64 * 1024 * 1024
LISTING_CAP = 20_000
FILES_CAP = 40


class Documents:
    """Reads below one root; a damaged document is empty here and one `Unreadable` among the problems."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._problems: list[Unreadable] = []

    def ref(self, path: Path, pointer: str = "") -> SourceRef:
        return SourceRef(file=relative(path, self.root), pointer=pointer)

    def get(self, path: Path, *, cap: int | None = None) -> dict[str, Any]:
        """The object in a file; empty where there is no such file, or no object in it."""
        if not is_file(path):
            return {}
        if cap is not None and _size(path) > cap:
            self.refuse(self.ref(path), f"larger than {cap // 2**20} MB")
            return {}
        row = json_file(path, source=NAME, root=self.root)
        if isinstance(row, Unreadable):
            self._problems.append(row)
            return {}
        if not isinstance(row.data, dict):
            self.refuse(row.ref, "an object expected")
            return {}
        return row.data

    def artefact(self, path: Path, role: ArtefactRole, *, name: str, clean: bool = False) -> Artefact | None:
        """A file as an artefact. Of a long text the end is kept, which is where tests and crashes tell."""
        if not is_file(path):
            return None
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                file.seek(max(0, size - TEXT_CAP))
                data = file.read(TEXT_CAP)
        except OSError as error:
            self.refuse(self.ref(path), describe(error))
            return None
        binary = b"\x00" in data
        told = data.decode("utf-8", "replace").replace("\r\n", "\n")
        return Artefact(
            role=role,
            path=name,
            size=size,
            text=None if binary else (redact(told) if clean else told),
            truncated=size > TEXT_CAP,
            binary=binary,
            ref=self.ref(path),
            extra={"starts_at_byte": size - TEXT_CAP} if size > TEXT_CAP else {},
        )

    def refuse(self, ref: SourceRef, why: str) -> None:
        self._problems.append(unreadable(NAME, ref, why))

    def problems(self) -> Iterator[Unreadable]:
        """What could not be read since the last time this was asked."""
        found, self._problems = self._problems, []
        yield from found


def children(folder: Path) -> list[Path]:
    """What lies in a folder, sorted; nothing for what can't be listed. Links are not followed."""
    found = []
    try:
        for child in folder.iterdir():
            if not child.is_symlink() and not child.name.startswith("."):
                found.append(child)
            if len(found) >= LISTING_CAP:
                break
    except OSError:
        return []
    return sorted(found)


def folders(folder: Path) -> list[Path]:
    return [child for child in children(folder) if child.is_dir()]


def files(folder: Path) -> list[Path]:
    return [child for child in children(folder) if child.is_file()][:FILES_CAP]


def is_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except (OSError, ValueError):
        return False


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
