"""conversation-bench (audio-arena): judged conversations, and comparisons of several."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Item
from errata.sources.base import Match, decode, head_of
from errata.sources.conversation_bench import comparison
from errata.sources.conversation_bench.comparison import RunFolder
from errata.sources.conversation_bench.conversation import read_conversation
from errata.sources.conversation_bench.hints import explain
from errata.sources.conversation_bench.layout import (
    HEAD,
    JUDGED_SUFFIX,
    JUDGES,
    NAME,
    RUN_RESULTS,
    RUNTIME,
    TRANSCRIPT,
    files_of_folder,
    files_of_judged_file,
    is_comparison,
    is_run_folder,
)

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = "conversation-bench and audio-arena: run folders with judged turns, comparison folders"

_OF_A_JUDGED_ROW = {"turn", "scores", "assistant_text"}


def recognise(path: Path) -> Match | None:
    try:
        return _recognise_folder(path) if path.is_dir() else _recognise_file(path)
    except (OSError, ValueError):
        return None


def read(path: Path) -> Iterator[Item]:
    path = path.resolve()
    if path.is_dir() and is_run_folder(path):
        yield from read_conversation(files_of_folder(path))
    elif path.is_dir():
        yield from _read_comparison(path)
    elif is_comparison(path):
        yield from _read_comparison(path.parent)
    elif is_run_folder(path.parent) and path in files_of_folder(path.parent).judged.values():
        yield from read_conversation(files_of_folder(path.parent))
    else:
        yield from read_conversation(files_of_judged_file(path))


def _read_comparison(folder: Path) -> Iterator[Item]:
    """What belongs to no run first, so that the rest is what the run folders themselves would give."""
    runs = []
    for found in comparison.listed_runs(folder):
        if isinstance(found, RunFolder):
            runs.append(found)
        else:
            yield found
    yield from comparison.problems(folder)
    for run in runs:
        yield from read_conversation(files_of_folder(run.path), run.listed)


def _recognise_folder(path: Path) -> Match | None:
    for judge in JUDGES:
        if (path / f"{judge}{JUDGED_SUFFIX}").is_file():
            return Match.sure(f"`{judge}{JUDGED_SUFFIX}`")
    if is_run_folder(path):
        return Match.sure(f"`{RUNTIME}` and turns in `{TRANSCRIPT}`")
    return Match.sure(f"`run_dir` in `{RUN_RESULTS}`") if is_comparison(path / RUN_RESULTS) else None


def _recognise_file(path: Path) -> Match | None:
    if not path.is_file():
        return None
    if path.name == RUN_RESULTS and is_comparison(path):
        return Match.sure(f"`run_dir` in `{RUN_RESULTS}`")
    for line in head_of(path, HEAD).splitlines():
        if b'"scores"' in line and b'"turn"' in line and _is_judged_row(line):
            return Match.sure("judged turns")
    return None


def _is_judged_row(line: bytes) -> bool:
    try:
        row = decode(line)
    except ValueError:
        return False
    return type(row) is dict and row.keys() >= _OF_A_JUDGED_ROW
