"""Who&When: logs of multi-agent runs, one file each; people may have marked the decisive mistake.

Other conversations of agents have the same form without the marks: a `history` of messages beside the question, or
nothing but a list of messages with role and content.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Literal

from errata.model import Harness, Item
from errata.sources.base import Match, children, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "who-and-when"
TITLE = "Who&When: logs of teams of agents, with or without annotations, one file each or a folder of them"
HARNESS = Harness(name=NAME, title="Who&When", has_only_failures=True)

HEAD = 64 * 1024
TAIL = 16 * 1024
LOOKS = 40
MAPPINGS = (".map.toml", "errata.map.toml")

Kind = Literal["annotated", "history", "messages"]
"""A log with marked mistakes, one without, and a bare list of messages."""

_BECAUSE: dict[Kind, str] = {
    "annotated": "logs of Who&When",
    "history": "conversations of agents with their question",
    "messages": "conversations of agents",
}
_ANNOTATION = (b'"mistake_agent"', b'"mistake_step"', b'"history"')
_KEY = rb'"(?<!\\")(?:%s)"\s*:\s*'
_MESSAGE = rb'\[\s*\{\s*"(?:role|name|content)"\s*:'
_HISTORY = lazy_regex(_KEY % b"history" + _MESSAGE)
_TASK = lazy_regex(_KEY % b"question|question_ID|ground_truth")
_QUESTION_ID = lazy_regex(_KEY % b"question_ID")
_LIST = lazy_regex(rb"\s*" + _MESSAGE)
_CONTENT = lazy_regex(_KEY % b"content")
_AGENT = lazy_regex(_KEY % b"role" + rb'"(?!(?:system|developer|user|human|tool|function)")|' + _KEY % b"name" + b'"')


def recognise(path: Path) -> Match | None:
    try:
        kind = _kind_of_folder(path) if path.is_dir() else kind_of_file(path)
    except (OSError, ValueError):
        return None
    if kind is None:
        return None
    return Match.maybe(_BECAUSE[kind]) if kind == "messages" else Match.sure(_BECAUSE[kind])


def skipped(folder: Path) -> Iterable[Path]:
    """Files of a recognised folder that are not logs."""
    return [child for child in children(folder) if child.is_file() and kind_of_file(child) is None]


def kind_of_file(path: Path) -> Kind | None:
    head = _ends_of(path)
    if _LIST.match(head):
        is_log = _CONTENT.search(head) and _AGENT.search(head) and not _has_mapping(path)
        return "messages" if is_log else None
    if not head.lstrip().startswith(b"{"):
        return None
    if all(sign in head for sign in _ANNOTATION):
        return "annotated"
    return "history" if _HISTORY.search(head) and _CONTENT.search(head) and _TASK.search(head) else None


def is_of_the_set(path: Path) -> bool:
    """By the id of its question: what people mark in a log later makes no other task of it."""
    return _QUESTION_ID.search(_ends_of(path)) is not None


def _ends_of(path: Path) -> bytes:
    """The question and the annotation come after the history, which may be long."""
    head = head_of(path, HEAD)
    if len(head) == HEAD:
        with path.open("rb") as file:
            file.seek(-TAIL, 2)
            head += file.read()
    return head


def read(path: Path) -> Iterator[Item]:
    from errata.sources.who_and_when.reader import read as read_log

    return read_log(path)


def _kind_of_folder(folder: Path) -> Kind | None:
    """One annotated log makes a folder a run; without annotations all its JSON must be logs, and nothing is below."""
    below = list(islice(children(folder), LOOKS))
    kinds = {child: kind_of_file(child) for child in below if child.is_file()}
    if "annotated" in kinds.values():
        return "annotated"
    documents = [kind for child, kind in kinds.items() if child.suffix.lower() in (".json", ".jsonl", ".csv")]
    if len(kinds) < len(below) or not documents or None in documents:
        return None
    return "messages" if "messages" in documents else "history"


def _has_mapping(path: Path) -> bool:
    """A table with a mapping beside it is read with that."""
    own, shared = MAPPINGS
    return path.with_name(path.name + own).is_file() or path.with_name(shared).is_file()
