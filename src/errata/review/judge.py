"""An answer, whoever gave it → a verdict that is kept beside what was said before, or the reasons why it is none."""

from typing import Literal

import msgspec

from errata.model import Packet, Reviewer, Usage, Verdict
from errata.model.identity import fingerprint, split_attempt_id
from errata.review.hashing import packet_hash
from errata.review.standing import name_of
from errata.review.verdicts import Refused, verdict_from
from errata.store.database import Store
from errata.store.reviews import Refusal, keep_refusal, keep_verdicts, refusals_on, verdicts_of, word_for

State = Literal["new", "changed", "unchanged"]


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """What became of an answer that was taken."""

    verdict: Verdict
    state: State
    old_label: str = ""
    """Of the same reviewer's verdict that this one takes the place of. What others or triage say is not told to
    whoever reads: they would learn whether they agree."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """Who answered, when, and after which prompt."""

    reviewer: Reviewer
    at: str
    prompt_hash: str = ""
    usage: Usage | None = None
    blind: bool = False


def judge(
    answer: str, packet: Packet, by: Answered, store: Store, *, judged_on: Packet | None = None
) -> Verdict | Refused:
    """Stores nothing. `judged_on` is what the reviewer could read beyond the packet, where that is more."""
    before = _own(verdicts_on(store, packet.attempt_id), by.reviewer, packet.question.taxonomy)
    made = verdict_from(
        answer,
        judged_on or packet,
        reviewer=by.reviewer,
        prompt_hash=by.prompt_hash,
        at=by.at,
        usage=by.usage,
        blind=by.blind,
        supersedes=before[-1].id if before else None,
    )
    if isinstance(made, Refused):
        return made
    if judged_on is not None:
        made = msgspec.structs.replace(made, packet_hash=packet_hash(packet))
    if before and _says(made) == _says(before[-1]):
        return before[-1]
    if any(made.id == one.id for one in before):  # said before, taken back since, and now said again
        return msgspec.structs.replace(made, id=fingerprint(made.id, before[-1].id))
    return made


def keep(verdict: Verdict, store: Store) -> Judged:
    """Committed when this returns."""
    replaced = [one.label for one in verdicts_on(store, verdict.attempt) if one.id == verdict.supersedes]
    if not keep_verdicts(store, [verdict]):
        return Judged(verdict=verdict, state="unchanged")
    return Judged(verdict=verdict, state="changed" if replaced else "new", old_label="".join(replaced))


def keep_refused(answer: str, reasons: tuple[str, ...], packet: Packet, by: Answered, store: Store) -> None:
    """Counted once: an answer out of the ledger that is refused again is no second refusal."""
    word, hashed = word_for(by.reviewer), packet_hash(packet)
    refusal = Refusal(packet.attempt_id, word, hashed, reasons, answer, by.at)
    before = refusals_on(store, packet.attempt_id)
    if not any(one[:3] == refusal[:3] and one.answer == answer for one in before):
        keep_refusal(store, refusal)


def verdicts_on(store: Store, attempt: str) -> list[Verdict]:
    return verdicts_of(store, split_attempt_id(attempt).run, attempt=attempt)


def _says(verdict: Verdict) -> Verdict:
    """What it says, however that was written down: the same with an owner that its label names anyway."""
    return msgspec.structs.replace(verdict, id="", at=None, supersedes=None, usage=None, prompt_hash="", extra={})


def _own(verdicts: list[Verdict], reviewer: Reviewer, taxonomy: str) -> list[Verdict]:
    """Of the same reviewer in the same words, oldest first. A program of a person's name is not that person."""
    own = [one for one in verdicts if one.inherited_from is None and one.taxonomy == taxonomy]
    return [one for one in own if one.reviewer.kind == reviewer.kind and name_of(one.reviewer) == name_of(reviewer)]
