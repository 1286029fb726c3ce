"""A packet as text, with line numbers to quote by."""

from collections.abc import Sequence
from typing import Any

from errata.cli.fitting import WIDTH, fold
from errata.cli.output import put, value_of, wash, write_out
from errata.model import Packet, Reviewer
from errata.model.identity import is_task_id
from errata.model.output.review import ReadingOutput
from errata.review.answers import NO_LABEL, allowed_words, owners_without_label
from errata.review.speakers import speakers_in
from errata.review.stored.lease import LeasedPacket
from errata.text.clean import one_line
from errata.text.shell import command_line

FORMS = ("text", "json")
HANG = 17
NUMBER = 7
"""Columns for the number of a line."""


def show_packet(packet: Packet, *, raw: bool = False) -> None:
    """Its texts are redacted already; its ids are not, and come from a log like the texts."""
    what = "task" if is_task_id(packet.attempt_id) else f"attempt {packet.attempt}"
    put(f"{packet.case_key} · {what}", raw=raw)
    _put_field("run", _run_in_words(packet.run), raw=raw)
    _put_facts(packet.facts, raw=raw)
    for signal in packet.signals:
        _put_field("signal", f"{signal.name} ({signal.strength}) at {signal.where}: {signal.words}", raw=raw)
    for observation in packet.observations:
        quote = f" “{observation.quote}”" if observation.quote else ""
        _put_field(f"step {observation.step}", f"{observation.speaker}: {observation.text}{quote}", raw=raw)
    for entry in packet.history:
        _put_field("history", _pairs(entry), raw=raw)
    for left in packet.left_out:
        _put_field("left out", f"{left.what} ({left.why})", raw=raw)
    _put_field("size", _size(packet.size), raw=raw)
    if packet.timeline:
        put()
        put("── timeline", raw=raw)
        for line in packet.timeline:
            put(line, hang=6, raw=raw)
    for place in packet.places:
        put()
        put(f"── {place.place}   ({place.source})", raw=raw)
        for at, line in enumerate(place.text.rstrip("\n").split("\n"), 1):
            _put_line(at, line, raw=raw)
    _put_question(packet)


def _size(size: dict[str, int]) -> str:
    used, left = size.get("tokens_estimated", 0), size.get("tokens_left")
    return f"about {used:,} tokens" + (f", {left:,} left of the token limit" if left is not None else "")


_FIRST = ("model", "suite", "date")
"""What a reader wants to know about a run; the rest follows with its names."""


def _run_in_words(run: dict[str, Any]) -> str:
    from errata.sources import harness_of

    first = [value_of(run[name]) for name in _FIRST if run.get(name)]
    named = {"harness": harness_of(str(run["harness"])).title} if run.get("harness") else {}
    rest = _pairs({name: named.get(name, value) for name, value in run.items() if name not in _FIRST})
    return " · ".join(filter(None, [*first, rest]))


def _put_field(label: str, text: str, *, raw: bool = False) -> None:
    put(f"{label:<{HANG - 1}} {text}", hang=HANG, raw=raw)


def _put_facts(facts: dict[str, Any], *, raw: bool) -> None:
    for name, value in facts.items():
        if name == "checks" and isinstance(value, list):
            for check in value:
                reason = f": {check['reason']}" if check.get("reason") else ""
                _put_field("check", f"{check.get('name')} {check.get('status')}{reason}", raw=raw)
        elif name == "steps" and isinstance(value, dict):
            _put_field("steps", f"{value.get('count')}, the last is {value.get('last')}", raw=raw)
            for entry in value.get("speakers") or ():
                _put_field("", f"{entry['speaker']}: {entry['steps']}", raw=raw)
        elif name == "other_attempts" and isinstance(value, list):
            others = ", ".join(f"#{one.get('attempt')} {one.get('outcome')}" for one in value)
            _put_field("other attempts", others, raw=raw)
        elif name == "threshold" and value is not None:
            of = facts.get("threshold_of") or "score of the case"
            _put_field(name, f"{value_of(value)} for the {of}; it decides the outcome", raw=raw)
        elif name == "rubric_threshold":
            _put_field(name, f"{value_of(value)} for the judge (`pass_threshold` in the rubric)", raw=raw)
        elif name == "threshold_of":
            continue
        elif value not in (None, "", [], {}):
            _put_field(name, _pairs(value) if isinstance(value, dict) else value_of(value), raw=raw)


def _pairs(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value_of(value)}" for name, value in fields.items() if value not in (None, "", [], {}))


def show_readings(readings: Sequence[ReadingOutput]) -> None:
    """The verdicts to decide between."""
    for letter, reading in zip("ABCDEFGH", readings, strict=False):
        step = f", step {reading.decisive_step}" if reading.decisive_step is not None else ""
        agent = f", {reading.decisive_agent}" if reading.decisive_agent else ""
        put()
        _put_field(f"reading {letter}", f"{reading.label} · {reading.owner}{step}{agent}: {reading.cause}")
        for quote in reading.evidence:
            _put_field("", f"{quote.place}: {one_line(quote.quote)}")


def show_lease(handed: LeasedPacket, who: Reviewer) -> None:
    named = command_line(["errata", "review", "submit", "FILE", "--reviewer", who.name])
    put()
    _put_words(handed.packet)
    _put_field("attempt_id", handed.packet.attempt_id)
    _put_field("lease", f"{handed.token}   until {handed.until}")
    _put_field("submit", f"{named}{' --person' if who.kind == 'person' else ''}")


def _put_words(packet: Packet) -> None:
    """Every word that the fields of a verdict take; labels and owners are listed above."""
    speakers = speakers_in(packet.facts, ((place.place, place.text) for place in packet.places))
    for field, words in allowed_words(packet.question, speakers.agents).items():
        if field not in ("label", "owner"):
            _put_field(field, ", ".join(words))


def _put_line(number: int, line: str, *, raw: bool) -> None:
    """Words stay whole, so that a copied quote occurs in the packet."""
    first, *rest = fold(f"{number:>5}  {wash(line, raw=raw)}", WIDTH - NUMBER, first=WIDTH, whole_words=True)
    write_out("\n".join([first, *(" " * NUMBER + one for one in rest)]) + "\n")


def _put_question(packet: Packet) -> None:
    put()
    put(packet.question.rule)
    if packet.question.decisive:
        put()
        put("Decisive step")
    for line in packet.question.decisive.splitlines():
        put(line, hang=2)
    put()
    put("Labels")
    labels = packet.question.labels
    for at, choice in enumerate(labels, 1):
        owner = "" if choice.owner == choice.label else f" (owner {choice.owner})"
        put(f"{at:>2}  {choice.label}{owner}: {choice.meaning}", hang=4)
    owners = owners_without_label(packet.question)
    if owners:
        put(f"{len(labels) + 1:>2}  {NO_LABEL}: no label fits; give an owner ({', '.join(owners)})", hang=4)
