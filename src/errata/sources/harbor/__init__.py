"""Harbor: job folders with their trials and ATIF trajectories, and the results of its predecessor terminal-bench.

A path is recognised by the first bytes of a few files with fixed names, in a folder of any name.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from errata.model import Harness, Item
from errata.sources.base import Match, folders, head_of, is_file
from errata.text.lazy_regex import lazy_regex

NAME = "harbor"
TITLE = "Harbor: job and trial folders with ATIF trajectories; terminal-bench: results.json"
HARNESS = Harness(name=NAME, title="Harbor", unit="trial")

HEAD = 64 * 1024
LOOKS = 20

Kind = Literal["job", "trial", "terminal-bench"]

_JOB = (rb'"n_total_trials"\s*:', rb'"stats"\s*:')
_JOB_CONFIG = (rb'"n_attempts"\s*:|"n_concurrent_trials"\s*:|"orchestrator"\s*:|"jobs_dir"\s*:', rb'"agents"\s*:')
_TRIAL = (rb'"task_name"\s*:', rb'"trial_name"\s*:', rb'"(?:task_checksum|trial_uri|agent_info)"\s*:')
_TRIAL_CONFIG = (rb'"trial_name"\s*:', rb'"trials_dir"\s*:')
_ROWS = (rb'"results"\s*:\s*\[', rb'"task_id"\s*:', rb'"is_resolved"\s*:', rb'"trial_name"\s*:')
_ROW = (rb'"task_id"\s*:', rb'"is_resolved"\s*:', rb'"failure_mode"\s*:')
_METADATA = (rb'"run_id"\s*:', rb'"agent_name"\s*:', rb'"(?:dataset_name|dataset_path|task_ids)"\s*:')
_JOB_ID = lazy_regex(rb'"job_id"\s*:\s*"([^"]+)"')
_BECAUSE: dict[Kind, str] = {
    "job": "a Harbor job folder",
    "trial": "a Harbor trial folder",
    "terminal-bench": "terminal-bench results",
}


def recognise(path: Path) -> Match | None:
    try:
        kind = kind_of(path)
    except (OSError, ValueError):
        return None
    return Match.sure(_BECAUSE[kind]) if kind else None


def kind_of(path: Path) -> Kind | None:
    if path.is_file():
        return "terminal-bench" if _holds(path, _ROWS) else None
    if not path.is_dir():
        return None
    if _holds(path / "results.json", _ROWS) or _is_cut_off(path):
        return "terminal-bench"
    if _holds(path / "result.json", _JOB):
        return "job"
    if _is_trial(path):
        return "trial"
    return "job" if _holds_trials(path) else None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.harbor.reader import read_path

    return read_path(path.absolute())


def explain(path: Path) -> str | None:
    """A hint for a path that belongs to Harbor and is not a run."""
    try:
        if path.is_file() and (_holds(path, _JOB) or _holds(path, _TRIAL)):
            return "this is one file of a Harbor job: import its folder"
        if path.is_file() and b'"ATIF-v' in _head(path):
            return "this is the trajectory of a Harbor trial: import the folder of the trial or of the job"
        if path.is_dir() and _holds(path / "config.json", _JOB_CONFIG):
            return "this Harbor job has not started a trial yet"
        if path.is_dir() and (_is_task(path) or any(map(_is_task, islice(folders(path), LOOKS)))):
            return "it contains tasks of a benchmark, not a finished job: import a folder below `jobs` or `runs`"
    except (OSError, ValueError):
        return None
    return None


def _is_task(folder: Path) -> bool:
    harbor = is_file(folder / "task.toml") and (is_file(folder / "instruction.md") or (folder / "tests").is_dir())
    return harbor or (is_file(folder / "task.yaml") and is_file(folder / "run-tests.sh"))


def _is_trial(folder: Path) -> bool:
    file = folder / "result.json"
    return (_holds(file, _TRIAL) and not _holds(file, _JOB)) or _holds(folder / "config.json", _TRIAL_CONFIG)


def _holds_trials(folder: Path) -> bool:
    """Whether this is a job with a damaged or missing result: it has other job files, or its trials share a job id."""
    trials = [child for child in islice(folders(folder), LOOKS) if _is_trial(child)]
    if not trials:
        return False
    if any(is_file(folder / name) for name in ("result.json", "lock.json", "job.log")):
        return True
    if _holds(folder / "config.json", _JOB_CONFIG):
        return True
    jobs = {
        match[1]
        for child in trials
        for name in ("result.json", "config.json")
        if (match := _JOB_ID.search(_head(child / name)))
    }
    return len(trials) > 1 and len(jobs) == 1


def _is_cut_off(folder: Path) -> bool:
    """Whether this is a killed or damaged run of terminal-bench: its trials have their own results."""
    if not _holds(folder / "run_metadata.json", _METADATA):
        return False
    if is_file(folder / "results.json"):
        return True
    below = (trial for task in islice(folders(folder), LOOKS) for trial in islice(folders(task), LOOKS))
    return any(_holds(trial / "results.json", _ROW) for trial in below)


def _holds(file: Path, keys: tuple[bytes, ...]) -> bool:
    head = _head(file)
    # the quote before the lookbehind: a pattern that begins with a literal is found much faster
    return bool(head) and all(re.search(rb'"(?<!\\")' + key[1:], head) for key in keys)


def _head(file: Path) -> bytes:
    """The head of a file that may be one of Harbor's documents."""
    head = head_of(file, HEAD) if is_file(file) else b""
    return head if head.lstrip().startswith(b"{") else b""
