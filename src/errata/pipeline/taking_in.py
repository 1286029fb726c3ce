"""The verb `review submit`: one verdict, from whoever was given a packet, checked like any other."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from errata.errors import SettingsError
from errata.model import Packet, Reviewer, split_attempt_id
from errata.pipeline.handing_out import as_text
from errata.pipeline.heirs import Heirs
from errata.pipeline.judging import Answered, Judged, judge, keep, keep_refused
from errata.pipeline.packeting import Packing, packet_of, question_for
from errata.pipeline.showing import ShownAttempt, find_shown
from errata.pipeline.standings import suggested_label
from errata.review.answers import labels_to_give
from errata.review.filled import WHICH
from errata.review.hashing import packet_hash
from errata.review.redaction import redacted
from errata.review.verdicts import Refused
from errata.store.database import Store
from errata.store.reviews import end_lease, keep_verdicts, lease_on, verdicts_of, word_for
from errata.text.clean import one_line

AROUND = frozenset((*WHICH, "lease", "packet_hash", "taxonomy", "blind", "run", "case", "case_key"))
"""What stands around an answer and is none of it."""


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    which: str
    """The id of an attempt or a packet."""
    lease: str = ""
    packet_hash: str = ""
    taxonomy: str = ""
    answer: str
    """JSON, as any reviewer would have given it."""


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
    labels: tuple[str, ...]
    places: tuple[str, ...]


def read_submitted(text: str) -> Submitted:
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
    around = given | inner | _of_packet(given.get("packet"))
    which = next((str(around[name]) for name in WHICH if isinstance(around.get(name), str) and around[name]), "")
    if not which:
        raise SettingsError("Nothing says which failure this verdict is about", hint=_ONE)
    answer = {name: value for name, value in (inner or given).items() if name not in AROUND}
    return Submitted(
        which=which,
        lease=str(around.get("lease") or ""),
        packet_hash=str(around.get("packet_hash") or ""),
        taxonomy=str(around.get("taxonomy") or ""),
        answer=json.dumps(answer, ensure_ascii=False),
    )


_ONE = (
    'an object such as {"attempt_id": "…", "lease": "…", "label": "…", "cause": "…", "reasoning": "…",\n'
    '"evidence": [{"place": "…", "quote": "…"}], "confidence": "…"}; `errata review next RUN` prints one to fill in,\n'
    "`errata review import FILE` takes several"
)


def _of_packet(value: Any) -> dict[str, Any]:
    """Whoever hands back all that was printed hands back the packet, too."""
    return {"attempt_id": value.get("attempt_id")} if isinstance(value, dict) else {}


def take_in(given: Submitted, store: Store, reviewer: Reviewer, *, now: datetime) -> Taken | NotTaken:
    """A verdict that can't be taken changes nothing: the packet stays with whoever has it in hand."""
    shown = find_shown(given.which, store)
    if not isinstance(shown, ShownAttempt) or not shown.attempt.is_failure:
        told = f"`{one_line(given.which, 200)}` names no failure"
        raise SettingsError(told, hint="`attempt_id` and `id` of a packet do")
    attempt = shown.attempt.id
    _refuse_without_lease(given, attempt, shown.case_name, store, reviewer, now)
    packet, blind = _packet(given, shown, store)
    by = Answered(reviewer=reviewer, at=now.isoformat(timespec="microseconds").replace("+00:00", "Z"), blind=blind)
    made = judge(given.answer, packet, by, store)
    if isinstance(made, Refused):
        keep_refused(given.answer, made.reasons, packet, by, store)
        labels = labels_to_give(packet.question)
        places = tuple(place.place for place in packet.places)
        return NotTaken(attempt=attempt, reasons=made.reasons, labels=labels, places=places)
    judged = keep(made, store, suggested_label(shown.attribution, packet.question.taxonomy))
    heirs = Heirs(shown.stored, store).of(made, by.at)
    keep_verdicts(store, heirs)
    end_lease(store, attempt, reviewer=word_for(reviewer))
    ignored = tuple(made.extra.get("ignored", ()))
    return Taken(judged=judged, case=shown.case_name, inherited=len(heirs), ignored=ignored)


def _refuse_without_lease(
    given: Submitted, attempt: str, case: str, store: Store, reviewer: Reviewer, now: datetime
) -> None:
    lease = lease_on(store, attempt, reviewer=word_for(reviewer), now=as_text(now))
    if lease is not None and lease.token != given.lease:
        told = "carries no lease" if not given.lease else "carries another lease"
        raise SettingsError(
            f"`{case}` is in the hands of `{word_for(reviewer)}` until {lease.until}, and this verdict {told}",
            hint="put the `lease` that `errata review next` printed into it, or wait;\n"
            "two readers who are not the same need names of their own: `--reviewer NAME`",
        )
    # handed in once more after the answer was lost on its way: the verdict itself tells whether anything changed
    if lease is None and given.lease and not _has_read(attempt, store, reviewer):
        run = attempt.partition(":")[0]
        raise SettingsError(
            f"The lease on `{case}` has ended, or was given to another name than `{word_for(reviewer)}`",
            hint=f"take it again with `errata review next {run}/{case}`, and hand the same verdict in with the new\n"
            "lease; `--reviewer` must be the same for both",
        )


def _has_read(attempt: str, store: Store, reviewer: Reviewer) -> bool:
    run = split_attempt_id(attempt).run
    return any(word_for(one.reviewer) == word_for(reviewer) for one in verdicts_of(store, run, attempt=attempt))


def _packet(given: Submitted, shown: ShownAttempt, store: Store) -> tuple[Packet, bool]:
    """The packet that was handed out, as far as it is still the same; and whether it was a blind one."""
    question = question_for(shown.stored.run.source.name, given.taxonomy)

    def made() -> Iterator[tuple[Packet, bool]]:
        for blind in (False, True):
            packing = Packing(question=question, blind=blind)
            yield redacted(packet_of(shown.attempt.id, store, packing=packing)), blind

    candidates = list(made()) if given.packet_hash else [next(made())]
    same = [one for one in candidates if packet_hash(one[0]) == given.packet_hash]
    return (same or candidates)[0]


def text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"This is no text: {error}", hint=_ONE) from error
