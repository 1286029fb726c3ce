"""Runs in the format of every_eval_ever: a summary of each, and its instances."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import msgspec

from errata import __version__
from errata.errors import SettingsError
from errata.model import Case, StoredRun
from errata.render.files import replacing
from errata.runs.runset import RunSet
from errata.runs.view import RunView
from errata.sources.every_eval_ever.written_rows import rows_of
from errata.sources.every_eval_ever.written_summary import (
    UNKNOWN,
    EvaluationNames,
    Tallies,
    naming_of,
    summary_of,
    with_instances,
)

NOT_COUNTED = "attempts that are superseded, or parts of others"
NO_DEVELOPER = "a developer of the model, whom the log does not name"


class WrittenRun(msgspec.Struct, frozen=True, kw_only=True):
    stored: StoredRun
    files: tuple[Path, ...]
    rows: int
    not_expressed: dict[str, int]
    """What the format has no place for, and how often."""


def write_runs(runs: RunSet, folder: Path, *, now: float, force: bool = False) -> Iterator[WrittenRun]:
    """Below `folder`, where the format wants them; nothing is written over unless `force` is set."""
    names = {view.run.id: naming_of(view.run) for view in runs}
    there = next((file for one in names.values() for file in _files(folder, one) if file.exists()), None)
    if there is not None and not force:
        raise SettingsError(f"`{there}` already exists", hint="choose another folder, or add `--force`")
    return (_write(view, runs, folder, names[view.run.id], now=now) for view in runs)


def _write(view: RunView, runs: RunSet, folder: Path, naming: EvaluationNames, *, now: float) -> WrittenRun:
    stored = view.stored
    tallies = Tallies(stored.run)
    for attempt in view.attempts(counted=True):
        tallies.add(attempt)
    tallies.losses[NO_DEVELOPER] += naming.developer == UNKNOWN
    tallies.losses[NOT_COUNTED] += stored.counts.attempts - stored.counts.counted
    summary, samples = _files(folder, naming)
    rows, checksum = _write_documents(samples, _rows(view, runs, naming, tallies))
    document = summary_of(stored.run, naming, tallies, now=now, written_by=f"errata {__version__}")
    if rows:
        document = with_instances(document, naming, rows=rows, checksum=checksum)
    else:
        samples.unlink()
    _write_documents(summary, iter([document]), indent=2)
    lost = {what: count for what, count in sorted(tallies.losses.items()) if count}
    files = (summary, samples) if rows else (summary,)
    return WrittenRun(stored=stored, files=files, rows=rows, not_expressed=lost)


def _files(folder: Path, naming: EvaluationNames) -> tuple[Path, Path]:
    place = folder / naming.folder
    return place / f"{naming.stem}.json", place / f"{naming.stem}_samples.jsonl"


def _rows(view: RunView, runs: RunSet, naming: EvaluationNames, tallies: Tallies) -> Iterator[dict[str, Any]]:
    case: Case | None = None
    version = ""
    for attempt in view.attempts(counted=True, steps=True):
        if case is None or (case.key, version) != (attempt.case, attempt.case_version):
            case, version = runs.case_for(view.stored, attempt), attempt.case_version
        yield from rows_of(naming, tallies, case, attempt)


def _write_documents(path: Path, documents: Iterator[dict[str, Any]], *, indent: int = 0) -> tuple[int, str]:
    """How many, and the sum over the file. It is visible completely or not at all."""
    digest, count = hashlib.sha256(), 0
    with replacing(path) as unfinished, unfinished.open("wb") as file:
        for document in documents:
            count += 1
            line = msgspec.json.encode(document)
            _write_line(file, digest, msgspec.json.format(line, indent=indent) if indent else line)
    return count, digest.hexdigest()


def _write_line(file: IO[bytes], digest: Any, line: bytes) -> None:
    for piece in (line, b"\n"):
        file.write(piece)
        digest.update(piece)
