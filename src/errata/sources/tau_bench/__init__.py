"""tau-bench and tau2-bench: conversations between an agent, its tools and a simulated user."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "tau-bench"
TITLE = "tau-bench and tau2-bench: results as one file, or with a file for each simulation; bare lists of simulations"
HARNESS = Harness(name=NAME, title=NAME, titles={"tau2": "tau2-bench"})

HEAD = 256 * 1024
RESULTS = "results.json"
SIMULATIONS = "simulations"

Kind = Literal["tau-bench", "tau2-bench"]

_KEY = rb'"(?<!\\")%s"\s*:'
_TAU2 = tuple(lazy_regex(_KEY % key) for key in (b"info", b"num_trials", b"max_steps", b"user_info"))
_SIMULATION = tuple(lazy_regex(_KEY % key) for key in (b"task_id", b"termination_reason", b"(?:reward_info|messages)"))
_LIST = lazy_regex(rb"\s*\[\s*\{")
_SIMULATIONS = lazy_regex(rb'\s*\{.*?"(?<!\\")simulations"\s*:\s*\[', re.DOTALL)
"""A document without the usual `info`, such as `{domain, agent, model, simulations}`."""
_TAU = (lazy_regex(rb'\A\s*\[\s*\{\s*"task_id"\s*:'), *(lazy_regex(_KEY % key) for key in (b"reward", b"info")))


def recognise(path: Path) -> Match | None:
    try:
        kind = _kind_of(path)
    except (OSError, ValueError):
        return None
    return Match.sure(f"results of {kind}") if kind else None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    if _kind_of(path) == "tau-bench":
        from errata.sources.tau_bench.tau1 import read as read_tau1

        yield from read_tau1(path)
    else:
        from errata.sources.tau_bench.tau2 import read as read_tau2

        yield from read_tau2(path)


def _kind_of(path: Path) -> Kind | None:
    """For a folder: whether its simulations are in files of their own."""
    if path.is_dir():
        results = path / RESULTS
        is_run = (path / SIMULATIONS).is_dir() and results.is_file() and not results.is_symlink()
        return "tau2-bench" if is_run and _kind_of(results) == "tau2-bench" else None
    head = head_of(path, HEAD)
    if head.lstrip().startswith(b"{") and all(sign.search(head) for sign in _TAU2):
        return "tau2-bench"
    if (_LIST.match(head) or _SIMULATIONS.match(head)) and all(sign.search(head) for sign in _SIMULATION):
        return "tau2-bench"
    return "tau-bench" if all(sign.search(head) for sign in _TAU) else None
