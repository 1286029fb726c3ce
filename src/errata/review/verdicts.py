"""What makes an answer a verdict: every claim in it that can be looked up is looked up; else the reasons why not.

The same answer to the same packet always makes the same verdict, so that one that was stored is judged again for free.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

import msgspec

from errata.model import Packet, Reviewer, Usage, Verdict
from errata.model.identity import fingerprint
from errata.model.record import Struct
from errata.model.standing import is_same
from errata.model.verdict import DROPPED
from errata.model.words import Owner
from errata.review.answers import ParsedAnswer, read_answer
from errata.review.decisive import DecisiveFields
from errata.review.evidence import PlaceIndex, check_quotes
from errata.review.fields import AnswerFields
from errata.review.instructions import speaks_to_reviewer
from errata.review.labels import given_label
from errata.review.redaction import packet_hash, redacted

ON_THEIR_WORD = frozenset(("person",))
"""Who may leave out evidence and reasoning: people are asked for a label, a cause and a note. What they quote is
looked up all the same."""
UNASKED = frozenset(("person", "file"))
"""Reviewers who need not state how sure they are."""
State = Literal["new", "changed", "unchanged"]


class Rejection(msgspec.Struct, frozen=True):
    """Why an answer is not a verdict, in words that its reviewer can act on."""

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
    triaged: tuple[str, ...] = (),
) -> Verdict | Rejection:
    packet = redacted(packet)
    given = read_answer(answer)
    if isinstance(given, str):
        return Rejection((given,))
    made = _verdict_fields(given, packet, reviewer)
    if isinstance(made, Rejection):
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
        needs_second=speaks_to_reviewer(packet) is not None
        or (reviewer.kind not in ON_THEIR_WORD and needs_a_second(made["owner"], triaged)),
        supersedes=supersedes,
        at=at,
        **made,
    )


def _verdict_fields(given: ParsedAnswer, packet: Packet, reviewer: Reviewer) -> dict[str, Any] | Rejection:
    index = PlaceIndex(packet)
    fields = AnswerFields(given.fields, packet, index)
    trusted = reviewer.kind in ON_THEIR_WORD
    chosen = given_label(given.fields.get("label"), given.fields.get("owner"), packet)
    quotes = fields.quotes()
    owner = "" if isinstance(chosen, str) else chosen.owner
    evidence = check_quotes(quotes, index, owner=owner) if quotes or not trusted else None
    reasons = (chosen,) if isinstance(chosen, str) else ()
    fields_of_verdict: dict[str, Any] = {
        "cause": fields.cause(),
        "reasoning": fields.reasoning(needed=not trusted),
        "confidence": fields.confidence(needed=reviewer.kind not in UNASKED),
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
    about_step = DecisiveFields(given.fields, packet)
    decisive = about_step.read((*quotes, *(evidence.quotes if evidence else ())), trusted=trusted)
    fields_of_verdict |= {
        "candidates": decisive.candidates,
        "decisive_step": decisive.step,
        "decisive_agent": decisive.agent,
        "decisive_reason": decisive.reason,
        "second_candidate": decisive.second,
    }
    reasons = (*reasons, *fields.reasons, *about_step.reasons, *(evidence.reasons if evidence else ()))
    if reasons or isinstance(chosen, str):
        return Rejection(reasons)
    also = tuple(owner for owner in fields_of_verdict["also"] if owner != chosen.owner)
    more = {"label": chosen.label, "owner": chosen.owner, "also": also, "evidence": evidence.quotes if evidence else ()}
    notes = (*fields.notes, *about_step.notes)
    extra = {DROPPED: list(notes)} if notes else {}
    extra |= {"ignored": list(given.ignored)} if given.ignored else {}
    return fields_of_verdict | more | {"doubts": (*fields_of_verdict["doubts"], *notes), "extra": extra}


class KeptVerdict(Struct):
    """What became of an answer that was taken."""

    verdict: Verdict
    state: State
    old_label: str = ""
    """The label of the same reviewer's verdict that this one replaces. Labels of others or of triage are not shown:
    the reviewer would learn whether they agree."""


class AnswerInfo(Struct):
    """Who answered, when, and after which prompt."""

    reviewer: Reviewer
    at: str
    prompt_hash: str = ""
    usage: Usage | None = None
    blind: bool = False
    adjudicates: tuple[str, ...] = ()
    """The verdicts between which it decides."""
    request: str = ""
    """The idempotency key of the request."""
    triaged: tuple[str, ...] = ()
    """The owners that triage names."""


def judge(
    answer: str,
    packet: Packet,
    by: AnswerInfo,
    earlier: Sequence[Verdict],
    *,
    whole: Callable[[], Packet] | None = None,
) -> Verdict | Rejection:
    """`earlier` are all verdicts on the attempt. `whole` is the same failure with nothing left out.

    What the packet does not hold is looked up there: a reviewer may have read more than the packet.
    """
    before = _own(earlier, by.reviewer, packet.question.taxonomy)

    def made_on(texts: Packet) -> Verdict | Rejection:
        return verdict_from(
            answer,
            texts,
            reviewer=by.reviewer,
            prompt_hash=by.prompt_hash,
            at=by.at,
            usage=by.usage,
            blind=by.blind,
            supersedes=before[-1].id if before else None,
            triaged=by.triaged,
        )

    made = made_on(packet)
    if whole is not None and packet.left_out and _misses_texts(made):
        made = made_on(whole())
    if isinstance(made, Rejection):
        return made
    made = msgspec.structs.replace(
        made, adjudicates=by.adjudicates, packet_hash=packet_hash(packet), request=by.request
    )
    if before and _says(made) == _says(before[-1]):
        return before[-1]
    if any(made.id == one.id for one in before):  # given before, withdrawn since, and now given again
        return msgspec.structs.replace(made, id=fingerprint(made.id, before[-1].id))
    return made


def _misses_texts(made: Verdict | Rejection) -> bool:
    """Whether it was rejected, or something in it was dropped because the packet does not hold it."""
    return isinstance(made, Rejection) or any("is not in the packet" in doubt for doubt in made.doubts)


def _says(verdict: Verdict) -> Verdict:
    """Its content, however it was written: the same with an owner that its label implies anyway."""
    reviewer = msgspec.structs.replace(verdict.reviewer, caller="")
    return msgspec.structs.replace(
        verdict,
        reviewer=reviewer,
        id="",
        at=None,
        supersedes=None,
        restores=None,
        request="",
        usage=None,
        prompt_hash="",
        extra={},
    )


def _own(verdicts: Sequence[Verdict], reviewer: Reviewer, taxonomy: str) -> list[Verdict]:
    """Of the same reviewer in the same words, oldest first. A program of a person's name is not that person."""
    own = [one for one in verdicts if one.inherited_from is None and one.taxonomy == taxonomy]
    return [one for one in own if one.reviewer.kind == reviewer.kind and is_same(one.reviewer, reviewer)]


# --- verdicts that clear the subject: it takes two to do that, triage and a reviewer, or two reviewers
# A failure is the subject's unless evidence shows otherwise. A log may hold text that wants another verdict, and its
# words can't be listed. Nor does it help to look at what such a verdict quotes: one that obeys can quote an honest
# check and give a cause in its own words. Rules obey no text: where they name the same owner, they are the second
# opinion.


AGAINST_THE_SUBJECT: frozenset[Owner] = frozenset(("model", "unknown"))
"""Owners that leave the failure with the subject, or with nobody."""


def needs_a_second(owner: Owner, triaged: Collection[str]) -> bool:
    """Of a verdict by a model or a program; `triaged` are the owners that rules name for the failure."""
    return owner not in AGAINST_THE_SUBJECT and owner not in triaged
