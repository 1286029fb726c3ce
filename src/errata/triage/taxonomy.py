"""Taxonomies are data: the words that a project uses for its failures, and which one triage would suggest."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import blake2b
from pathlib import Path

import msgspec

from errata.errors import SettingsError
from errata.model import Attempt
from errata.model.attribution import Taxonomy
from errata.model.words import Owner
from errata.settings.paths import bytes_of
from errata.text.clauses import find_statement
from errata.text.user_patterns import CompiledPattern, compile_user_pattern

FOLDER = Path(__file__).parent / "taxonomies"


@cache
def built_in() -> tuple[Taxonomy, ...]:
    return tuple(read_taxonomy(path) for path in sorted(FOLDER.glob("*.toml")))


def with_added(paths: Iterable[Path]) -> tuple[Taxonomy, ...]:
    """The built-in ones and those of the files; a later one replaces an earlier one of its name."""
    taxonomies = {taxonomy.name: taxonomy for taxonomy in built_in()}
    for path in paths:
        taxonomy = read_taxonomy(path)
        for label in taxonomy.label:
            if label.cues:
                compile_user_pattern(label.cues, f"Label `{label.name}` of `{path}`")
        taxonomies[taxonomy.name] = taxonomy
    return tuple(taxonomies.values())


def version_of(taxonomies: Sequence[Taxonomy]) -> str:
    """Of all their content: a changed label makes another version, whatever version the file states."""
    encoded = msgspec.json.encode(sorted(taxonomies, key=lambda taxonomy: taxonomy.name), order="deterministic")
    return blake2b(encoded, digest_size=4).hexdigest()


def read_taxonomy(path: Path) -> Taxonomy:
    """`SettingsError` names the file and what is wrong in it."""
    try:
        taxonomy = msgspec.convert(tomllib.loads(bytes_of(path).decode("utf-8")), Taxonomy)
        _refuse_unusable(taxonomy)
    except (OSError, ValueError, RecursionError) as error:  # TOML, Unicode and msgspec raise kinds of ValueError
        raise SettingsError(
            f"Taxonomy `{path}` can't be used: {error}", hint="docs/taxonomies.md has an example"
        ) from error
    return taxonomy


def _refuse_unusable(taxonomy: Taxonomy) -> None:
    often = Counter(label.name for label in taxonomy.label)
    if twice := [name for name, count in often.items() if count > 1]:
        raise ValueError(f"the label `{twice[0]}` is listed twice")
    if not often:
        raise ValueError("it has no `[[label]]`")


def suggest(taxonomy: Taxonomy, attempt: Attempt, owner: Owner, signals: frozenset[str]) -> str:
    """The label for a failure; empty where the taxonomy has none for it."""
    for label in taxonomy.label:  # of two labels for one owner, the one that a signal asks for
        if label.owner == owner and signals & set(label.signals):
            return label.name
    for label in taxonomy.label:
        if attempt.native_status in label.statuses or signals & set(label.signals) or owner in label.owners:
            return label.name
    reasoning = " ".join(judgement.reasoning for judgement in attempt.judgements)
    cued = [label for label in taxonomy.label if label.cues]
    for label in cued[:-1] if cued and reasoning else ():
        if find_statement(_cue(label.cues), reasoning):
            return label.name
    failed = frozenset(attempt.failed_checks)
    by_check = next((label.name for label in taxonomy.label if failed & set(label.checks)), "")
    return by_check or (cued[-1].name if cued else "")


def suggestions(
    source: str,
    attempt: Attempt,
    owner: Owner,
    signals: frozenset[str],
    taxonomies: Sequence[Taxonomy] | None = None,
) -> dict[str, str]:
    """Taxonomy → label, for those that belong to the source; of the built-in ones where no others are given."""
    return {
        taxonomy.name: label
        for taxonomy in (built_in() if taxonomies is None else taxonomies)
        if not taxonomy.opt_in
        and (not taxonomy.sources or source in taxonomy.sources)
        and (label := suggest(taxonomy, attempt, owner, signals))
    }


@cache
def _cue(pattern: str) -> CompiledPattern:
    is_built_in = not pattern or pattern in (label.cues for taxonomy in built_in() for label in taxonomy.label)
    return re.compile(pattern, re.IGNORECASE) if is_built_in else compile_user_pattern(pattern, "A label's `cues`")
