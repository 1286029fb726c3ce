"""aider's benchmark: run folders with their exercises, and leaderboards of such runs.

The result of an exercise is a hidden file in its folder.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, folders, head_of

NAME = "aider"
TITLE = "aider's benchmark: run folders with their exercises; leaderboards in YAML"
HARNESS = Harness(name=NAME, title=NAME)

SUITE = "aider"
RESULTS = ".aider.results.json"
PRACTICE = ("exercises", "practice")
LOOKS = 40
HEAD = 4 * 1024

_ROW = (rb'"testcase"\s*:', rb'"(?:tests_outcomes|edit_format)"\s*:')
_RECORD = (rb"^- dirname:", rb"^  test_cases:", rb"^  edit_format:")


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            return Match.sure(f"`{RESULTS}` of exercises") if _is_run(path) else None
        return Match.sure("a leaderboard of aider") if _is_leaderboard(path) else None
    except (OSError, ValueError):
        return None


def explain(path: Path) -> str | None:
    try:
        alone = _is_result(path) or _is_result(path / RESULTS)
    except (OSError, ValueError):
        return None
    return "this is one exercise of aider's benchmark: import the run folder" if alone else None


def read(path: Path) -> Iterator[Item]:
    path = path.absolute()
    if path.is_dir():
        from errata.sources.aider.exercises import read as read_exercises

        yield from read_exercises(path)
    else:
        from errata.sources.aider.leaderboard import read as read_leaderboard

        yield from read_leaderboard(path)


def _is_run(folder: Path) -> bool:
    return any(_is_result(exercise / RESULTS) for exercise in _first_exercises(folder))


def _is_result(path: Path) -> bool:
    head = b"" if path.is_symlink() else head_of(path, HEAD)
    return all(re.search(sign, head) for sign in _ROW) or head.lstrip().startswith(b'{"exception":')


def _is_leaderboard(path: Path) -> bool:
    head = head_of(path, HEAD)
    return head.lstrip().startswith(b"- ") and all(re.search(sign, head, re.MULTILINE) for sign in _RECORD)


def _first_exercises(folder: Path) -> Iterator[Path]:
    for child in islice(folders(folder), LOOKS):
        yield child
        yield from islice(folders(child.joinpath(*PRACTICE)), LOOKS)
