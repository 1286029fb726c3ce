"""On a clean clone, each worker rewrites the assertions of its share of the test modules, not of all of them.

pytest does so when it imports a module, and keeps the result beside it. Workers import the same modules in the same
order at the same time, so none of them would find what another one has done.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.assertion.rewrite import PYC_TAIL, _rewrite_test, _write_pyc, assertstate_key, get_cache_dir, try_makedirs

TESTS = Path(__file__).parent


def rewrite_share(config: pytest.Config, number: int, workers: int) -> None:
    for path in sorted(modules())[number::workers]:
        kept = get_cache_dir(path) / f"{path.stem}{PYC_TAIL}"
        if not kept.exists() and try_makedirs(kept.parent):
            source_hash, code = _rewrite_test(path, config)
            _write_pyc(config.stash[assertstate_key], code, source_hash, kept)


def modules() -> Iterator[Path]:
    yield from TESTS.glob("test_*.py")
    for folder in TESTS.iterdir():
        if folder.is_dir() and folder.name != "fixtures":
            yield from folder.rglob("test_*.py")
