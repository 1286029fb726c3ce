"""A cache of parsed reports beside the store: a text is parsed once.

Parsing markdown takes a while: a hundred reports would cost every command a second or more.
"""

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from errata.memory import reading
from errata.model.identity import fingerprint
from errata.model.prior_report import PriorReport

FEWEST = 4
"""New ones that are worth a file."""
MOST = 10_000
LARGEST = 256 * 1024 * 1024


class _CacheFile(msgspec.Struct):
    code: str
    reports: dict[str, PriorReport] = {}


class ReportCache:
    """In memory, and in a file where there are enough of them."""

    def __init__(self, path: Path) -> None:
        self._path, self._new = path, 0
        self._reports = _load(path)

    def get(self, key: str, read: Callable[[], PriorReport]) -> PriorReport:
        """What is kept under a key; else what is read now."""
        if key not in self._reports:
            self._reports[key] = read()
            self._new += 1
        return self._reports[key]

    def save(self) -> None:
        """If the folder can't be written to, nothing is cached and nothing is reported: only time is lost."""
        if self._new < FEWEST:
            return
        newest = dict(list(self._reports.items())[-MOST:])
        with contextlib.suppress(OSError):
            _write(self._path, msgspec.msgpack.encode(_CacheFile(_parser_version(), newest)))
            self._new = 0


def _load(path: Path) -> dict[str, PriorReport]:
    try:
        if path.stat().st_size > LARGEST:
            return {}
        content = msgspec.msgpack.decode(path.read_bytes(), type=_CacheFile)
    except (OSError, msgspec.MsgspecError, RecursionError):
        return {}
    return content.reports if content.code == _parser_version() else {}


def _write(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def _parser_version() -> str:
    """Of the modules that read: what another errata read is not taken over."""
    folder = Path(reading.__file__).parents[1]
    stats = [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in sorted(folder.rglob("*.py"))]
    return fingerprint(stats)
