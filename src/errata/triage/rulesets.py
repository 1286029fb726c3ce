"""The rules, taxonomies and signals in use, as one value with one version."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path

import msgspec
from msgspec import UNSET, UnsetType

from errata.model.attribution import Taxonomy
from errata.model.output.runs import ProjectOutput
from errata.settings import load_settings
from errata.triage import rulebook, taxonomy
from errata.triage.rulebook import Rulebook

NAMED = 3
"""Files of a project that a page names."""
FUNCTIONS_VERSION = "24"
"""Increase it when a rule in code changes its results."""


class Rules(msgspec.Struct, frozen=True):
    book: Rulebook
    taxonomies: tuple[Taxonomy, ...]
    version: str
    """Of functions, rules and taxonomies; attributions carry it."""


@cache
def built_in() -> Rules:
    return _rules(rulebook.built_in(), taxonomy.built_in())


def with_added(rule_files: Iterable[Path], taxonomy_files: Iterable[Path]) -> Rules:
    """Those of the user and the project too."""
    return _rules(rulebook.with_added(rule_files), taxonomy.with_added(taxonomy_files))


def _rules(book: Rulebook, taxonomies: tuple[Taxonomy, ...]) -> Rules:
    version = f"{FUNCTIONS_VERSION}-{book.version}-{taxonomy.version_of(taxonomies)}"
    return Rules(book, taxonomies, version)


def taxonomies_in_use() -> list[tuple[Taxonomy, Path | None]]:
    """Each with its file; none for a built-in one."""
    files = {taxonomy.read_taxonomy(path).name: path for path in load_settings().taxonomy_files}
    return [(one, files.get(one.name)) for one in rules_in_use().taxonomies]


def project_in_use(*, scores: bool = False) -> ProjectOutput | UnsetType:
    """What the project's file decides, for the pages that show it; with `scores`, also how they treat timeouts."""
    project = load_settings().project
    if project is None or not (project.rules or project.taxonomies or (scores and project.timeouts)):
        return UNSET
    rules, taxonomies = (
        tuple(str(file.relative_to(project.file.parent)) for file in files)
        for files in (project.rules, project.taxonomies)
    )
    return ProjectOutput(
        file=str(project.file), rules=rules, taxonomies=taxonomies, timeouts=project.timeouts if scores else None
    )


def project_words(project: ProjectOutput) -> str:
    """`rules (rules/a.toml), taxonomies (labels.toml) and timeouts = "drop"`."""
    parts = [
        f"{name} ({', '.join(files[:NAMED])}{f' and {len(files) - NAMED} more' if len(files) > NAMED else ''})"
        for name, files in (("rules", project.rules), ("taxonomies", project.taxonomies))
        if files
    ]
    parts += [f'timeouts = "{project.timeouts}"'] if project.timeouts else []
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


_given: ContextVar[Rules | None] = ContextVar("rules", default=None)


@contextmanager
def using_rules(rules: Rules) -> Iterator[None]:
    """Inside the context these rules count, whatever the settings of this machine are."""
    token = _given.set(rules)
    try:
        yield
    finally:
        _given.reset(token)


def rules_in_use() -> Rules:
    given = _given.get()
    if given is not None:
        return given
    settings = load_settings()
    files = (settings.rule_files, settings.taxonomy_files)
    if not any(files):
        return built_in()
    return _read(*files, tuple(_stamp(path) for paths in files for path in paths))


@lru_cache(maxsize=8)
def _read(rules: tuple[Path, ...], taxonomies: tuple[Path, ...], _stamps: tuple[tuple[int, int], ...]) -> Rules:
    """Once for each state of the files."""
    return with_added(rules, taxonomies)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size
