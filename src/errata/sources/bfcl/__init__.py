"""BFCL, the Berkeley Function-Calling Leaderboard: results of models and their scores.

Its files are `result/<model>/<group>/BFCL_v4_<category>_result.json`, and the same below `score`.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, files, folders, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "bfcl"
TITLE = "BFCL: the folder with `result` and `score`, or one file of either"
HARNESS = Harness(name=NAME, title="BFCL")

HEAD = 64 * 1024
LOOKS = 5
FOLDERS_LOOKED_AT = 200
DEPTH = 3
FILES_CAP = 40
GROUPS = frozenset(
    ("non_live", "live", "multi_turn", "agentic", "format_sensitivity", "memory", "web_search", "kv", "vector",
     "rec_sum")
)  # fmt: skip
FILE = lazy_regex(
    r"\A(?:(?P<version>BFCL_v\d+|gorilla_openfunctions_v\d+_test)_)?(?P<category>\w+)_(?P<kind>result|score)\.json"
)

_RESULT = lazy_regex(rb'\s*\{\s*"id"\s*:\s*"[^"]*"\s*,\s*"result"\s*:')
_OF_RESULT = lazy_regex(rb'"(?<!\\")(?:input_token_count|latency|traceback)"\s*:')
_SCORE = lazy_regex(
    rb'\s*\{\s*"accuracy"\s*:\s*[\d.eE+-]+\s*,\s*"correct_count"\s*:\s*\d+\s*,\s*"total_count"\s*:\s*\d+'
)


def recognise(path: Path) -> Match | None:
    try:
        if path.is_file():
            return _recognise_file(path)
        if any(_recognise_file(file) for file in islice(files_below(path, most=FOLDERS_LOOKED_AT), LOOKS)):
            return Match.sure("results and scores of models")
    except (OSError, ValueError):
        return None
    return None


def read(path: Path) -> Iterator[Item]:
    from errata.sources.bfcl.reader import read as read_log

    return read_log(path)


def is_score(head: bytes) -> bool:
    return bool(_SCORE.match(head))


def files_below(root: Path, *, most: int | None = None) -> Iterator[Path]:
    """Result and score files below the folder that contains `result` and `score`; `most`: in how many folders."""
    models = (model for kind in folders(root)[:most] for model in folders(kind))
    for model in islice(models, most):
        yield from _files(model, 0)


def _files(folder: Path, depth: int) -> Iterator[Path]:
    yield from (file for file in files(folder)[:FILES_CAP] if FILE.fullmatch(file.name))
    if depth < DEPTH:
        for inner in folders(folder):
            if inner.name in GROUPS:
                yield from _files(inner, depth + 1)


def _recognise_file(path: Path) -> Match | None:
    head = head_of(path, HEAD)
    if is_score(head):
        return Match.sure("`accuracy`, `correct_count` and `total_count` in the first line")
    return Match.sure("rows with `id` and `result`") if _is_result(head) else None


def _is_result(head: bytes) -> bool:
    return bool(_RESULT.match(head) and _OF_RESULT.search(head))
