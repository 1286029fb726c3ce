"""Known gaps: limitations of a suite that were accepted, and which case falls under which of them."""

from collections.abc import Iterable
from fnmatch import fnmatchcase

from errata.model import KnownGap
from errata.model.identity import case_key, fingerprint

GLOB = frozenset("*?[")


def gap_for(key: str, gaps: Iterable[KnownGap]) -> KnownGap | None:
    """The gap that a case falls under; one of the case itself before one of a pattern."""
    found = None
    for gap in gaps:
        if gap.case_key and gap.case_key == key:
            return gap
        if found is None and gap.pattern and fnmatchcase(key, gap.pattern):
            found = gap
    return found


def gap_id(gap: KnownGap) -> str:
    """A case or a pattern has one gap: told again, in the same or other words, it is the same one."""
    return fingerprint("gap", gap.suite, gap.case_key, gap.pattern)


def is_pattern(text: str) -> bool:
    return not GLOB.isdisjoint(text)


def pattern_over_keys(suite: str, pattern: str) -> str:
    """A glob over the names of a suite's cases as one over their keys; the suite's own name is no glob."""
    bare = "".join(f"[{letter}]" if letter in GLOB else letter for letter in suite)
    prefix = case_key(bare, "")
    return pattern if prefix and pattern.startswith(prefix) else f"{prefix}{pattern}"
