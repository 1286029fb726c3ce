"""The two files of every_eval_ever: what an evaluation came to, and, where they are told, its instances."""

import re
from pathlib import Path

from errata.sources.base import head_of
from errata.sources.shared.documents import children, is_file
from errata.sources.shared.values import last_part

NAME = "every-eval-ever"

HEAD = 64 * 1024
WHOLE = 4 * 1024 * 1024
SAMPLES = "_samples.jsonl"

_OPENING = re.compile(rb'\s*\{\s*"schema_version"\s*:\s*"[^"]*"\s*,\s*"evaluation_id"\s*:')
_SUMMARY = tuple(re.compile(rb'(?<!\\)"' + key + rb'"\s*:') for key in (b"source_metadata", b"model_info"))
_ROW = tuple(re.compile(rb'(?<!\\)"' + key + rb'"\s*:') for key in (b"sample_id", b"interaction_type"))


def is_summary(head: bytes) -> bool:
    return bool(_OPENING.match(head)) and all(key.search(head) for key in _SUMMARY)


def is_samples(head: bytes) -> bool:
    first = head.partition(b"\n")[0]
    return bool(_OPENING.match(head)) and all(key.search(first) for key in _ROW)


def samples_of(summary: Path, told: str) -> Path | None:
    """The instances beside a summary; `told` is the path that it gives, on the machine that wrote it."""
    names = [name for name in (last_part(told), f"{summary.stem}{SAMPLES}") if name]
    return next((found for name in names if is_file(found := summary.with_name(name))), None)


def summary_of(samples: Path) -> Path | None:
    """The summary whose reading takes these instances along."""
    beside = samples.with_name(f"{samples.name.removesuffix(SAMPLES)}.json")
    if samples.name.endswith(SAMPLES) and is_file(beside) and is_summary(head_of(beside, HEAD)):
        return beside
    named = re.compile(rb'[/\\"]' + re.escape(samples.name.encode("utf-8", "surrogateescape")) + rb'"')
    for child in children(samples.parent):
        if child.suffix == ".json" and is_summary(head_of(child, HEAD)) and named.search(head_of(child, WHOLE)):
            return child
    return None
