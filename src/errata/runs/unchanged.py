"""A log that was imported before and has not changed since is not read again.

What its items come from is kept beside its run: the hash of its files, and a signature of everything else.
"""

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from errata import __version__, sources
from errata.errors import ErrataError
from errata.model import Unreadable
from errata.model.identity import fingerprint
from errata.runs.log_search import Order, found_by
from errata.sources.folder_names import folder_model, folder_name
from errata.store.database import Store
from errata.store.run_totals import ImportedRun
from errata.store.runs import keep_summary, run_with_summary, unreadables_of

KIND = "log"
LEAST = 1024 * 1024
"""Bytes; a smaller log is read in about the time that this takes."""
READ_SIZE = 1024 * 1024
_READ_BY = ("model", "sources", "store", "text")


class LogState(NamedTuple):
    files: tuple[Path, ...]
    signature: str
    stats: tuple[tuple[int, int, int, int], ...]


class UnchangedLog(NamedTuple):
    run: ImportedRun
    attempts: int
    unreadable: int
    problems: list[Unreadable]


def state_of(order: Order) -> LogState | None:
    """None for a small log, or where the source does not know all that its items come from."""
    try:
        match = found_by(order)
        basis = sources.basis_of(match)
        if basis is None or sum(file.stat().st_size for file in basis.files) < LEAST:
            return None
        names = (folder_name(match.path), folder_model(match.path))
        signature = fingerprint(_program(), names, repr(basis.facts), list(map(str, basis.files)), size=16)
        return LogState(basis.files, signature, _stats(basis.files))
    except (ErrataError, OSError, ValueError):
        return None  # importing the log reports it


def unchanged(order: Order, state: LogState, store: Store) -> UnchangedLog | None:
    known = run_with_summary(store, KIND, _key(order))
    if known is None:
        return None
    stored, content = known
    if content != _content(state):
        return None
    counts, problems = stored.counts, unreadables_of(store, stored.pk)
    run = ImportedRun(stored.run.id, stored.pk, "unchanged", stored.run.revision)
    return UnchangedLog(run, counts.attempts, counts.unreadable, [item for item in problems if item.is_lost])


def keep(order: Order, state: LogState, run: ImportedRun, store: Store) -> None:
    """After the log was imported, unless it changed meanwhile."""
    content = _content(state) if run.change in ("new", "grown", "unchanged") else None
    if content is not None:
        keep_summary(store, run.pk, KIND, _key(order), content)


def _content(state: LogState) -> bytes | None:
    """None where the files are no longer what they were."""
    content = sha256(state.signature.encode())
    try:
        for path in state.files:
            with path.open("rb", buffering=0) as file:
                while data := file.read(READ_SIZE):
                    content.update(data)
            content.update(b"\0")
        return content.digest() if _stats(state.files) == state.stats else None
    except OSError:
        return None


def _stats(files: tuple[Path, ...]) -> tuple[tuple[int, int, int, int], ...]:
    stats = [file.stat() for file in files]
    return tuple((stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino) for stat in stats)


def _key(order: Order) -> str:
    path, mapping = Path(order.path).absolute(), Path(order.map).absolute() if order.map else ""
    return fingerprint(str(path), order.source, str(mapping), size=16)


@cache
def _program() -> str:
    """The code that turns lines into rows: another version may read the same lines in another way."""
    root = Path(sources.__file__).parents[1]
    stats = [(file.name, file.stat()) for folder in _READ_BY for file in sorted((root / folder).rglob("*.py"))]
    return fingerprint(__version__, [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])
