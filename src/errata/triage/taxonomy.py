"""Taxonomies are data: the words that a project uses for its failures, and which one triage would suggest."""

import re
import tomllib
from functools import cache
from pathlib import Path

import msgspec

from errata.errors import SettingsError
from errata.model import Attempt
from errata.model.words import Owner

FOLDER = Path(__file__).parent / "taxonomies"


class Label(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A word, whom it names, and when triage suggests it: by owner, signal, status, check or the judge's words."""

    name: str
    owner: Owner
    meaning: str
    owners: tuple[Owner, ...] = ()
    signals: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    """Where no cue of any label fits: the first failed check decides."""
    cues: str = ""


class Taxonomy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    version: str
    sources: tuple[str, ...] = ()
    """Of which sources it is the native one; empty for all."""
    label: tuple[Label, ...]

    def suggest(self, attempt: Attempt, owner: Owner, signals: frozenset[str]) -> str:
        """The label for a failure; empty where the taxonomy has none for it."""
        for label in self.label:
            if attempt.native_status in label.statuses or signals & set(label.signals) or owner in label.owners:
                return label.name
        said = " ".join(judgement.reasoning for judgement in attempt.judgements)
        cued = [label for label in self.label if label.cues]
        for label in cued[:-1] if cued and said else ():
            if _cue(label.cues).search(_without_negations(said)):
                return label.name
        failed = frozenset(attempt.failed_checks)
        by_check = next((label.name for label in self.label if failed & set(label.checks)), "")
        return by_check or (cued[-1].name if cued else "")


@cache
def built_in() -> tuple[Taxonomy, ...]:
    return tuple(read_taxonomy(path) for path in sorted(FOLDER.glob("*.toml")))


def read_taxonomy(path: Path) -> Taxonomy:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Taxonomy)
    except (OSError, tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise SettingsError(f"Taxonomy `{path.name}` can't be used: {error}", hint="docs/attribution.md") from error


def suggestions(source: str, attempt: Attempt, owner: Owner, signals: frozenset[str]) -> dict[str, str]:
    """Taxonomy → label, for those that belong to the source."""
    return {
        taxonomy.name: label
        for taxonomy in built_in()
        if (not taxonomy.sources or source in taxonomy.sources) and (label := taxonomy.suggest(attempt, owner, signals))
    }


@cache
def _cue(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# "never ended the session" tells the opposite of "ended the session"
_NEGATED = re.compile(r"\b(?:never|not|n't|without)\s+\w+(?:\s+the\s+\w+)?", re.IGNORECASE)


def _without_negations(text: str) -> str:
    return _NEGATED.sub(lambda found: found[0] if found[0].lower().startswith("not ask") else "", text)
