"""Read-only tools that a model may use while it reads a failure that is larger than a packet."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from errata.text.clean import one_line

MOST_BYTES = 16_000
"""That the tools give a model between two of its requests."""
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
        """What the model's arguments give; a mistake in them is told to the model, it ends nothing."""
        try:
            given = msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments or {}
            return self.run(given if isinstance(given, dict) else {})
        except (msgspec.DecodeError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            return f"These arguments can't be used: {one_line(str(error), WIDTH)}"


def used(asked: Iterable[tuple[str, Arguments]], tools: tuple[Tool, ...]) -> list[str]:
    """What each use gives, in the order asked for.

    However many uses a model asks for at once, together they give no more than what caps on money reckon with.
    """
    given, left = [], MOST_BYTES
    for name, arguments in asked:
        whole = _used(name, arguments, tools) if left else FULL
        told = _cut(whole, left)
        left -= len(told.encode("utf-8"))
        given.append(told if told or not whole else FULL)
    return given


def _used(name: str, arguments: Arguments, tools: tuple[Tool, ...]) -> str:
    tool = next((one for one in tools if one.name == name), None)
    return tool.use(arguments) if tool else f"There is no tool `{one_line(name, WIDTH)}`"


def _cut(text: str, most: int) -> str:
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")
