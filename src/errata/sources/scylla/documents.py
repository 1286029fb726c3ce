"""The JSON documents and texts of a folder, with what could not be read of them kept aside."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from errata.model import Artefact, SourceRef, Unreadable
from errata.model.words import ArtefactRole
from errata.sources.base import describe, json_file, relative, text_file, unreadable

NAME = "scylla"
TEXT_CAP = 64 * 1024
LISTING_CAP = 20_000


class Documents:
    """Reads below one root; a damaged document is empty here and one `Unreadable` among the problems."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._problems: list[Unreadable] = []

    def ref(self, path: Path, **place: Any) -> SourceRef:
        return SourceRef(file=relative(path, self.root), **place)

    def get(self, path: Path) -> dict[str, Any]:
        if not _is_file(path):
            return {}
        row = json_file(path, source=NAME, root=self.root)
        if isinstance(row, Unreadable):
            self._problems.append(row)
            return {}
        if not isinstance(row.data, dict):
            self.refuse(row.ref, "an object expected")
            return {}
        return row.data

    def artefact(self, path: Path, role: ArtefactRole, *, name: str = "", cap: int = TEXT_CAP) -> Artefact | None:
        """A text file as an artefact, cut at `cap`; none where there is no such file."""
        if not _is_file(path):
            return None
        try:
            size = path.stat().st_size
            found = text_file(path, cap=cap)
        except OSError as error:
            self.refuse(self.ref(path), describe(error))
            return None
        if found is None:
            return None
        binary = "\x00" in found
        return Artefact(
            role=role,
            path=name or path.name,
            size=size,
            text=None if binary else found,
            truncated=size > cap,
            binary=binary,
            ref=self.ref(path),
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
            if not child.is_symlink():
                found.append(child)
            if len(found) >= LISTING_CAP:
                break
    except OSError:
        return []
    return sorted(found)


def folders(folder: Path) -> list[Path]:
    return [child for child in children(folder) if child.is_dir()]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except (OSError, ValueError):
        return False
