"""aider's benchmark: the folder of a run with its exercises, and the leaderboards made of such runs."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Item
from errata.sources.aider import exercises, leaderboard
from errata.sources.aider.layout import NAME, RESULTS, is_leaderboard, is_result, is_run
from errata.sources.base import Match

__all__ = ["NAME", "TITLE", "explain", "read", "recognise"]

TITLE = "aider's benchmark: the folder of a run with its exercises; leaderboards in YAML"


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            return Match.sure(f"`{RESULTS}` of exercises") if is_run(path) else None
        return Match.sure("a leaderboard of aider") if is_leaderboard(path) else None
    except (OSError, ValueError):
        return None


def explain(path: Path) -> str | None:
    """A hint for one exercise alone."""
    try:
        alone = is_result(path) or is_result(path / RESULTS)
    except (OSError, ValueError):
        return None
    return "this is one exercise of aider's benchmark: name the folder of the run" if alone else None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    yield from (exercises.read(path) if path.is_dir() else leaderboard.read(path))
