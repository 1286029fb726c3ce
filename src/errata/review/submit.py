"""One submitted verdict: which failure it is about, what of it is an answer, and whether it can be taken."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from errata.errors import NotFoundError, SettingsError
from errata.model import Attempt, Packet, Reviewer, StoredRun
from errata.model.run import case_name
from errata.model.times import to_iso
from errata.model.verdict import Refusal, word_for
from errata.review.answers import NO_LABEL, ParsedAnswer, labels_to_give, read_answer
from errata.review.import_answers import WHICH
from errata.review.inherit import IdenticalFailures
from errata.review.labels import given_label
from errata.review.redaction import packet_hash, redacted
from errata.review.stored.packets import Packing, packet_of, question_for
from errata.review.verdicts import AnswerInfo, KeptVerdict, Rejection, judge, keep, verdicts_on
from errata.runs.locate import locate_known
from errata.runs.names import handle_of
from errata.store.database import Store
from errata.store.reviews import end_lease, keep_refusal, keep_verdicts, lease_on
from errata.store.runs import all_runs
from errata.text.clean import one_line

AROUND = frozenset((*WHICH, "lease", "packet_hash", "taxonomy", "blind", "run", "case", "case_key"))
"""What stands around an answer and is none of it."""


class Submission(msgspec.Struct, frozen=True, kw_only=True):
    which: str
    """The id of an attempt or a packet."""
    lease: str = ""
    packet_hash: str = ""
    taxonomy: str = ""
    answer: str
    """JSON, as any reviewer would have given it."""


def read_submission(text: str) -> Submission:
    """One JSON object: the fields of a verdict, and which failure it is about."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"This is no JSON: {error}", hint=_ONE) from error
    if not isinstance(given, dict):
        raise SettingsError(f"One JSON object is expected, not {type(given).__name__}", hint=_ONE)
    inner: dict[str, Any] = next(
        (given[name] for name in ("verdict", "answer") if isinstance(given.get(name), dict)), {}
    )
    # the answer's own word first: what was printed around it may be another packet's
    which = next((found for part in (inner, given, given.get("packet")) if (found := _named(part))), "")
    if not which:
        raise SettingsError("Nothing says which failure this verdict is about", hint=_ONE)
    around = given | inner
    answer = {name: value for name, value in (inner or given).items() if name not in AROUND}
    return Submission(
        which=which,
        lease=str(around.get("lease") or ""),
        packet_hash=str(around.get("packet_hash") or ""),
        taxonomy=str(around.get("taxonomy") or ""),
        answer=json.dumps(answer, ensure_ascii=False),
    )


_ONE = (
    'an object such as {"attempt_id": "…", "lease": "…", "label": "…", "cause": "…", "reasoning": "…", "evidence": '
    '[{"place": "…", "quote": "…"}], "confidence": "…"}\n'
    "`errata review next RUN` prints one to fill in, `errata review import FILE` takes several"
)


def _named(part: Any) -> str:
    """Which failure it names: by an id, else by run and case."""
    texts = {name: value for name, value in part.items() if isinstance(value, str)} if isinstance(part, dict) else {}
    found = next((texts[name] for name in WHICH if texts.get(name)), "")
    case = texts.get("case_key") or texts.get("case", "")
    return found or (f"{texts['run']}/{case}" if texts.get("run") and case else "")


def text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"This is no text: {error}", hint=_ONE) from error


class AcceptedVerdict(msgspec.Struct, frozen=True, kw_only=True):
    judged: KeptVerdict
    case: str
    inherited: int
    """Identical failures that took the verdict over."""
    ignored: tuple[str, ...]
    """Fields that nobody asked for."""


class RejectedVerdict(msgspec.Struct, frozen=True, kw_only=True):
    attempt: str
    reasons: tuple[str, ...]
    labels: tuple[str, ...] = ()
    """Those that can be given, where the label is at fault."""
    places: tuple[str, ...] = ()
    """Those that can be quoted, where a quote names none of them."""


def submit_verdict(
    given: Submission, store: Store, reviewer: Reviewer, *, now: datetime
) -> AcceptedVerdict | RejectedVerdict:
    """A verdict that can't be taken changes nothing: the packet stays with whoever has it in hand."""
    stored, failure = _failure(given.which, store)
    attempt, case = failure.id, case_name(stored.run, failure.case)
    _refuse_without_lease(given.lease, attempt, f"{handle_of(stored, store)}/{case}", store, reviewer, now)
    packet, blind = _packet(given, stored, attempt, store)
    by = AnswerInfo(reviewer=reviewer, at=now.isoformat(timespec="microseconds").replace("+00:00", "Z"), blind=blind)
    made = judge(given.answer, packet, by, store)
    answer = read_answer(given.answer)
    if isinstance(made, Rejection):
        # every try counts, also the same one twice
        refusal = Refusal(attempt, word_for(reviewer), packet_hash(packet), made.reasons, given.answer, by.at)
        keep_refusal(store, refusal)
        return _not_taken(answer, made, packet)
    judged = keep(made, store)
    heirs = IdenticalFailures(stored, store).of(made, by.at)
    keep_verdicts(store, heirs)
    end_lease(store, attempt, reviewer=word_for(reviewer))
    ignored = answer.ignored if isinstance(answer, ParsedAnswer) else ()
    return AcceptedVerdict(judged=judged, case=case, inherited=len(heirs), ignored=ignored)


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


def _not_taken(answer: ParsedAnswer | str, refused: Rejection, packet: Packet) -> RejectedVerdict:
    """With what can be chosen from, where the choice was the fault."""
    fields = {} if isinstance(answer, str) else answer.fields
    places = tuple(place.place for place in packet.places)
    quotes = fields.get("evidence")
    quoted = [one.get("place") for one in quotes if isinstance(one, dict)] if isinstance(quotes, list) else []
    label, owner = fields.get("label"), fields.get("owner")
    label_is_wrong = isinstance(given_label(label, owner, packet), str) and label != NO_LABEL
    return RejectedVerdict(
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
    lease = lease_on(store, attempt, reviewer=word, now=to_iso(now))
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


def _packet(given: Submission, stored: StoredRun, attempt: str, store: Store) -> tuple[Packet, bool]:
    """The packet that was handed out, as far as it is still the same; and whether it was a blind one."""
    question = question_for(stored.run.source.name, given.taxonomy)

    def made() -> Iterator[tuple[Packet, bool]]:
        for blind in (False, True):
            packing = Packing(question=question, blind=blind)
            yield redacted(packet_of(attempt, store, packing=packing)), blind

    candidates = list(made()) if given.packet_hash else [next(made())]
    same = [one for one in candidates if packet_hash(one[0]) == given.packet_hash]
    return (same or candidates)[0]
