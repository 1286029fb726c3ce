"""One submitted verdict: which failure it is about, what of it is an answer, and whether it can be taken."""

import json
from collections.abc import Sequence
from typing import Any

from errata.errors import SettingsError
from errata.model import Packet, Reviewer, Verdict
from errata.model.codec import strict_json
from errata.model.record import Struct
from errata.model.standing import is_same
from errata.model.verdict import Lease, word_for
from errata.review.answers import NO_LABEL, ParsedAnswer, labels_to_give
from errata.review.import_answers import WHICH
from errata.review.labels import given_label
from errata.review.verdicts import KeptVerdict, Rejection
from errata.text.clean import one_line
from errata.text.shell import shell_word

AROUND = frozenset((*WHICH, "lease", "packet_hash", "taxonomy", "blind", "run", "case", "case_key", "adjudicates"))
"""Text around an answer that is not part of it."""
_ONLY_ONE = (
    'an object such as {"attempt_id": "…", "lease": "…", "label": "…", "cause": "…", "reasoning": "…", "evidence": '
    '[{"place": "…", "quote": "…"}], "confidence": "…"}\n'
    "`errata review next RUN` prints one to fill in, `errata review import FILE` takes several"
)


class Submission(Struct):
    which: str
    """The id of an attempt or a packet."""
    lease: str = ""
    packet_hash: str = ""
    taxonomy: str = ""
    adjudicates: tuple[str, ...] = ()
    """The verdicts between which it decides."""
    answer: str
    """JSON, as any reviewer would have given it."""
    request: str = ""
    """An idempotency key: the same request again changes nothing."""
    seen: tuple[str, ...] | None = None
    """The verdicts on the failure that its reviewer knew; where there are others, nothing is stored."""


def read_submission(text: str) -> Submission:
    """One JSON object: the fields of a verdict, and which failure it is about."""
    try:
        given = strict_json(text)
    except ValueError as error:
        raise SettingsError(f"This is not JSON: {error}", hint=_ONLY_ONE) from error
    if not isinstance(given, dict):
        raise SettingsError(f"One JSON object is expected, not {type(given).__name__}", hint=_ONLY_ONE)
    inner: dict[str, Any] = next(
        (given[name] for name in ("verdict", "answer") if isinstance(given.get(name), dict)), {}
    )
    # the answer's own word first: what was printed around it may be another packet's
    which = next((found for part in (inner, given, given.get("packet")) if (found := _failure_id(part))), "")
    if not which:
        raise SettingsError("The verdict does not name a failure", hint=_ONLY_ONE)
    around = given | inner
    answer = {name: value for name, value in (inner or given).items() if name not in AROUND}
    return Submission(
        which=which,
        lease=str(around.get("lease") or ""),
        packet_hash=str(around.get("packet_hash") or ""),
        taxonomy=str(around.get("taxonomy") or ""),
        adjudicates=_texts(around.get("adjudicates")),
        answer=json.dumps(answer, ensure_ascii=False),
    )


def _texts(given: Any) -> tuple[str, ...]:
    return tuple(one for one in given if isinstance(one, str)) if isinstance(given, list) else ()


def refuse_other_readings(
    adjudicates: Sequence[str], name: str, reviewer: Reviewer, earlier: Sequence[Verdict]
) -> None:
    """An adjudication decides between verdicts of others on the same failure."""
    readings = {one.id: one.reviewer for one in earlier}
    if unknown := [one for one in adjudicates if one not in readings]:
        raise SettingsError(
            f"`adjudicates` names a verdict that `{name}` does not have: `{one_line(unknown[0], 40)}`",
            hint=f"copy `adjudicates` from `errata review next {shell_word(name)} --adjudicate`",
        )
    if any(is_same(readings[one], reviewer) for one in adjudicates):
        raise SettingsError(
            f"`{word_for(reviewer)}` has reviewed `{name}` and can't decide between its own verdict and another",
            hint="use another `--reviewer` name for `next` and `submit`",
        )


def _failure_id(part: Any) -> str:
    """Which failure it names: by an id, else by run and case."""
    texts = {name: value for name, value in part.items() if isinstance(value, str)} if isinstance(part, dict) else {}
    attempt = next((texts[name] for name in WHICH if texts.get(name)), "")
    case = texts.get("case_key") or texts.get("case", "")
    return attempt or (f"{texts['run']}/{case}" if texts.get("run") and case else "")


def text_of(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SettingsError(f"This is not text: {error}", hint=_ONLY_ONE) from error


class AcceptedVerdict(Struct):
    kept: KeptVerdict
    case: str
    inherited: int
    """Identical failures that took the verdict over."""
    ignored: tuple[str, ...]
    """Fields that nobody asked for."""


class RejectedVerdict(Struct):
    attempt: str
    reasons: tuple[str, ...]
    labels: tuple[str, ...] = ()
    """Those that can be given, where the label is at fault."""
    places: tuple[str, ...] = ()
    """Those that can be quoted, where a quote names none of them."""


def rejected(answer: ParsedAnswer | str, refused: Rejection, packet: Packet) -> RejectedVerdict:
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


def refuse_without_lease(
    given: str, name: str, reviewer: Reviewer, earlier: Sequence[Verdict], lease: Lease | None
) -> None:
    """`earlier` are the verdicts on the attempt, `lease` is the one that this reviewer has on it."""
    word = word_for(reviewer)
    # whoever has read it may correct it at any time, and hand it in once more when not sure of having been heard
    if any(word_for(one.reviewer) == word for one in earlier):
        return
    if lease is not None and lease.token != given:
        problem = "carries another lease" if given else "carries no lease"
        raise SettingsError(
            f"`{name}` is leased to `{word}` until {lease.until}, and this verdict {problem}",
            hint=f"add the `lease` that `errata review next {shell_word(name)}` prints, and use the same `--reviewer`\n"
            "give each reviewer a name of their own",
        )
    if lease is None and given:
        raise SettingsError(
            f"The lease on `{name}` has expired, or belongs to another reviewer than `{word}`",
            hint=f"get it again with `errata review next {shell_word(name)}` and submit the same verdict with the new "
            "lease; `--reviewer` must be the same for both",
        )
