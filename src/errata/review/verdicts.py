"""What makes an answer a verdict: every claim in it that can be looked up is looked up; else the reasons why not.

The same answer to the same packet always makes the same verdict, so that one that was stored is judged again for free.
"""

from typing import Any

import msgspec

from errata.model import Packet, Reviewer, Usage, Verdict
from errata.model.identity import fingerprint
from errata.review.answers import Given, read_answer
from errata.review.evidence import checked
from errata.review.fields import Fields
from errata.review.hashing import packet_hash
from errata.review.instructions import speaks_to_reviewer
from errata.review.labels import labelled
from errata.review.redaction import redacted
from errata.review.shelf import Shelf

ON_THEIR_WORD = frozenset(("person",))
"""Who may leave out evidence and reasoning: people are asked for a label, a cause and a note. What they quote is
looked up all the same."""
UNASKED = frozenset(("person", "file"))
"""Who may say nothing of how sure they are."""


class Refused(msgspec.Struct, frozen=True):
    """Why an answer is no verdict, in words that its reviewer can act on."""

    reasons: tuple[str, ...]


def verdict_from(
    answer: str,
    packet: Packet,
    *,
    reviewer: Reviewer,
    prompt_hash: str = "",
    at: str | None = None,
    usage: Usage | None = None,
    blind: bool = False,
    supersedes: str | None = None,
) -> Verdict | Refused:
    packet = redacted(packet)
    given = read_answer(answer)
    if isinstance(given, str):
        return Refused((given,))
    made = _made(given, packet, reviewer)
    if isinstance(made, Refused):
        return made
    hashed = packet_hash(packet)
    return Verdict(
        id=fingerprint(packet.attempt_id, reviewer, hashed, answer),
        attempt=packet.attempt_id,
        taxonomy=packet.question.taxonomy,
        taxonomy_version=packet.question.version,
        reviewer=reviewer,
        blind=blind,
        prompt_hash=prompt_hash,
        packet_hash=hashed,
        usage=usage,
        needs_second=speaks_to_reviewer(packet) is not None,
        supersedes=supersedes,
        at=at,
        **made,
    )


def _made(given: Given, packet: Packet, reviewer: Reviewer) -> dict[str, Any] | Refused:
    """What the reviewer says, as far as it is borne out."""
    shelf = Shelf(packet)
    fields = Fields(given.fields, packet, shelf)
    trusted = reviewer.kind in ON_THEIR_WORD
    chosen = labelled(given.fields.get("label"), given.fields.get("owner"), packet)
    quotes = fields.quotes()
    evidence = checked(quotes, shelf) if quotes or not trusted else None
    reasons = (chosen,) if isinstance(chosen, str) else ()
    told: dict[str, Any] = {
        "cause": fields.cause(),
        "reasoning": fields.reasoning(needed=not trusted),
        "confidence": fields.confidence(needed=reviewer.kind not in UNASKED),
        "decisive_step": fields.decisive_step(),
        "recommendation": fields.recommendation(),
        "also": fields.also(),
        "bucket": fields.bucket(),
        "error_line": fields.error_line(),
        "underlying_mistake": fields.line("underlying_mistake"),
        "consequences": fields.lines("consequences"),
        "model_snippet": fields.snippet("model_snippet", ("output",)),
        "expected_snippet": fields.snippet("expected_snippet"),
        "fix": fields.fix(),
        "doubts": fields.lines("doubts"),
    }
    reasons = (*reasons, *fields.reasons, *(evidence.reasons if evidence else ()))
    if reasons or isinstance(chosen, str):
        return Refused(reasons)
    also = tuple(owner for owner in told["also"] if owner != chosen.owner)
    more = {"label": chosen.label, "owner": chosen.owner, "also": also, "evidence": evidence.quotes if evidence else ()}
    extra = {"ignored": list(given.ignored)} if given.ignored else {}
    return told | more | {"doubts": (*told["doubts"], *fields.notes), "extra": extra}
