"""OpenAI evals: the log of a run, one event per line."""

from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "openai-evals"
TITLE = "OpenAI evals: the JSON Lines that `oaieval` records"
HARNESS = Harness(name=NAME, title="OpenAI evals")

HEAD = 64 * 1024
_SPEC = lazy_regex(rb'\s*\{\s*"spec"\s*:\s*\{')
_OF_SPEC = tuple(lazy_regex(rb'"(?<!\\")' + key + rb'"\s*:') for key in (b"eval_name", b"run_id"))
_EVENT = lazy_regex(rb'\s*\{\s*"run_id"\s*:\s*"[^"]*"\s*,\s*"event_id"\s*:\s*\d+\s*,\s*"sample_id"\s*:')


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if _SPEC.match(head) and all(key.search(head.partition(b"\n")[0]) for key in _OF_SPEC):
        return Match.sure("`spec` with `eval_name` and `run_id` in the first line")
    return Match.sure("events with `run_id`, `event_id` and `sample_id`") if _EVENT.match(head) else None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.openai_evals.reader import read as read_log

    return read_log(path)
