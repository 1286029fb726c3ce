"""What a section of a report is about, by its heading."""

import re
from typing import Literal

from errata.memory.spelling import folded

About = Literal["failures", "actions", "recommendations", "patterns", "other"]

_KINDS: tuple[tuple[About, re.Pattern[str]], ...] = (
    (
        "recommendations",
        re.compile(r"recommend|suggest|next-steps|action-items|\bto-?dos?\b|propos|what-to-do|follow-ups|next-actions"),
    ),
    (
        "actions",
        re.compile(
            r"^actions?$|actions?-(?:taken|done|so-far|log)|(?:changes|fixes)-(?:made|applied|done)|what-(?:we|i)-(?:changed|did|fixed)"
            r"|what-was-(?:done|changed|fixed)|applied-(?:changes|fixes)"
        ),
    ),
    ("failures", re.compile(r"\b(?:new|still|again|repeat\w*|recurring|regress\w*)\b.*fail|regression|fail\w*-analys")),
    (
        "other",
        re.compile(
            r"net-impact|^impact|bottom-line|conclusion|takeaway|\bpass(?:ed|es|ing)?\b(?!.*fail)|\bfixed\b|\bresolved\b"
            r"|\bprevious(?:ly)?\b|\bprior\b|\bearlier\b|\bhistory\b|appendix|glossary|method"
        ),
    ),
    ("patterns", re.compile(r"pattern|cross-cutting|\bthemes?\b|common-(?:cause|issue|problem|mistake)|observations|trends|root-causes")),
)


def about(heading: str) -> About | None:
    """None where a heading says nothing of this, and the section is about what the one around it is about."""
    name = folded(heading)
    found = next((kind for kind, form in _KINDS if form.search(name)), None)
    return found or ("failures" if re.search(r"fail|classif|per-eval|per-case|triage|errors?$", name) else None)
