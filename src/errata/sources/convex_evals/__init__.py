"""convex-evals: saved answers of its deployment about a run, or the output folder of a local run.

Answers are recognised by their first bytes, local output by its folders.
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from errata.model import Harness, Item
from errata.sources.base import Match, folders, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "convex-evals"
TITLE = (
    "convex-evals: saved answers about a run (getRunDetails, getFailedEvalsForRun, getEvalDebugInfo), or local output"
)
HARNESS = Harness(name=NAME, title=NAME, unit="eval")

HEAD = 16 * 1024
LOOKS = 50
LOOKS_BELOW = 3
RUN_LOG = "run.log"
SHAPE = f"output/<model>/<category>/<eval>/{RUN_LOG}"
"""The files of a local run."""
SLUG_PARTS = 3
"""A model's slug may contain slashes: `acme/nimbus-2-coder`."""
MODEL_LOOKS = 60
_NUMBERED = lazy_regex(r"\d{3}-")
_SUFFIXES = (".json", ".txt", ".out", "")

# convex sorts the fields of its answers, other tools do not: accept any order
_TELLTALES = (
    ("getFailedEvalsForRun", rb'"failedEvals"\s*:', rb'"(?:failedCount|totalEvals|passedCount)"\s*:'),
    ("getRunDetails", rb'"plannedEvals"\s*:\s*\[', rb'"_id"\s*:'),
    ("getRunDetails", rb'"evals"\s*:\s*\[', rb'"evalPath"\s*:'),
    ("getEvalDebugInfo", rb'"eval"\s*:\s*\{', rb'"evalPath"\s*:'),
)
_OBJECT = lazy_regex(rb"^[^\S\n]*\{", re.MULTILINE)
_ENVELOPE = lazy_regex(rb'\s*\{\s*"(?:status|value|logLines|errorMessage|errorData)"\s*:')


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            return _recognise_folder(path)
        because = _describe_answer(path) if path.is_file() else ""
    except (OSError, ValueError):
        return None
    return Match.sure(because) if because else None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.convex_evals.reader import read_path

    return read_path(path.absolute())


def explain(path: Path) -> str | None:
    try:
        if path.is_dir() and (path / "getOutputUrl.json").is_file():
            return "this is the file storage of convex-evals: import the folder with the answers about a run"
        if is_eval_folder(path if path.is_dir() else path.parent):
            return "this is one eval of convex-evals' local output: import the folder that contains `output`"
        if path.is_dir() and _holds_tasks(path):
            return "it contains the tasks and graders of convex-evals, not a finished run"
    except (OSError, ValueError):
        return None
    return None


def belongs_to(path: Path, readable: Collection[Path]) -> bool:
    """Whether a file is in the storage beside one of these runs."""
    folder = path.absolute().parent
    is_stored = folder.name == "storage" and (path.suffix == ".zip" or path.name == "getOutputUrl.json")
    return is_stored and any(run.absolute().parent == folder.parent for run in readable)


def _holds_tasks(path: Path) -> bool:
    """Whether this is the folder of an eval, a category, or all categories."""
    places = (
        path,
        *folders(path)[:LOOKS_BELOW],
        *(deep for folder in folders(path)[:LOOKS_BELOW] for deep in folders(folder)),
    )
    return any((folder / "TASK.txt").is_file() for folder in islice(places, LOOKS))


def answer_files(path: Path) -> list[Path]:
    """The files to read: those in the folder, and those in direct subfolders with an answer."""
    if path.is_file():
        return [path]
    files = _candidates(path)
    for folder in folders(path):
        below = _candidates(folder)
        if any(map(_describe_answer, below)):
            files += below
    return [file for file in files if file.suffix.lower() == ".json" or _describe_answer(file)]


def _recognise_folder(path: Path) -> Match | None:
    because = next(filter(None, map(_describe_answer, _candidates(path)[:LOOKS])), "") or _one_run_in_parts(path)
    if because:
        return Match.sure(because)
    return Match.sure(SHAPE) if find_output(path) is not None else None


