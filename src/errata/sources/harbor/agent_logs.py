"""What the agent program printed, as steps, and the lines of a run's own log that name a trial."""

import re
from collections.abc import Iterable
from pathlib import Path

from errata.model import Artefact, SourceRef
from errata.sources.shared.documents import TEXT_CAP, Documents, files, is_file
from errata.sources.shared.transcripts.stream import AgentStream, stream_at
from errata.text.redact import redact

RUN_LOG_CAP = 64 * 1024 * 1024
_POINTER = b"version https://git-lfs.github.com/spec/"
_ENTRY = re.compile(r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_PRINTED = (".txt", ".log", ".jsonl")


def stream_of(candidates: Iterable[Path], documents: Documents) -> AgentStream | None:
    """Of the first file that holds the session of an agent; others hold the same, or something else."""
    for path in candidates:
        stream = stream_at(path, root=documents.root)
        if stream is not None:
            return stream
    return None


def printed_by_agent(folder: Path) -> list[Path]:
    return [path for path in files(folder) if path.suffix in _PRINTED]


class RunLog:
    """The harness's log of a whole run, in entries: a line with a time, and the lines below it without one."""

    def __init__(self, path: Path, documents: Documents) -> None:
        self.artefact: Artefact | None = None
        self._file = documents.ref(path).file
        self._entries: list[tuple[int, str]] = []
        if not is_file(path) or _is_pointer(path):
            return
        self.artefact = documents.artefact(path, "log", clean=True)
        if self.artefact is None or self.artefact.binary or (self.artefact.size or 0) > RUN_LOG_CAP:
            return
        for number, line in enumerate(_lines(path), start=1):
            if self._entries and not _ENTRY.match(line) and _ENTRY.match(self._entries[-1][1]):
                self._entries[-1] = (self._entries[-1][0], f"{self._entries[-1][1]}\n{line}")
            elif line:
                self._entries.append((number, line))

    def about(self, names: Iterable[str]) -> Artefact | None:
        """The entries that contain one of the names, with the end of a long text kept."""
        wanted = [name for name in names if name]
        if not wanted or not self._entries:
            return None
        pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, wanted))})(?![\w-])")
        found = [(number, entry) for number, entry in self._entries if pattern.search(entry)]
        if not found:
            return None
        whole = redact("\n".join(entry for _, entry in found))
        return Artefact(
            role="log",
            path=self._file,
            size=len(whole.encode("utf-8", "replace")),
            text=whole[-TEXT_CAP:],
            truncated=len(whole) > TEXT_CAP,
            ref=SourceRef(file=self._file, line=found[0][0]),
        )


def _lines(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    except OSError:
        return []


def _is_pointer(path: Path) -> bool:
    """Whether git-lfs left a note in place of the file."""
    try:
        with path.open("rb") as file:
            return file.read(len(_POINTER)) == _POINTER
    except OSError:
        return False
