"""Two readings of one failure: whether they agree, and what the reviewer who decides between them gets to see."""

from collections.abc import Sequence

from errata.model import Verdict
from errata.model.codec import json_text
from errata.model.identity import fingerprint
from errata.model.output.review import QuoteForm, ReadingOutput
from errata.model.standing import name_of, standing


def differ(first: Verdict, other: Verdict) -> bool:
    """On the label, the owner, the decisive step or its agent."""
    return _decision(first) != _decision(other)


def _decision(verdict: Verdict) -> tuple[object, ...]:
    return verdict.label, verdict.owner, verdict.decisive_step, verdict.decisive_agent


def readings_of(verdicts: Sequence[Verdict]) -> tuple[ReadingOutput, ...]:
    """In an order that does not depend on who read first."""
    readings = [
        ReadingOutput(
            label=verdict.label,
            owner=verdict.owner,
            cause=verdict.cause,
            decisive_step=verdict.decisive_step,
            decisive_agent=verdict.decisive_agent or None,
            evidence=tuple(QuoteForm(place=quote.place, quote=quote.quote) for quote in verdict.evidence),
        )
        for verdict in verdicts
    ]
    return tuple(sorted(readings, key=lambda one: fingerprint(json_text(one))))


def disputed(verdicts: Sequence[Verdict]) -> tuple[Verdict, ...]:
    """The newest verdict of each reviewer where they differ and nobody has decided; else nothing."""
    current = standing(verdicts)
    if current is None or current.verdict.adjudicates or current.verdict.reviewer.kind == "person":
        return ()
    gone = {verdict.supersedes for verdict in verdicts}
    own = [one for one in verdicts if one.inherited_from is None and one.id not in gone]
    same = [one for one in own if one.taxonomy == current.verdict.taxonomy and not one.adjudicates]
    newest = tuple({name_of(one.reviewer): one for one in same}.values())
    return newest if any(differ(newest[0], other) for other in newest[1:]) else ()
