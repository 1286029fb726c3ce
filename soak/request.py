"""What a model can read out of the request that it gets: the packet's places, the labels, and which round it is."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

_MARKER = re.compile(r"^<packet-([0-9a-f]{16})>$", re.MULTILINE)
_CASE = re.compile(r"^case: (.*), attempt (\d+)$", re.MULTILINE)


class PacketRequest(NamedTuple):
    about: str
    """Case and number of the attempt, as they stand at the end of its id."""
    round: int
    """2 where an earlier answer is to be repaired."""
    places: tuple[tuple[str, str], ...]
    labels: tuple[str, ...]
    prompt: str
    outside: str
    """The prompt without the content of the fence, and without the marker."""
    tools: bool
    """Whether the model may read more before it answers."""
    read: int
    """How often it has done so."""


def parse_request(request: dict[str, Any]) -> PacketRequest:
    prompt = "\n".join(str(message.get("content") or "") for message in request["messages"])
    schema = request.get("response_format", {}).get("json_schema", {}).get("schema", {})
    labels = schema.get("properties", {}).get("label", {}).get("enum", ())
    fence, case = _MARKER.search(prompt), _CASE.search(prompt)
    marker = fence[1] if fence else ""
    return PacketRequest(
        about=f"{case[1]}#{case[2]}" if case else "",
        round=2 if f"\n<answer-{marker}>\n" in prompt else 1,
        places=tuple(_places(prompt, marker)) if marker else (),
        labels=tuple(labels),
        prompt=prompt,
        outside=_outside(prompt, marker) if marker else "",
        tools=bool(request.get("tools")),
        read=sum(message["role"] == "tool" for message in request["messages"]),
    )


def _places(prompt: str, marker: str) -> Iterator[tuple[str, str]]:
    for section in prompt.split(f'\n<place-{marker} name="')[1:]:
        name, _, rest = section.partition('">\n')
        yield name, rest.partition(f"\n</place-{marker}>")[0]


def _outside(prompt: str, marker: str) -> str:
    before, _, rest = prompt.partition(f"<packet-{marker}>\n")
    _, _, after = rest.rpartition(f"</packet-{marker}>\n")
    return f"{before}|{after}".replace(marker, "marker")
