"""Everything that decides what triage says, as one value with one version."""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

from errata.triage import rulebook, taxonomy
from errata.triage.rulebook import Rulebook
from errata.triage.taxonomy import Taxonomy

FUNCTIONS_VERSION = "6"
"""Counts up when a rule that is a function changes what it says."""


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
