"""The rules that triage goes by here and now: the built-in ones, the user's, and those of the project one stands in."""

from functools import lru_cache
from pathlib import Path

from errata import triage
from errata.settings import load_settings


def rules_in_use() -> triage.Rules:
    settings = load_settings()
    files = (settings.rule_files, settings.taxonomy_files)
    if not any(files):
        return triage.built_in()
    return _read(*files, tuple(_stamp(path) for paths in files for path in paths))


@lru_cache(maxsize=8)
def _read(rules: tuple[Path, ...], taxonomies: tuple[Path, ...], _stamps: tuple[tuple[int, int], ...]) -> triage.Rules:
    """Once for each state of the files."""
    return triage.with_added(rules, taxonomies)


def _stamp(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_mtime_ns, found.st_size
