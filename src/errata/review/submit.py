"""The verb `review submit`: one verdict, from whoever was given a packet, checked like any other."""

from collections.abc import Iterator
from datetime import datetime

import msgspec

from errata.errors import NotFoundError, SettingsError
from errata.model import Attempt, Packet, Reviewer, StoredRun
from errata.model.run import case_name
from errata.review.answers import NO_LABEL, Given, labels_to_give, read_answer
from errata.review.hashing import packet_hash
from errata.review.inherit import Heirs
from errata.review.judge import Answered, Judged, judge, keep, verdicts_on
from errata.review.labels import labelled
from errata.review.lease import as_text
from errata.review.packing import Packing, packet_of, question_for
from errata.review.redaction import redacted
from errata.review.submission import Submitted
from errata.review.verdicts import Refused
from errata.runs.addresses import locate_known
from errata.runs.names import handle_of
from errata.store.database import Store
from errata.store.reviews import Refusal, end_lease, keep_refusal, keep_verdicts, lease_on, word_for
from errata.store.runs import all_runs
from errata.text.clean import one_line


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    judged: Judged
    case: str
    inherited: int
    """Identical failures that took the verdict over."""
    ignored: tuple[str, ...]
    """Fields that nobody asked for."""


class NotTaken(msgspec.Struct, frozen=True, kw_only=True):
    attempt: str
    reasons: tuple[str, ...]
    labels: tuple[str, ...] = ()
    """Those that can be given, where the label is at fault."""
    places: tuple[str, ...] = ()
    """Those that can be quoted, where a quote names none of them."""


def take_in(given: Submitted, store: Store, reviewer: Reviewer, *, now: datetime) -> Taken | NotTaken:
    """A verdict that can't be taken changes nothing: the packet stays with whoever has it in hand."""
    stored, failure = _failure(given.which, store)
    attempt, case = failure.id, case_name(stored.run, failure.case)
    _refuse_without_lease(given.lease, attempt, f"{handle_of(stored, store)}/{case}", store, reviewer, now)
    packet, blind = _packet(given, stored, attempt, store)
    by = Answered(reviewer=reviewer, at=now.isoformat(timespec="microseconds").replace("+00:00", "Z"), blind=blind)
    made = judge(given.answer, packet, by, store)
    answer = read_answer(given.answer)
    if isinstance(made, Refused):
        # every try counts, also the same one twice
        refusal = Refusal(attempt, word_for(reviewer), packet_hash(packet), made.reasons, given.answer, by.at)
        keep_refusal(store, refusal)
        return _not_taken(answer, made, packet)
    judged = keep(made, store)
    heirs = Heirs(stored, store).of(made, by.at)
    keep_verdicts(store, heirs)
    end_lease(store, attempt, reviewer=word_for(reviewer))
    ignored = answer.ignored if isinstance(answer, Given) else ()
    return Taken(judged=judged, case=case, inherited=len(heirs), ignored=ignored)


def _failure(which: str, store: Store) -> tuple[StoredRun, Attempt]:
    """Of this store: what an answer names is never imported."""
    try:
        found = locate_known(which, store)
    except NotFoundError as error:
        empty = "" if all_runs(store) else " and holds no runs"
        hint = f"this store is `{store.path}`{empty}; `--store FILE` names another"
        raise NotFoundError(error.message, hint=hint if empty else f"{hint}\n{error.hint}") from None
    if found.attempt is None or not found.attempt.is_failure:
        told = f"`{one_line(which, 200)}` names no failure"
        raise SettingsError(told, hint="`attempt_id` and `id` of a packet do")
    return found.stored, found.attempt


def _not_taken(answer: Given | str, refused: Refused, packet: Packet) -> NotTaken:
    """With what can be chosen from, where the choice was the fault."""
    fields = {} if isinstance(answer, str) else answer.fields
    places = tuple(place.place for place in packet.places)
    quotes = fields.get("evidence")
    quoted = [one.get("place") for one in quotes if isinstance(one, dict)] if isinstance(quotes, list) else []
    label, owner = fields.get("label"), fields.get("owner")
    label_is_wrong = isinstance(labelled(label, owner, packet), str) and label != NO_LABEL
    return NotTaken(
        attempt=packet.attempt_id,
        reasons=refused.reasons,
        labels=labels_to_give(packet.question) if label_is_wrong else (),
        places=places if not quoted or not set(places).issuperset(map(str, quoted)) else (),
    )


def _refuse_without_lease(given: str, attempt: str, name: str, store: Store, reviewer: Reviewer, now: datetime) -> None:
    word = word_for(reviewer)
    # whoever has read it may correct it at any time, and hand it in once more when not sure of having been heard
    if any(word_for(one.reviewer) == word for one in verdicts_on(store, attempt)):
        return
    lease = lease_on(store, attempt, reviewer=word, now=as_text(now))
    if lease is not None and lease.token != given:
        told = "carries another lease" if given else "carries no lease"
        raise SettingsError(
            f"`{name}` is in the hands of `{word}` until {lease.until}, and this verdict {told}",
            hint=f"put the `lease` into it that `errata review next {name}` prints, with the same `--reviewer`\n"
            "two readers who are not the same need names of their own",
        )
    if lease is None and given:
        raise SettingsError(
            f"The lease on `{name}` has ended, or was given to another name than `{word}`",
            hint=f"take it again with `errata review next {name}` and hand the same verdict in with the new lease; "
            "`--reviewer` must be the same for both",
        )


def _packet(given: Submitted, stored: StoredRun, attempt: str, store: Store) -> tuple[Packet, bool]:
    """The packet that was handed out, as far as it is still the same; and whether it was a blind one."""
    question = question_for(stored.run.source.name, given.taxonomy)

    def made() -> Iterator[tuple[Packet, bool]]:
        for blind in (False, True):
            packing = Packing(question=question, blind=blind)
            yield redacted(packet_of(attempt, store, packing=packing)), blind

    candidates = list(made()) if given.packet_hash else [next(made())]
    same = [one for one in candidates if packet_hash(one[0]) == given.packet_hash]
    return (same or candidates)[0]
