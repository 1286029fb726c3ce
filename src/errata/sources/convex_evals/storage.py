"""Where an eval's files are found: in its debug answer, or in the zips that were saved beside the answers."""

import zipfile
import zlib
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path
from typing import Any

from errata.model import Artefact, SourceRef, Unreadable
from errata.sources.base import describe, unreadable
from errata.sources.convex_evals.answers import debug_files
from errata.sources.convex_evals.artefacts import Role, from_bytes, from_text, output_role, source_role
from errata.sources.convex_evals.collected import Said
from errata.sources.convex_evals.vocabulary import NAME
from errata.sources.shared.archives import zip_members
from errata.sources.shared.documents import folders, is_file
from errata.sources.shared.values import text

_ID_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    ValueError,
    IndexError,
    NotImplementedError,
    RuntimeError,
)


@dataclass
class Files:
    """What is known of one eval's files."""

    output: list[Artefact] = field(default_factory=list)
    source: list[Artefact] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    damaged: list[Unreadable] = field(default_factory=list)


class Storage:
    """The zips of a run, named by their storage ids: in its folder, one level below, or in `storage` beside it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._told: set[Path] = set()
        self._folders = [root, *folders(root), root.parent / "storage"]

    def files_of(self, sayings: list[Said]) -> Files:
        """From the debug answer where there is one, else from the zips, where they were saved."""
        files = Files(links=_links(sayings))
        for said in sayings:
            told = debug_files(said.answer) if said.kind == "debug" else {}
            files.output = files.output or _told(told, "outputFiles", output_role, said)
            files.source = files.source or _told(told, "evalSourceFiles", source_role, said)
        files.output = files.output or self._unzip(files.links.get("output", ""), output_role, files.damaged)
        files.source = files.source or self._unzip(files.links.get("source", ""), source_role, files.damaged)
        # in one order, wherever they come from: a case's digest goes over its files
        files.output.sort(key=lambda artefact: artefact.path)
        files.source.sort(key=lambda artefact: artefact.path)
        return files

    def _unzip(self, storage_id: str, role: Role, damaged: list[Unreadable]) -> list[Artefact]:
        path = self._find(storage_id)
        if path is None:
            return []
        file = Path(relpath(path, self._root)).as_posix()
        found = []
        try:
            for member in zip_members(path):
                ref = SourceRef(file=file, member=member.name)
                found.append(from_bytes(member.name, member.data, role, ref))
        except _DAMAGE as error:
            if path not in self._told:
                self._told.add(path)
                damaged.append(unreadable(NAME, SourceRef(file=file), f"damaged archive: {describe(error)}"))
        return found

    def _find(self, storage_id: str) -> Path | None:
        # an id comes out of an answer: nothing but an id may become part of a path
        if not storage_id or not _ID_LETTERS.issuperset(storage_id) or len(storage_id) > 100:
            return None
        places = (folder / f"{storage_id}.zip" for folder in self._folders)
        return next((place for place in places if is_file(place)), None)


def _links(sayings: list[Said]) -> dict[str, str]:
    output = (text(said.status.get("outputStorageId")) for said in sayings)
    source = (text(said.document.get("evalSourceStorageId")) for said in sayings)
    links = {"output": next(filter(None, output), ""), "source": next(filter(None, source), "")}
    return {name: link for name, link in links.items() if link}


def _told(files: dict[str, dict[str, Any]], name: str, role: Role, said: Said) -> list[Artefact]:
    return [
        from_text(path, content, role, said.answer.ref.below(name, path))
        for path, content in files.get(name, {}).items()
        if isinstance(content, str)
    ]
