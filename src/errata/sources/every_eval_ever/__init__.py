"""every_eval_ever: a summary of an evaluation with its instances, or either alone."""

import re
from collections.abc import Iterator
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, children, head_of, is_file
from errata.text.lazy_regex import lazy_regex

NAME = "every-eval-ever"
TITLE = "every_eval_ever: a summary with its instances, or either alone"
HARNESS = Harness(name=NAME, title="every_eval_ever")

HEAD = 64 * 1024
WHOLE = 4 * 1024 * 1024
SAMPLES = "_samples.jsonl"

_OPENING = lazy_regex(rb'\s*\{\s*"schema_version"\s*:\s*"[^"]*"\s*,\s*"evaluation_id"\s*:')
_SUMMARY = tuple(lazy_regex(rb'"(?<!\\")' + key + rb'"\s*:') for key in (b"source_metadata", b"model_info"))
_ROW = tuple(lazy_regex(rb'"(?<!\\")' + key + rb'"\s*:') for key in (b"sample_id", b"interaction_type"))


def recognise(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if is_summary(head):
        return Match.sure("`evaluation_id`, `source_metadata` and `model_info`")
    if is_samples(head):
        return Match.sure("rows with `sample_id` and `interaction_type`")
    return None


def read_with(path: Path) -> Path | None:
    """The summary beside instances, which is read together with them."""
    return _summary_of(path) if is_samples(head_of(path, HEAD)) else None


def is_summary(head: bytes) -> bool:
    return bool(_OPENING.match(head)) and all(key.search(head) for key in _SUMMARY)


def is_samples(head: bytes) -> bool:
    first = head.partition(b"\n")[0]
    return bool(_OPENING.match(head)) and all(key.search(first) for key in _ROW)


def _summary_of(samples: Path) -> Path | None:
    """The summary that includes these instances."""
    beside = samples.with_name(f"{samples.name.removesuffix(SAMPLES)}.json")
    if samples.name.endswith(SAMPLES) and is_file(beside) and is_summary(head_of(beside, HEAD)):
        return beside
    named = re.compile(rb'[/\\"]' + re.escape(samples.name.encode("utf-8", "surrogateescape")) + rb'"')
    for child in children(samples.parent):
        if child.suffix == ".json" and is_summary(head_of(child, HEAD)) and named.search(head_of(child, WHOLE)):
            return child
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.every_eval_ever.reader import read as read_log

    return read_log(path)
