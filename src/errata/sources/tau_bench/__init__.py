"""tau-bench and tau2-bench: conversations between an agent, its tools and a simulated user."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Item
from errata.sources.base import Match
from errata.sources.tau_bench import tau1, tau2
from errata.sources.tau_bench.layout import NAME, kind_of

__all__ = ["NAME", "TITLE", "read", "recognise"]

TITLE = "tau-bench and tau2-bench: results as one file, or with a file for each simulation"


def recognise(path: Path) -> Match | None:
    try:
        kind = kind_of(path)
    except (OSError, ValueError):
        return None
    return Match.sure(f"results of {kind}") if kind else None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    yield from (tau1.read(path) if kind_of(path) == "tau-bench" else tau2.read(path))
