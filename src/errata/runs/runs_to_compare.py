"""Which runs are meant by a comparison: those that are named, else those that a comparison folder lists."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from errata.errors import ErrataError
from errata.model import StoredRun
from errata.runs.names import is_path, runs_named
from errata.sources.conversation_bench import RUN_RESULTS, is_comparison
from errata.store.database import Store


class Chosen(msgspec.Struct, frozen=True):
    runs: tuple[StoredRun, ...]
    passed_over: tuple[str, ...]
    """Comparison folders that were named beside runs: these win."""


def runs_to_compare(selectors: Sequence[str], store: Store, *, least: int = 2) -> Chosen:
    folders = tuple(selector for selector in selectors if _is_comparison(selector))
    named = [selector for selector in selectors if selector not in folders]
    runs = tuple(runs_named(named or folders, store))
    if len(runs) < least:
        message = (
            f"`{selectors[0]}` holds one run only" if len(selectors) == 1 else "All of these name one and the same run"
        )
        raise ErrataError(f"A comparison needs two runs or more: {message}", hint=_HINT)
    return Chosen(runs, folders if named else ())


_HINT = "name several runs, a folder that holds them, or the folder of a comparison; `errata runs` lists what there is"


def _is_comparison(selector: str) -> bool:
    return is_path(selector) and any(is_comparison(table) for table in _tables(Path(selector)))


def _tables(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield path / RUN_RESULTS
    elif path.name == RUN_RESULTS:
        yield path
