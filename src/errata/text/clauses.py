"""Commentary by clause: what a text states, and what it only denies ("no factual error")."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from errata.text.lazy_regex import lazy_regex
from errata.text.user_patterns import CompiledPattern

_SENTENCE = lazy_regex(
    r"(?<=[.!?;])\s+|(?<=:)\s+(?!(?:none|not?|n/a|null|absent)\b)|\n+|(?:(?<!\s)\s++)?(?:→|->|—|–)\s*", re.IGNORECASE
)
_WHOLE = lazy_regex(r"(?<=[.!?;])\s+|\n+|(?:(?<!\s)\s++)?(?:→|->|—|–)\s*")
_CLAUSE = lazy_regex(
    r"[,(]\s*|\)\s*|(?<!\s)\s++(?=(?:but|however|although|though|while|whereas|because|since|so|yet|even though)\s)",
    re.IGNORECASE,
)
_NEGATION = lazy_regex(
    r"\b(?:no|not(?! only)|never|without|nothing|none|nobody|neither|nor|cannot|free of|instead of|rather than)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
# as in "hallucinations: none"
_DENIED_AFTER = lazy_regex(
    r"\W{0,3}(?:(?:is|are|was|were)\s+)?"
    r"(?:none|absent|null|n/a|not (?:scored|applicable|present|found|involved|an issue))\b",
    re.IGNORECASE,
)


class StatedClause(NamedTuple):
    clause: str
    words: str
    """What matched in it."""


def sentences(text: str, *, at_colons: bool = True) -> Iterator[str]:
    """Without `at_colons`, `Expected: this. Made: that.` is two sentences and not four."""
    return (part for part in (_SENTENCE if at_colons else _WHOLE).split(text) if part.strip())


def clauses(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        yield from (part.strip() for part in _CLAUSE.split(sentence) if part.strip())


def find_statement(pattern: CompiledPattern, text: str) -> StatedClause | None:
    """The first clause that states what the pattern describes; a negation before or behind it denies it."""
    for clause in clauses(text):
        for match in pattern.finditer(clause):
            if not _NEGATION.search(clause, 0, match.start()) and not _DENIED_AFTER.match(clause, match.end()):
                return StatedClause(clause, match[0])
    return None
