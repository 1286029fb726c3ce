"""ProjectScylla: batches with their thread logs, single experiment trees, and the CSV tables of its analysis."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Item
from errata.sources.base import Match, decode, head_of
from errata.sources.scylla.batch import read_batch
from errata.sources.scylla.csv_export import read_export
from errata.sources.scylla.csv_join import KEY
from errata.sources.scylla.experiment import looks_like_runs
from errata.sources.scylla.layout import NAME, SUMMARY
from errata.sources.scylla.tree import read_tree

TITLE = (
    "ProjectScylla: a batch folder (both generations of batch_summary.json), an experiment tree, exported CSV tables"
)

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

HEAD = 256 * 1024
WHOLE = 32 * 1024 * 1024
_RUNS_HEADER = ",".join(KEY).encode() + b",score,"
_ROW = re.compile(rb'"test_id"\s*:')
_FIRST_GENERATION = re.compile(rb'"threads"\s*:|"judge_model"\s*:')
_STATUS = re.compile(rb'"status"\s*:\s*"(?:success|error|pass|fail|unknown)"')
_EXPERIMENT = re.compile(rb'"experiment_id"\s*:')


def recognise(path: Path) -> Match | None:
    try:
        return _recognise_folder(path) if path.is_dir() else _recognise_file(path)
    except (OSError, ValueError):
        return None


def read(path: Path) -> Iterator[Item]:
    if path.is_dir():
        if _batch(path):
            yield from read_batch(path, path / SUMMARY)
        elif _is_runs_table(path / "runs.csv"):
            yield from read_export(path, path / "runs.csv")
        else:
            yield from read_tree(path)
    elif _is_runs_table(path):
        yield from read_export(path.parent, path)
    else:
        yield from read_batch(path.parent if path.name == SUMMARY else path, path)


def explain(path: Path) -> str | None:
    """A hint where the path belongs to a batch, but is not the finished result."""
    try:
        if path.is_dir() and (path / "thread_logs").is_dir() and not (path / SUMMARY).exists():
            return f"the batch is not finished: there are thread logs, but no `{SUMMARY}`"
        if path.is_dir() and (path / "judges.csv").is_file() and not (path / "runs.csv").exists():
            return "a ProjectScylla export needs its `runs.csv`"
    except OSError:
        return None
    return None


def _recognise_folder(path: Path) -> Match | None:
    if match := _batch(path):
        return match
    if _is_runs_table(path / "runs.csv"):
        return Match.sure("runs.csv with experiment, agent_model, tier, subtest, run_number")
    return _tree(path)


def _batch(path: Path) -> Match | None:
    head = head_of(path / SUMMARY, HEAD)
    if b'"results"' in head and (_ROW.search(head) or _FIRST_GENERATION.search(head)):
        return Match.sure(SUMMARY)
    # a damaged summary: the logs beside it say whose it is
    if (path / SUMMARY).is_file() and any((path / "thread_logs").glob("thread_*.log")):
        return Match.sure(f"{SUMMARY} and thread_logs")
    return None


def _tree(path: Path) -> Match | None:
    checkpoint = head_of(path / "checkpoint.json", HEAD)
    if _EXPERIMENT.search(checkpoint) and (b'"completed_runs"' in checkpoint or b'"run_states"' in checkpoint):
        return Match.sure("checkpoint.json with an experiment_id and the states of its runs")
    config = head_of(path / "config" / "experiment.json", HEAD)
    if _EXPERIMENT.search(config) and b'"tiers_to_run"' in config:
        return Match.sure("config/experiment.json with tiers_to_run")
    return Match.sure("T0/00/run_01 with run_result.json or agent") if looks_like_runs(path) else None


def _recognise_file(path: Path) -> Match | None:
    if _is_runs_table(path):
        return Match.sure("columns experiment, agent_model, tier, subtest, run_number")
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
    """A left-over of an interrupted write has the same first bytes as the finished file."""
    if path.stat().st_size > WHOLE:
        return False
    document = decode(path.read_bytes())
    rows = document.get("results") if isinstance(document, dict) else None
    return isinstance(rows, list) and all(isinstance(row, dict) and "test_id" in row for row in rows)


def _is_runs_table(path: Path) -> bool:
    return head_of(path, 256).startswith(_RUNS_HEADER)
