"""A packet on the terminal, for a person to read: every text with the numbers of its lines, by which it is quoted."""

from typing import Any

from errata.cli.output import plural, put, value_of
from errata.model import Packet
from errata.review.answers import NO_LABEL, owners_without_label

HANG = 9


def show_packet(packet: Packet) -> None:
    """Redacted and cleaned when it was made."""
    put(f"{packet.case_key} · attempt {packet.attempt}", raw=True)
    put(" · ".join(f"{name} {value_of(value)}" for name, value in packet.run.items() if value), raw=True)
    _put_facts(packet.facts)
    for signal in packet.signals:
        put(f"signal   {signal.name} ({signal.strength}) at {signal.where}: {signal.quote}", hang=HANG, raw=True)
    for entry in packet.history:
        put(f"before   {', '.join(f'{name} {value_of(value)}' for name, value in entry.items())}", hang=HANG, raw=True)
    for place in packet.places:
        put()
        put(f"── {place.place}   ({place.source})", raw=True)
        lines = place.text.rstrip("\n").split("\n")
        for at, line in enumerate(lines, 1):
            put(f"{at:>5}  {line}", hang=HANG - 2, raw=True)
    put()
    for left in packet.left_out:
        put(f"left out {left.what} ({left.why})", hang=HANG, raw=True)
    _put_question(packet)


def _put_facts(facts: dict[str, Any]) -> None:
    for name, value in facts.items():
        if name == "checks" and isinstance(value, list):
            for check in value:
                reason = f": {check['reason']}" if check.get("reason") else ""
                put(f"check    {check.get('name')} {check.get('status')}{reason}", hang=HANG, raw=True)
        elif value not in (None, "", [], {}):
            put(f"{name:<8} {value_of(value)}", hang=HANG, raw=True)


def _put_question(packet: Packet) -> None:
    put()
    put(f"{packet.question.rule}", raw=True)
    for at, choice in enumerate(packet.question.labels, 1):
        put(f"{at:>2}  {choice.label} (owner {choice.owner}): {choice.meaning}", hang=4)
    owners = owners_without_label(packet.question)
    if owners:
        put(f" -  {NO_LABEL}: none of these fits; the owner is one of {', '.join(owners)}", hang=4)
    put(plural(len(packet.places), "text"))
