"""Names that the readers of both generations share, and which of them a file is of."""

import re
from pathlib import Path
from typing import Literal

from errata.sources.base import head_of
from errata.sources.shared.documents import children, is_file

NAME = "tau-bench"
HEAD = 256 * 1024
RESULTS = "results.json"
SIMULATIONS = "simulations"

Kind = Literal["tau-bench", "tau2-bench"]

_KEY = rb'(?<!\\)"%s"\s*:'
_TAU2 = tuple(re.compile(_KEY % key) for key in (b"info", b"num_trials", b"max_steps", b"user_info"))
_TAU = (re.compile(rb'\A\s*\[\s*\{\s*"task_id"\s*:'), *(re.compile(_KEY % key) for key in (b"reward", b"info")))


def kind_of(path: Path) -> Kind | None:
    """Of a folder: the one whose simulations lie in files of their own."""
    if path.is_dir():
        whole = (path / SIMULATIONS).is_dir() and is_file(path / RESULTS)
        return "tau2-bench" if whole and kind_of(path / RESULTS) == "tau2-bench" else None
    head = head_of(path, HEAD)
    if head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _TAU2):
        return "tau2-bench"
    return "tau-bench" if all(sign.search(head) for sign in _TAU) else None


def simulation_files(results: Path) -> list[Path]:
    """tau2-bench looks beside its results, too."""
    return [child for child in children(results.parent / SIMULATIONS) if is_file(child) and child.suffix == ".json"]
