"""Where aider's benchmark keeps its results: a hidden file in the folder of each exercise."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from errata.sources.base import head_of
from errata.sources.shared.documents import folders, is_file

NAME = "aider"
SUITE = "aider"
RESULTS = ".aider.results.json"
HISTORY = ".aider.chat.history.md"
LOOKS = 40
HEAD = 4 * 1024

_PRACTICE = ("exercises", "practice")
_ROW = (rb'"testcase"\s*:', rb'"(?:tests_outcomes|edit_format)"\s*:')
_RECORD = (rb"^- dirname:", rb"^  test_cases:", rb"^  edit_format:")


def is_run(folder: Path) -> bool:
    return any(is_result(one / RESULTS) for one in _first_exercises(folder))


def is_result(path: Path) -> bool:
    head = head_of(path, HEAD) if is_file(path) else b""
    return all(re.search(sign, head) for sign in _ROW) or head.lstrip().startswith(b'{"exception":')


def is_leaderboard(path: Path) -> bool:
    head = head_of(path, HEAD)
    return head.lstrip().startswith(b"- ") and all(re.search(sign, head, re.MULTILINE) for sign in _RECORD)


def exercises(folder: Path) -> Iterator[tuple[str, Path]]:
    """With the language, where they are sorted by one."""
    for child in folders(folder):
        practice = child.joinpath(*_PRACTICE)
        if practice.is_dir():
            yield from ((child.name, one) for one in folders(practice))
        else:
            yield "", child


def _first_exercises(folder: Path) -> Iterator[Path]:
    for child in islice(folders(folder), LOOKS):
        yield child
        yield from islice(folders(child.joinpath(*_PRACTICE)), LOOKS)
