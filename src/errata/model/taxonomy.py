"""The words that a project uses for its failures, and whom each of them names."""

import msgspec

from errata.model.words import Owner


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
    opt_in: bool = False
    """Only used where a review asks for it by its name."""
    label: tuple[Label, ...]
