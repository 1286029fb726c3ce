"""JSON documents and texts below a folder (unreadable ones are collected as problems), and log texts as artefacts."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

from msgspec.structs import replace

from errata.model import Artefact, SourceRef, Unreadable
from errata.model.words import ArtefactRole
from errata.sources.base import Row, describe, is_file, json_document, json_file, relative, small_file, unreadable
from errata.sources.base import files as files_in
from errata.sources.json_values import decode_exactly
from errata.sources.shared.values import as_text, sequence
from errata.text.redact import redact

TEXT_CAP = 64 * 1024
BLOCK = 2**20
KEPT_CAP = 32 * 1024 * 1024
"""Bytes of documents that are kept because they are needed again."""
FILES_CAP = 40
"""A folder with more files than this holds no logs that anybody reads."""


class Documents:
    """Reads files below one root; a damaged document is empty, and is added to the problems as an `Unreadable`."""

    def __init__(self, root: Path, source: str, *, keep: Literal["beginning", "end"] = "beginning") -> None:
        """`keep`: which part of a long text is kept. Test output and crash logs have the cause at the end."""
        self.root = root
        self._below = f"{root}/"  # on other systems no path begins like this
        self._source = source
        self._from_the_end = keep == "end"
        self._problems: list[Unreadable] = []
        self._kept: dict[str, bytes] = {}
        self._kept_size = 0

    def ref(self, path: str | Path, pointer: str = "") -> SourceRef:
        whole = str(path)
        if whole.startswith(self._below):
            return SourceRef(file=whole[len(self._below) :], pointer=pointer)
        return SourceRef(file=relative(Path(path), self.root), pointer=pointer)

    def get(self, path: str | Path, *, cap: int | None = None, again: bool = False) -> dict[str, Any]:
        """The object in a file; empty if the file is missing or holds something else.

        `again`: it is needed once more, and is not read a second time if it is small. Very many documents may be read:
        their paths may be texts, since path objects take as long to make as the file to read.
        """
        whole = str(path)
        data = self._kept.pop(whole, None)
        if data is None:
            data = small_file(whole, TEXT_CAP)
            if again and data is not None and self._kept_size < KEPT_CAP:
                self._kept[whole] = data
                self._kept_size += len(data)
        if data is not None:
            return self._object_in(data, whole)
        if not is_file(whole):
            return {}
        path = Path(path)
        if cap is not None and _size(path) > cap:
            self.refuse(self.ref(path), f"larger than {cap // 2**20} MB")
            return {}
        return object_in(json_file(path, source=self._source, root=self.root), self._source, self._problems)

    def _object_in(self, data: bytes, path: str) -> dict[str, Any]:
        try:
            value = decode_exactly(data)
        except (ValueError, RecursionError):
            value = None
        if type(value) is dict:
            return value
        return object_in(json_document(data, self.ref(path), source=self._source), self._source, self._problems)

    def artefact(self, path: str | Path, role: ArtefactRole, *, name: str = "", clean: bool = False) -> Artefact | None:
        ref, data = self.ref(path), small_file(path, TEXT_CAP)
        if data is not None:
            return _artefact(data, ref, role, name=name or Path(path).name, size=len(data), clean=clean)
        path = Path(path)
        if not is_file(path):
            return None
        artefact = self._read_artefact(path, ref, role, clean=clean, ending=self._from_the_end)
        return artefact and replace(artefact, path=name or path.name)

    def passage(self, ref: SourceRef, role: ArtefactRole) -> Artefact | None:
        """A byte range of a file, with secrets redacted; only the end of a long one."""
        path = self.root / ref.file
        return self._read_artefact(path, ref, role, clean=True, ending=True) if is_file(path) else None

    def _read_artefact(
        self, path: Path, ref: SourceRef, role: ArtefactRole, *, clean: bool, ending: bool
    ) -> Artefact | None:
        try:
            with path.open("rb") as file:
                first, last = ref.start or 0, os.fstat(file.fileno()).st_size if ref.end is None else ref.end
                size = max(0, last - first)
                start = last - TEXT_CAP if ending and size > TEXT_CAP else first
                before = _newlines(file, start)
                data = file.read(min(size, TEXT_CAP))
        except OSError as error:
            self.refuse(ref, describe(error))
            return None
        artefact = _artefact(data, ref, role, name=ref.file, size=size, clean=clean)
        extra = {
            **({"starts_at_byte": start} if start > first else {}),
            **({"lines_before": before} if before else {}),
        }
        return replace(artefact, extra=extra) if extra else artefact

    def refuse(self, ref: SourceRef, why: str) -> None:
        self._problems.append(unreadable(self._source, ref, why))

    def problems(self) -> Iterator[Unreadable]:
        """Problems since the last call."""
        problems, self._problems = self._problems, []
        yield from problems


def _artefact(data: bytes, ref: SourceRef, role: ArtefactRole, *, name: str, size: int, clean: bool) -> Artefact:
    binary = b"\x00" in data
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return Artefact(
        role=role,
        path=name,
        size=size,
        text=None if binary else (redact(text) if clean else text),
        truncated=size > TEXT_CAP,
        binary=binary,
        ref=ref,
    )


def object_in(read: Row | Unreadable, source: str, problems: list[Unreadable]) -> dict[str, Any]:
    """The object in a document; empty, with a problem added, if it can't be read or is not an object."""
    if isinstance(read, Unreadable):
        problems.append(read)
        return {}
    if not isinstance(read.data, dict):
        problems.append(unreadable(source, read.ref, "expected an object"))
        return {}
    return read.data


def files(folder: Path) -> Sequence[Path]:
    return files_in(folder)[:FILES_CAP]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _newlines(file: BinaryIO, end: int) -> int:
    """How many line breaks come before a place in a file, which is read up to there."""
    breaks, left = 0, end
    while left > 0 and (block := file.read(min(left, BLOCK))):
        breaks, left = breaks + block.count(b"\n"), left - len(block)
    return breaks


def context_artefacts(passages: Any, ref: SourceRef, name: str) -> Iterator[Artefact]:
    for at, value in enumerate(sequence(passages)):
        passage = as_text(value)
        yield Artefact(
            role="context",
            path=f"{name}/{at}.md",
            size=len(passage.encode("utf-8", "replace")),
            text=passage[:TEXT_CAP],
            truncated=len(passage) > TEXT_CAP,
            ref=ref.below(name, at),
        )


def output_artefact(role: ArtefactRole, path: str, text: str, ref: SourceRef) -> tuple[Artefact, ...]:
    """Empty if there is no text; only the end of a long text, where test output and crash logs have the cause."""
    if not text.strip():
        return ()
    data = text.encode("utf-8", "replace")
    is_cut = len(data) > TEXT_CAP
    before = data[:-TEXT_CAP].count(b"\n") if is_cut else 0
    return (
        Artefact(
            role=role,
            path=path,
            size=len(data),
            text=data[-TEXT_CAP:].decode("utf-8", "ignore") if is_cut else text,
            truncated=is_cut,
            ref=ref,
            extra={"lines_before": before} if before else {},
        ),
    )
