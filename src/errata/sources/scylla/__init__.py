"""ProjectScylla: batches with their thread logs, single experiment trees, and the CSV tables of its analysis."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, decode, folders, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "scylla"
TITLE = (
    "ProjectScylla: a batch folder (both generations of batch_summary.json), an experiment tree, exported CSV tables"
)
HARNESS = Harness(name=NAME, title="ProjectScylla", is_batch=True)

SUMMARY = "batch_summary.json"
RUNS_TABLE = "runs.csv"
KEY = ("experiment", "agent_model", "tier", "subtest", "run_number")
"""The first columns of every table of an export: they name a run."""
CORNERS = ("", "completed", "in_progress", ".failed")
"""The folders of an experiment that hold tiers."""
RUN_FOLDER = lazy_regex(r"run_(\d{1,6})")
TIMED_NAME = lazy_regex(r"^(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-(.+)$")
"""`2026-02-14T01-02-23-test-006`: when an experiment began (UTC), and its test."""
HEAD = 256 * 1024
WHOLE = 32 * 1024 * 1024

_RUNS_HEADER = ",".join(KEY).encode() + b",score,"
_ROW = lazy_regex(rb'"test_id"\s*:')
_FIRST_GENERATION = lazy_regex(rb'"threads"\s*:|"judge_model"\s*:')
_STATUS = lazy_regex(rb'"status"\s*:\s*"(?:success|error|pass|fail|unknown)"')
_EXPERIMENT = lazy_regex(rb'"experiment_id"\s*:')


def recognise(path: Path) -> Match | None:
    try:
        return _recognise_folder(path) if path.is_dir() else _recognise_file(path)
    except (OSError, ValueError):
        return None


def test_of(name: str) -> str:
    """`test-006` for `2026-02-14T01-02-23-test-006`, and for `test-006` itself."""
    timed = TIMED_NAME.match(name)
    return timed[2] if timed else name


def explain(path: Path) -> str | None:
    try:
        if path.is_dir() and (path / "thread_logs").is_dir() and not (path / SUMMARY).exists():
            return f"the batch is not finished: there are thread logs, but no `{SUMMARY}`"
        if path.is_dir() and (path / "judges.csv").is_file() and not (path / RUNS_TABLE).exists():
            return f"a ProjectScylla export needs its `{RUNS_TABLE}`"
    except OSError:
        return None
    return None


def read(path: Path) -> Iterator[Item]:
    if path.is_dir():
        if _recognise_batch(path):
            yield from _read_batch(path, path / SUMMARY)
        elif _is_runs_table(path / RUNS_TABLE):
            yield from _read_export(path, path / RUNS_TABLE)
        else:
            yield from _read_tree(path)
    elif _is_runs_table(path):
        yield from _read_export(path.parent, path)
    else:
        yield from _read_batch(path.parent if path.name == SUMMARY else path, path)


def _read_batch(root: Path, summary: Path) -> Iterator[Item]:
    from errata.sources.scylla.batch import read_batch

    return read_batch(root, summary)


def _read_export(root: Path, table: Path) -> Iterator[Item]:
    from errata.sources.scylla.csv_export import read_export

    return read_export(root, table)


def _read_tree(root: Path) -> Iterator[Item]:
    from errata.sources.scylla.tree import read_tree

    return read_tree(root)


def _recognise_folder(path: Path) -> Match | None:
    if match := _recognise_batch(path):
        return match
    if _is_runs_table(path / RUNS_TABLE):
        return Match.sure(f"{RUNS_TABLE} with {', '.join(KEY)}")
    return _recognise_tree(path)


def _recognise_batch(path: Path) -> Match | None:
    head = head_of(path / SUMMARY, HEAD)
    if b'"results"' in head and (_ROW.search(head) or _FIRST_GENERATION.search(head)):
        return Match.sure(SUMMARY)
    # a damaged summary: the logs beside it identify the harness
    if (path / SUMMARY).is_file() and any((path / "thread_logs").glob("thread_*.log")):
        return Match.sure(f"{SUMMARY} and thread_logs")
    return None


def _recognise_tree(path: Path) -> Match | None:
    checkpoint = head_of(path / "checkpoint.json", HEAD)
    if _EXPERIMENT.search(checkpoint) and (b'"completed_runs"' in checkpoint or b'"run_states"' in checkpoint):
        return Match.sure("checkpoint.json with an experiment_id and the states of its runs")
    config = head_of(path / "config" / "experiment.json", HEAD)
    if _EXPERIMENT.search(config) and b'"tiers_to_run"' in config:
        return Match.sure("config/experiment.json with tiers_to_run")
    return Match.sure("T0/00/run_01 with run_result.json or agent") if _holds_runs(path) else None


def _recognise_file(path: Path) -> Match | None:
    if _is_runs_table(path):
        return Match.sure(f"columns {', '.join(KEY)}")
    if not head_of(path, 64).lstrip().startswith(b"{"):
        return None
    head = head_of(path, HEAD)
    looks = b'"results"' in head and _ROW.search(head) and _STATUS.search(head)
    if not looks or not _is_complete(path):
        return None
    if _FIRST_GENERATION.search(head):
        return Match.sure("a batch summary with threads and results")
    return Match.maybe("results with test_id and status")


def _is_complete(path: Path) -> bool:
    """A leftover of an interrupted write has the same first bytes as the finished file."""
    if path.stat().st_size > WHOLE:
        return False
    document = decode(path.read_bytes())
    rows = document.get("results") if isinstance(document, dict) else None
    return isinstance(rows, list) and all(isinstance(row, dict) and "test_id" in row for row in rows)


def _is_runs_table(path: Path) -> bool:
    return head_of(path, 256).startswith(_RUNS_HEADER)


def _holds_runs(folder: Path) -> bool:
    """Whether there is a `T0/00/run_01` with a result or an agent in it."""
    tiers = [tier for corner in CORNERS for number in range(7) if (tier := folder / corner / f"T{number}").is_dir()]
    return any(_is_run(run) for tier in tiers for run in _first_runs(tier))


def _first_runs(tier: Path) -> Iterator[Path]:
    subtests = [child for child in folders(tier) if re.fullmatch(r"\w+", child.name)]
    for subtest in subtests[:3]:
        yield from folders(subtest)[:3]


def _is_run(folder: Path) -> bool:
    return bool(RUN_FOLDER.match(folder.name)) and any(
        (folder / name).exists() for name in ("run_result.json", "agent")
    )
