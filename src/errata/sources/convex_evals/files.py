"""The files of an eval: from its debug answer, or from zips beside the answers."""

import re
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from os.path import relpath
from pathlib import Path
from typing import Any

from errata.model import Artefact, Output, SourceRef, Unreadable
from errata.model.words import ArtefactRole
from errata.sources.base import describe, folders, is_file, unreadable
from errata.sources.convex_evals import NAME, RUN_LOG
from errata.sources.convex_evals.answers import Statement, debug_files
from errata.sources.convex_evals.steps import RAW_RESPONSE, RAW_RESPONSE_CAP
from errata.sources.shared.archives import zip_members
from errata.sources.shared.values import text
from errata.text.lazy_regex import lazy_regex

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
BINARY = "<binary file>"
"""The harness's placeholder for a file that is not text."""
TEXT_CAP = 4 * 1024 * 1024
_TEXT = lazy_regex(r"[.](?:[jt]sx?|json|md|txt|html|css|ya?ml|toml|env|log|gitignore|npmrc)$", re.IGNORECASE)
Role = Callable[[str], ArtefactRole]


@dataclass
class EvalArtefacts:
    """The known files of one eval."""

    output: list[Artefact] = field(default_factory=list)
    source: list[Artefact] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    damaged: list[Unreadable] = field(default_factory=list)


class Storage:
    """The zips of a run, named by storage id: in its folder, in direct subfolders, or in `storage` beside it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._reported: set[Path] = set()
        self._folders = [root, *folders(root), root.parent / "storage"]

    def files_of(self, statements: list[Statement]) -> EvalArtefacts:
        """The files from the debug answer, else from saved zips."""
        files = EvalArtefacts(links=_links(statements))
        for statement in statements:
            answered = debug_files(statement.answer) if statement.kind == "debug" else {}
            files.output = files.output or _from_answer(answered, "outputFiles", output_role, statement)
            files.source = files.source or _from_answer(answered, "evalSourceFiles", source_role, statement)
        files.output = files.output or self._unzip(files.links.get("output", ""), output_role, files.damaged)
        files.source = files.source or self._unzip(files.links.get("source", ""), source_role, files.damaged)
        # always in the same order: a case's digest covers its files
        files.output.sort(key=lambda artefact: artefact.path)
        files.source.sort(key=lambda artefact: artefact.path)
        return files

    def _unzip(self, storage_id: str, role: Role, damaged: list[Unreadable]) -> list[Artefact]:
        path = self._find(storage_id)
        if path is None:
            return []
        file = Path(relpath(path, self._root)).as_posix()
        artefacts = []
        try:
            for member in zip_members(path):
                ref = SourceRef(file=file, member=member.name)
                artefacts.append(from_bytes(member.name, member.data, role, ref))
        except _DAMAGE as error:
            if path not in self._reported:
                self._reported.add(path)
                damaged.append(unreadable(NAME, SourceRef(file=file), f"damaged archive: {describe(error)}"))
        return artefacts

    def _find(self, storage_id: str) -> Path | None:
        # the id is untrusted: only letters of an id may become part of a path
        if not storage_id or not _ID_LETTERS.issuperset(storage_id) or len(storage_id) > 100:
            return None
        places = (folder / f"{storage_id}.zip" for folder in self._folders)
        return next((place for place in places if is_file(place)), None)


def _links(statements: list[Statement]) -> dict[str, str]:
    output = (text(statement.status.get("outputStorageId")) for statement in statements)
    source = (text(statement.document.get("evalSourceStorageId")) for statement in statements)
    links = {"output": next(filter(None, output), ""), "source": next(filter(None, source), "")}
    return {name: link for name, link in links.items() if link}


def _from_answer(files: dict[str, dict[str, Any]], name: str, role: Role, statement: Statement) -> list[Artefact]:
    return [
        from_text(path, content, role, statement.answer.ref.below(name, path))
        for path, content in files.get(name, {}).items()
        if isinstance(content, str)
    ]


def output_role(path: str) -> ArtefactRole:
    return "log" if path == RUN_LOG else "output"


def source_role(path: str) -> ArtefactRole:
    if path.startswith("answer/"):
        return "expected"
    if path == "TASK.txt":
        return "task"
    if path == "GAPS.txt":
        # the authors' known gaps: not part of the task, so it must not change the case's digest
        return "context"
    return "grader" if path.startswith("grader") or ".test." in path else "config"


def from_bytes(path: str, data: bytes, role: Role, ref: SourceRef) -> Artefact:
    """Text by the harness's own rule: the file extension."""
    if not _is_text(path):
        return Artefact(role=role(path), path=path, size=len(data), binary=True, ref=ref)
    return _text_artefact(path, data.decode("utf-8", "replace"), len(data), role, ref)


def from_text(path: str, text: str, role: Role, ref: SourceRef) -> Artefact:
    if text == BINARY and not _is_text(path):
        return Artefact(role=role(path), path=path, binary=True, ref=ref)
    return _text_artefact(path, text, len(text.encode("utf-8", "replace")), role, ref)


def raw_response(artefacts: Iterable[Artefact]) -> Output:
    """The raw answer; the harness keeps it only if it could not extract files from it."""
    return next((Output(text=one.text, ref=one.ref) for one in artefacts if one.path == RAW_RESPONSE), Output())


def _text_artefact(path: str, text: str, size: int, role: Role, ref: SourceRef) -> Artefact:
    if _holds_environment(path):
        return Artefact(
            role=role(path), path=path, size=size, extra={"text": "left out: values of environment"}, ref=ref
        )
    cut = len(text) > TEXT_CAP or (path == RAW_RESPONSE and len(text) >= RAW_RESPONSE_CAP)
    return Artefact(role=role(path), path=path, size=size, text=text[:TEXT_CAP], truncated=cut, ref=ref)


def _holds_environment(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return name.startswith(".env") or name.endswith(".env")


def _is_text(path: str) -> bool:
    return _TEXT.search(path) is not None
