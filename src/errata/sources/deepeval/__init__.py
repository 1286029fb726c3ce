"""deepeval: a saved test run, or the result of `evaluate` written to a file.

The same run may be in several files. A test run has more detail, so a result of the same run is skipped.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from errata.model import Harness, Item
from errata.sources.base import Match, children, head_of
from errata.text.lazy_regex import lazy_regex

NAME = "deepeval"
TITLE = "deepeval: `test_run_*.json`, the folder `.deepeval`, the result of `evaluate` as JSON"
HARNESS = Harness(name=NAME, title=NAME)

HEAD = 256 * 1024
LOOKS = 200
HIDDEN = ".deepeval"
LATEST = (".latest_run_full.json", ".latest_test_run.json")
WRAPPER = "testRunData"
CASES, CONVERSATIONS, RESULTS = "testCases", "conversationalTestCases", "test_results"

_OBJECT = lazy_regex(rb"\s*\{")


def _listed(*names: bytes) -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(rb'"(?<!\\")(?:' + name + rb')"\s*:\s*(?:\[|null)') for name in names)


_TEST_RUN = _listed(b"testCases|conversationalTestCases", b"metricsData|metricsScores")
_RESULT = (*_listed(b"test_results", b"metrics_data"), lazy_regex(rb'"(?<!\\")conversational"\s*:\s*(?:true|false)'))


def recognise(path: Path) -> Match | None:
    try:
        if path.is_dir():
            return Match.sure("the last run of deepeval") if latest_in(path) else None
    except (OSError, ValueError):
        return None
    head = head_of(path, HEAD)
    if is_test_run(head):
        return Match.sure("`testCases` with `metricsData`")
    if is_result(head):
        return Match.sure("`test_results` with `metrics_data`")
    return None


def explain(path: Path) -> str | None:
    """A hint for a folder with a hidden `.deepeval` folder."""
    try:
        hidden = path.is_dir() and latest_in(path / HIDDEN)
    except (OSError, ValueError):
        return None
    return f"deepeval keeps its last run in `{path / HIDDEN}`: import that" if hidden else None


def fuller(path: Path) -> Path | None:
    """The test run whose result was written to this file."""
    try:
        if not is_result(head_of(path, HEAD)):
            return None
        from errata.sources.deepeval.results import same_run

        return next((file for file in _runs_near(path) if same_run(path, file)), None)
    except (OSError, ValueError):
        return None


def is_test_run(head: bytes) -> bool:
    return bool(_OBJECT.match(head)) and all(field.search(head) for field in _TEST_RUN)


def is_result(head: bytes) -> bool:
    return bool(_OBJECT.match(head)) and all(field.search(head) for field in _RESULT)


def latest_in(folder: Path) -> list[Path]:
    """The files of the last run in deepeval's hidden folder, the fuller one first."""
    listed = (folder / name for name in LATEST)
    return [file for file in listed if is_test_run(head_of(file, HEAD)) and not file.is_symlink()]


def _runs_near(result: Path) -> Iterator[Path]:
    """Test runs beside a result file, or in folders beside it."""
    beside = children(result.parent)
    below = (file for folder in beside if folder.is_dir() for file in children(folder))
    for file in islice((*beside, *below), LOOKS):
        if file != result and is_test_run(head_of(file, HEAD)):
            yield file


def read(path: Path) -> Iterator[Item]:
    from errata.sources.deepeval.reader import read as read_log

    return read_log(path)