def _one_run_in_parts(path: Path) -> str:
    """Answers about one run in a folder per function, with none beside these folders."""
    parts = []
    for folder in islice(folders(path), LOOKS):
        first = next(filter(_describe_answer, _candidates(folder)[:LOOKS_BELOW]), None)
        if first is not None:
            parts.append(first)
    if len(parts) < 2 or any(folders(part.parent) for part in parts):
        return ""
    from errata.sources.convex_evals.answers import SavedAnswer, collect, read_answer

    read = [read_answer(part, path) for part in parts]
    answers = [answer for answer in read if isinstance(answer, SavedAnswer)]
    runs, lost = collect(answers)
    return "answers about one run" if len(answers) > 1 and len(runs) == 1 and not lost else ""


def _candidates(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as listed:  # the folder of another harness may have very many folders in it
            names = sorted(entry.name for entry in listed if not entry.is_dir(follow_symlinks=False))
    except OSError:
        return []
    files = [folder / name for name in names if not name.startswith(".")]
    return [file for file in files if file.suffix.lower() in _SUFFIXES and file.is_file()]


def _describe_answer(file: Path) -> str:
    """Which function's answer a file contains; empty for other files and unreadable ones."""
    head = head_of(file, HEAD)
    if not _OBJECT.search(head):
        return ""
    for name, *keys in _TELLTALES:
        # the quote before the lookbehind: a pattern that begins with a literal is found much faster
        if all(re.search(rb'"(?<!\\")' + key[1:], head) for key in keys):
            return f"an answer of {name}"
    return "an answer of convex with an error" if _is_refusal(head) else ""


def _is_refusal(head: bytes) -> bool:
    if len(head) >= HEAD or b'"logLines"' not in head or not _ENVELOPE.match(head):
        return False
    from errata.sources.convex_evals.answers import ErrorAnswer, classify, decode_answer

    try:
        return isinstance(classify(decode_answer(head)), ErrorAnswer)
    except (ValueError, RecursionError):
        return False


class LocalOutput(NamedTuple):
    """One model's output: its folder, the model, and the name of the results folder."""

    folder: Path
    model: str
    results: str


def find_output(path: Path) -> list[LocalOutput] | None:
    """The output of each model at a path; None if there is none."""
    path = path.absolute()
    named = path / "output"
    for root in (named, path):
        looks = [MODEL_LOOKS if root is path else 10 * MODEL_LOOKS]
        model_folders = list(_model_folders(root, looks, 0)) if root.is_dir() else []
        if model_folders:
            return [_output_at(folder, root) for folder in model_folders]
    return None


def is_eval_folder(path: Path) -> bool:
    return bool(_NUMBERED.match(path.name) and (path / RUN_LOG).is_file())


def _model_folders(folder: Path, looks: list[int], depth: int) -> Iterator[Path]:
    """Folders with numbered subfolders that contain numbered folders with a log."""
    looks[0] -= 1
    if looks[0] < 0 or depth > SLUG_PARTS:
        return
    categories = numbered_folders(folder)
    if any(is_eval_folder(child) for category in categories[:3] for child in numbered_folders(category)):
        yield folder
    elif not categories:
        for child in folders(folder):
            if looks[0] <= 0:
                return
            yield from _model_folders(child, looks, depth + 1)


def _output_at(folder: Path, root: Path) -> LocalOutput:
    """The slug is the path below `output`; the results folder is the parent of `output`."""
    above = next((parent for parent in (root, *root.parents) if parent.name == "output"), None)
    if above is not None and folder != above:
        return LocalOutput(folder, folder.relative_to(above).as_posix(), above.parent.name)
    return LocalOutput(folder, folder.name if folder == root else folder.relative_to(root).as_posix(), root.name)


def numbered_folders(folder: Path) -> Sequence[Path]:
    return folders(folder, named=_NUMBERED)
