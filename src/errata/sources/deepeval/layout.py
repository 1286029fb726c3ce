"""The files of deepeval: a test run in camelCase, bare or wrapped, and the result of `evaluate` in snake_case.

The same run stands in several of them. A test run says more than a result, so of two that tell of the same run the
result is passed over.
"""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from errata.sources.base import head_of
from errata.sources.shared.documents import children, is_file

NAME = "deepeval"

HEAD = 256 * 1024
LOOKS = 200
HIDDEN = ".deepeval"
LATEST = (".latest_run_full.json", ".latest_test_run.json")
WRAPPER = "testRunData"
CASES, CONVERSATIONS, RESULTS = "testCases", "conversationalTestCases", "test_results"

_OBJECT = re.compile(rb"\s*\{")


def _listed(*names: bytes) -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(rb'(?<!\\)"(?:' + name + rb')"\s*:\s*(?:\[|null)') for name in names)


_TEST_RUN = _listed(b"testCases|conversationalTestCases", b"metricsData|metricsScores")
_RESULT = (*_listed(b"test_results", b"metrics_data"), re.compile(rb'(?<!\\)"conversational"\s*:\s*(?:true|false)'))


def is_test_run(head: bytes) -> bool:
    return bool(_OBJECT.match(head)) and all(field.search(head) for field in _TEST_RUN)


def is_result(head: bytes) -> bool:
    return bool(_OBJECT.match(head)) and all(field.search(head) for field in _RESULT)


def latest_in(folder: Path) -> list[Path]:
    """What deepeval keeps of the last run in its hidden folder, the fuller form first."""
    return [file for name in LATEST if is_file(file := folder / name) and is_test_run(head_of(file, HEAD))]


def runs_near(result: Path) -> Iterator[Path]:
    """Where a test run lies whose result was written to a file: beside it, or in a folder beside it."""
    beside = children(result.parent)
    below = (file for folder in beside if folder.is_dir() for file in children(folder))
    for file in islice((*beside, *below), LOOKS):
        if file != result and is_test_run(head_of(file, HEAD)):
            yield file
