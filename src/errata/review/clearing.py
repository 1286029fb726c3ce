"""Verdicts that clear the subject: it takes two to do that, triage and a reviewer, or two reviewers.

A failure is the subject's unless evidence shows otherwise. A log may hold text that wants another verdict, and its
words can't be listed. Nor does it help to look at what such a verdict quotes: one that obeys can quote an honest check
and give a cause in its own words. Rules obey no text: where they name the same owner, they are the second opinion.
"""

from collections.abc import Collection

from errata.model.words import Owner

AGAINST_THE_SUBJECT: frozenset[Owner] = frozenset(("model", "unknown"))
"""Owners that leave the failure with the subject, or with nobody."""


def needs_a_second(owner: Owner, triaged: Collection[str]) -> bool:
    """Of a verdict by a model or a program; `triaged` are the owners that rules name for the failure."""
    return owner not in AGAINST_THE_SUBJECT and owner not in triaged
