"""Harbor: job folders with their trials and ATIF trajectories, and the results of terminal-bench before it."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Item
from errata.sources.harbor import terminal_bench
from errata.sources.harbor.job import read_job, read_trial
from errata.sources.harbor.layout import NAME
from errata.sources.harbor.recognition import explain, kind_of, recognise

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = "Harbor: job and trial folders with ATIF trajectories; terminal-bench: results.json"


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    kind = kind_of(path)
    if kind == "terminal-bench" or path.is_file():
        yield from terminal_bench.read(path)
    elif kind == "trial":
        yield from read_trial(path)
    else:
        yield from read_job(path)
