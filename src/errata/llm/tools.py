"""Read-only tools for reviewing a failure that is larger than a packet."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from errata.text.clean import one_line

MOST_BYTES = 16_000
"""The most that tools return between two requests of a model."""
FULL = "Too much at once"
WIDTH = 200

Arguments = str | dict[str, Any] | None


class Tool(msgspec.Struct, frozen=True):
    name: str
    description: str
    schema: dict[str, Any]
    """JSON schema of the arguments."""
    run: Callable[[dict[str, Any]], str]

    def use(self, arguments: Arguments) -> str:
        """Run the tool; errors in the arguments are returned to the model as text."""
        try:
            given = msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments or {}
            return self.run(given if isinstance(given, dict) else {})
        except (msgspec.DecodeError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return f"These arguments can't be used: {one_line(str(error), WIDTH)}"


def used(asked: Iterable[tuple[str, Arguments]], tools: tuple[Tool, ...]) -> list[str]:
    """The result of each call, in order.

    However many calls a model makes at once, their results together stay within the size that cost caps assume.
    """
    given, left = [], MOST_BYTES
    for name, arguments in asked:
        whole = _used(name, arguments, tools) if left else FULL
        part = _cut(whole, left)
        left -= len(part.encode("utf-8"))
        given.append(part if part or not whole else FULL)
    return given


def _used(name: str, arguments: Arguments, tools: tuple[Tool, ...]) -> str:
    tool = next((one for one in tools if one.name == name), None)
    return tool.use(arguments) if tool else f"There is no tool `{one_line(name, WIDTH)}`"


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
