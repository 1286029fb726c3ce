"""conversation-bench (audio-arena): judged conversations, and comparisons of several."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import LogBasis, Match, decode, head_of

NAME = "conversation-bench"
TITLE = "conversation-bench and audio-arena: run folders with judged turns, comparison folders"
HARNESS = Harness(name=NAME, title="conversation-bench", unit="turn", judges_turns=True)

JUDGES = ("openai", "claude")
"""The first one with a file decides the outcome."""
JUDGED_SUFFIX = "_judged.jsonl"
TRANSCRIPT = "transcript.jsonl"
RUNTIME = "runtime.json"
RUN_RESULTS = "run_results.csv"
HEAD = 64 * 1024

_OF_A_JUDGED_ROW = {"turn", "scores", "assistant_text"}


def recognise(path: Path) -> Match | None:
    try:
        return _recognise_folder(path) if path.is_dir() else _recognise_file(path)
    except (OSError, ValueError):
        return None


def explain(path: Path) -> str | None:
    """A hint for a path of this harness that is not a finished run."""
    from errata.sources.conversation_bench.contract import explain as explain_path

    return explain_path(path)


def read(path: Path) -> Iterator[Item]:
    from errata.sources.conversation_bench.reader import read as read_log

    return read_log(path)


def basis_of(path: Path) -> LogBasis | None:
    from errata.sources.conversation_bench.reader import basis_of_conversation

    return basis_of_conversation(path)


def is_run_folder(folder: Path) -> bool:
    if any((folder / f"{judge}{JUDGED_SUFFIX}").is_file() for judge in JUDGES):
        return True
    if not (folder / RUNTIME).is_file():
        return False
    start = head_of(folder / TRANSCRIPT, HEAD)
    return b'"turn"' in start and b'_text"' in start


def is_comparison(table: Path) -> bool:
    columns = head_of(table, HEAD).split(b"\n", 1)[0].strip().replace(b'"', b"").split(b",")
    return b"run_dir" in columns and b"model_name" in columns


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
