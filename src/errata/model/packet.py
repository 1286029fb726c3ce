"""All that a reviewer needs to read about one failure, within a token budget."""

from typing import Any

from errata.model.attribution import FailureKey, Signal
from errata.model.record import Record
from errata.model.step import Observation
from errata.model.words import Owner


class PacketPlace(Record):
    """A text that can be quoted, under the name by which evidence refers to it."""

    place: str
    source: str
    text: str


class LabelChoice(Record):
    label: str
    owner: Owner
    meaning: str = ""
    general: bool = True
    """Whether it fits any failure of its owner; False where it names one kind of them, such as an empty answer."""


class Question(Record):
    """What the reviewer is asked: one label of one taxonomy."""

    taxonomy: str
    version: str = ""
    labels: tuple[LabelChoice, ...]
    rule: str
    decisive: str = ""
    """What the decisive step is, and how to find it; empty where the failure has no steps."""


class LeftOut(Record):
    what: str
    why: str


class Packet(Record):
    version: int = 1
    id: str
    run: dict[str, Any]
    case_key: str
    attempt: int
    attempt_id: str
    facts: dict[str, Any]
    failure_key: FailureKey | None = None
    signals: tuple[Signal, ...] = ()
    question: Question
    observations: tuple[Observation, ...] = ()
    """The evidence log: what steps show by themselves. Hints, not to be quoted."""
    timeline: tuple[str, ...] = ()
    """A line for each step, where the packet does not hold the transcript whole. Made by errata: not to be quoted."""
    places: tuple[PacketPlace, ...] = ()
    history: tuple[dict[str, Any], ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    size: dict[str, int] = {}
    """`characters` of the places; `tokens_estimated` of the packet, and `tokens_left` of its budget."""
    redacted: bool = False
    """Secrets and people are out of every text; nothing else leaves the machine."""
