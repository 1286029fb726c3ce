"""Asking a person at the terminal for a verdict, until it can be taken."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import click

from errata import verbs
from errata.cli.output import say
from errata.cli.review.submit import show_reasons, show_taken
from errata.model import Packet, Reviewer
from errata.review.answers import NO_LABEL, labels_to_give, owners_without_label
from errata.review.lease import LeasedPacket
from errata.review.redaction import packet_hash
from errata.review.submit import RejectedVerdict, Submission
from errata.store.database import Store

_LINES = re.compile(r"(?P<place>.+?):(?P<first>\d+)(?:-(?P<last>\d+))?")
SURE = ("certain", "likely", "weak")


def ask_and_submit(handed: LeasedPacket, store: Store, who: Reviewer) -> None:
    while True:
        submitted = Submission(
            which=handed.packet.attempt_id,
            lease=handed.token,
            packet_hash=packet_hash(handed.packet),
            taxonomy=handed.packet.question.taxonomy,
            answer=json.dumps(_answer(handed.packet), ensure_ascii=False),
        )
        found = verbs.take_in(submitted, store, who, now=datetime.now(UTC))
        if not isinstance(found, RejectedVerdict):
            show_taken(found, as_json=False)
            say(f"{handed.waiting:,} more are waiting")
            return
        show_reasons(found, as_json=False)


def _answer(packet: Packet) -> dict[str, Any]:
    label = _word("Label", labels_to_give(packet.question))
    answer: dict[str, Any] = {"label": label}
    if label == NO_LABEL:
        answer["owner"] = _word("Owner", owners_without_label(packet.question))
    answer["cause"] = click.prompt("Cause, in one sentence", err=True)
    answer["evidence"] = list(_quotes(packet))
    answer["reasoning"] = _text("Why (may be empty)")
    note = _text("Doubts, what could not be checked (may be empty)")
    answer["doubts"] = [note] if note else []
    answer["confidence"] = _word("How sure", SURE, default="likely")
    return answer


def _text(asked: str) -> str:
    return str(click.prompt(asked, default="", show_default=False, err=True))


def _word(asked: str, words: Sequence[str], default: str | None = None) -> str:
    """By its name, its number, or the beginning of one name alone."""
    while True:
        given = str(click.prompt(f"{asked} ({', '.join(words)})", default=default, err=True)).strip()
        if given.isdecimal() and 1 <= int(given) <= len(words):
            return words[int(given) - 1]
        meant = [word for word in words if word.casefold().startswith(given.casefold())]
        exact = [word for word in meant if word.casefold() == given.casefold()]
        if len(exact or meant) == 1:
            return (exact or meant)[0]
        say(f"`{given}` is none of them")


def _quotes(packet: Packet) -> Iterator[dict[str, str]]:
    """`run.log:13` or `task:2-4`: the lines are taken as they stand there."""
    while given := _text("Evidence as PLACE:LINE or PLACE:FIRST-LAST (empty to go on)").strip():
        found = quote_at(packet, given)
        if found is None:
            say(f"there is no `{given}`; the texts are {', '.join(place.place for place in packet.places)}")
        else:
            say(f"  > {found['quote']}")
            yield found


def quote_at(packet: Packet, given: str) -> dict[str, str] | None:
    named = _LINES.fullmatch(given)
    if named is None:
        return None
    texts = {place.place: place.text for place in packet.places}
    first = int(named["first"])
    lines = texts.get(named["place"], "").split("\n")[first - 1 : int(named["last"] or first)] if first else []
    quote = "\n".join(lines).strip()
    return {"place": named["place"], "quote": quote} if quote else None
