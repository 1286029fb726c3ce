"""All that a reviewer needs to read about one failure, within a token budget."""

from typing import Any

from errata.model.record import Record
from errata.model.signal import FailureKey, Signal


class Place(Record):
    place: str
    source: str
    text: str


class Packet(Record):
    version: int = 1
    id: str
    run: dict[str, Any]
    case_key: str
    attempt: int
    facts: dict[str, Any]
    failure_key: FailureKey | None = None
    signals: tuple[Signal, ...] = ()
    question: dict[str, Any] = {}
    places: tuple[Place, ...] = ()
    history: tuple[dict[str, Any], ...] = ()
    left_out: tuple[str, ...] = ()
    size: dict[str, int] = {}
