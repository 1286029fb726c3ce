"""Which paths are BFCL's: a folder with results or scores of models in it, or one such file."""

import re
from itertools import islice
from pathlib import Path

from errata.sources.base import Match, head_of
from errata.sources.bfcl.layout import files_below

HEAD = 64 * 1024
LOOKS = 5

_RESULT = re.compile(rb'\s*\{\s*"id"\s*:\s*"[^"]*"\s*,\s*"result"\s*:')
_OF_RESULT = re.compile(rb'(?<!\\)"(?:input_token_count|latency|traceback)"\s*:')
_SCORE = re.compile(
    rb'\s*\{\s*"accuracy"\s*:\s*[\d.eE+-]+\s*,\s*"correct_count"\s*:\s*\d+\s*,\s*"total_count"\s*:\s*\d+'
)


def recognise(path: Path) -> Match | None:
    try:
        if path.is_file():
            return _recognise_file(path)
        if any(_recognise_file(file) for file in islice(files_below(path), LOOKS)):
            return Match.sure("results and scores of models")
    except (OSError, ValueError):
        return None
    return None


def _recognise_file(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if is_score(head):
        return Match.sure("`accuracy`, `correct_count` and `total_count` in the first line")
    return Match.sure("rows with `id` and `result`") if is_result(head) else None


def is_score(head: bytes) -> bool:
    return bool(_SCORE.match(head))


def is_result(head: bytes) -> bool:
    return bool(_RESULT.match(head) and _OF_RESULT.search(head))
