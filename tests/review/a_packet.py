"""Packets for tests: two whole ones from a fixture, and answers to them that can be taken."""

import json
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Packet, PacketPlace, Reviewer

FIXTURES = Path(__file__).parents[1] / "fixtures/review"
CONVEX, TURN = msgspec.json.decode((FIXTURES / "packets.json").read_bytes(), type=list[Packet])
MODEL = Reviewer(kind="llm", name="some-model", version="1")


def a_packet(base: Packet = CONVEX, **changes: Any) -> Packet:
    return msgspec.structs.replace(base, **changes)


def with_place(name: str, text: str, base: Packet = CONVEX) -> Packet:
    """With one place more."""
    return a_packet(base, places=(*base.places, PacketPlace(place=name, source="", text=text)))


def an_answer(**changes: Any) -> dict[str, Any]:
    """To the convex packet; `...` takes a field out."""
    whole: dict[str, Any] = {
        "reasoning": "`used > 3` is false on the fourth call. The error text differs, too.",
        "evidence": [
            {"place": "output/convex/guard.ts", "quote": 'if (used > 3) throw new Error("too many requests'},
            {"place": "task", "quote": 'throws an error with the text "limit reached"'},
        ],
        "label": "MODEL_FAULT",
        "cause": "Allows a fourth call and throws another text than the task fixes",
        "confidence": "certain",
    } | changes
    return {name: value for name, value in whole.items() if value is not ...}


def told(**changes: Any) -> str:
    return json.dumps(an_answer(**changes))
