"""What the agent program printed, as steps, and the lines of a run's own log that name a trial."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from errata.model import Artefact, SourceRef
from errata.sources.base import is_file
from errata.sources.shared.documents import TEXT_CAP, Documents
from errata.sources.shared.transcripts.stream import AgentStream, stream_at
from errata.sources.shared.values import text
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

RUN_LOG_CAP = 64 * 1024 * 1024
_POINTER = b"version https://git-lfs.github.com/spec/"
_ENTRY = lazy_regex(r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d")
_NAME = lazy_regex(r"[\w.-]{2,200}")
_PRINTED = (".txt", ".log", ".jsonl")


def stream_of(candidates: Iterable[Path], documents: Documents) -> AgentStream | None:
    """Of the first file that holds the session of an agent; others hold the same, or something else."""
    for path in candidates:
        stream = stream_at(path, root=documents.root)
        if stream is not None:
            return stream
    return None


def printed_by_agent(files: Iterable[Path]) -> list[Path]:
    return [path for path in files if path.suffix in _PRINTED]


class RunLog:
    """The harness's log of a whole run, in entries: a line with a time, and the lines below it without one."""

    def __init__(self, path: Path, documents: Documents, trials: Mapping[str, str]) -> None:
        """`trials`: a name that an entry may use → the trial."""
        self.artefact: Artefact | None = None
        self._file = documents.ref(path).file
        self._about: dict[str, list[tuple[int, str]]] = {}
        if not is_file(path) or _is_pointer(path):
            return
        self.artefact = documents.artefact(path, "log", clean=True)
        if self.artefact is None or self.artefact.binary or (self.artefact.size or 0) > RUN_LOG_CAP:
            return
        for number, entry in _entries(path):
            for trial in dict.fromkeys(trials.get(name.strip(".-"), "") for name in _NAME.findall(entry)):
                if trial:
                    self._about.setdefault(trial, []).append((number, entry))

    def about(self, trial: str) -> Artefact | None:
        """The entries that name a trial; the end of them where they are long."""
        entries = self._about.get(trial)
        if not entries:
            return None
        whole = redact("\n".join(entry for _, entry in entries))
        return Artefact(
            role="log",
            path=self._file,
            size=len(whole.encode("utf-8", "replace")),
            text=whole[-TEXT_CAP:],
            truncated=len(whole) > TEXT_CAP,
            ref=SourceRef(file=self._file, line=entries[0][0]),
        )


def names_of_trials(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """A trial is named as such, as its container is, and as its task where that has no other trial."""
    of_task: dict[str, set[str]] = {}
    names: dict[str, str] = {}
    for row in rows:
        trial, task = text(row.get("trial_name")), text(row.get("task_id"))
        if trial:
            of_task.setdefault(task, set()).add(trial)
            names |= {trial.replace(".", "-"): trial, trial: trial}
    return names | {task: trials.pop() for task, trials in of_task.items() if len(trials) == 1 and task}


def _entries(path: Path) -> Iterator[tuple[int, str]]:
    begun, entry = 0, ""
    for number, line in enumerate(_lines(path), start=1):
        if entry and line and not _ENTRY.match(line) and _ENTRY.match(entry):
            entry = f"{entry}\n{line}" if len(entry) < TEXT_CAP else entry
        elif line:
            if entry:
                yield begun, entry
            begun, entry = number, line
    if entry:
        yield begun, entry


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
