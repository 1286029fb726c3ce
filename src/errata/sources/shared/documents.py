"""The JSON documents and texts below a folder, with unreadable ones kept aside, and texts of a log as artefacts."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from msgspec.structs import replace

from errata.model import Artefact, SourceRef, Unreadable
from errata.model.words import ArtefactRole
from errata.sources.base import Row, describe, json_file, relative, unreadable
from errata.sources.shared.values import as_text, sequence
from errata.text.redact import redact

TEXT_CAP = 64 * 1024
LISTING_CAP = 20_000
FILES_CAP = 40
"""More of them in one folder are no logs that anybody reads."""


class Documents:
    """Reads below one root; a damaged document is empty here and one `Unreadable` among the problems."""

    def __init__(self, root: Path, source: str, *, keep: Literal["beginning", "end"] = "beginning") -> None:
        """`keep` is what is kept of a text that is too long; tests and crashes tell at the end."""
        self.root = root
        self._source = source
        self._from_the_end = keep == "end"
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
        return object_in(json_file(path, source=self._source, root=self.root), self._source, self._problems)

    def artefact(self, path: Path, role: ArtefactRole, *, name: str = "", clean: bool = False) -> Artefact | None:
        """A file as an artefact; none where there is no such file."""
        if not is_file(path):
            return None
        made = self._made(path, SourceRef(file=relative(path, self.root)), role, clean=clean, ending=self._from_the_end)
        return made and replace(made, path=name or path.name)

    def passage(self, ref: SourceRef, role: ArtefactRole) -> Artefact | None:
        """A part of a file, from one byte to another, without secrets; of a long one the end."""
        path = self.root / ref.file
        return self._made(path, ref, role, clean=True, ending=True) if is_file(path) else None

    def _made(self, path: Path, ref: SourceRef, role: ArtefactRole, *, clean: bool, ending: bool) -> Artefact | None:
        try:
            first, last = ref.start or 0, path.stat().st_size if ref.end is None else ref.end
            size = max(0, last - first)
            start = last - TEXT_CAP if ending and size > TEXT_CAP else first
            with path.open("rb") as file:
                file.seek(start)
                data = file.read(min(size, TEXT_CAP))
        except OSError as error:
            self.refuse(ref, describe(error))
            return None
        binary = b"\x00" in data
        told = data.decode("utf-8", "replace").replace("\r\n", "\n")
        return Artefact(
            role=role,
            path=ref.file,
            size=size,
            text=None if binary else (redact(told) if clean else told),
            truncated=size > TEXT_CAP,
            binary=binary,
            ref=ref,
            extra={"starts_at_byte": start} if start > first else {},
        )

    def refuse(self, ref: SourceRef, why: str) -> None:
        self._problems.append(unreadable(self._source, ref, why))

    def problems(self) -> Iterator[Unreadable]:
        """What could not be read since the last time this was asked."""
        found, self._problems = self._problems, []
        yield from found


def object_in(read: Row | Unreadable, source: str, problems: list[Unreadable]) -> dict[str, Any]:
    """What a document holds; empty, and one problem more, where it can't be read or is no object."""
    if isinstance(read, Unreadable):
        problems.append(read)
        return {}
    if not isinstance(read.data, dict):
        problems.append(unreadable(source, read.ref, "an object expected"))
        return {}
    return read.data


def children(folder: Path) -> list[Path]:
    """What lies in a folder, sorted, but for links and hidden files; nothing for what can't be listed."""
    found = []
    try:
        for child in folder.iterdir():
            if not child.name.startswith(".") and not child.is_symlink():
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


def retrieved(told: Any, ref: SourceRef, name: str) -> Iterator[Artefact]:
    for at, passage in enumerate(sequence(told)):
        said = as_text(passage)
        yield Artefact(
            role="context",
            path=f"{name}/{at}.md",
            size=len(said.encode("utf-8", "replace")),
            text=said[:TEXT_CAP],
            truncated=len(said) > TEXT_CAP,
            ref=ref.below(name, at),
        )


def captured(role: ArtefactRole, path: str, text: str, ref: SourceRef) -> tuple[Artefact, ...]:
    """None where there is no text; of a long one the end, where tests and crashes tell."""
    if not text.strip():
        return ()
    data = text.encode("utf-8", "replace")
    shown = data[-TEXT_CAP:].decode("utf-8", "ignore") if len(data) > TEXT_CAP else text
    return (Artefact(role=role, path=path, size=len(data), text=shown, truncated=len(data) > TEXT_CAP, ref=ref),)
