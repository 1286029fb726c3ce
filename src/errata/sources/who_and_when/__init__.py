"""Who&When: logs of failed multi-agent runs, one file each, with the decisive mistake marked by people."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of

NAME = "who-and-when"
TITLE = "Who&When: annotated logs of teams of agents, one file each or a folder of them"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 64 * 1024
TAIL = 16 * 1024
LOOKS = 40
_SIGNS = (b'"mistake_agent"', b'"mistake_step"', b'"history"')


def recognise(path: Path) -> Match | None:
    try:
        is_found = _has_logs(path) if path.is_dir() else is_log(path)
    except (OSError, ValueError):
        return None
    return Match.sure("logs of Who&When") if is_found else None


def _has_logs(folder: Path) -> bool:
    from errata.sources.shared.documents import children

    return any(map(is_log, islice(children(folder), LOOKS)))


def is_log(path: Path) -> bool:
    """The annotation comes after the history, which may be long."""
    head = head_of(path, HEAD)
    if not head.lstrip().startswith(b"{"):
        return False
    if len(head) == HEAD:
        with path.open("rb") as file:
            file.seek(-TAIL, 2)
            head += file.read()
    return all(sign in head for sign in _SIGNS)


def read(path: Path) -> Iterator[Item]:
    from errata.sources.who_and_when.reader import read as read_log

    return read_log(path)
