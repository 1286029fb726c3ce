"""Read-only tools that a model may use while it reads a failure that is larger than a packet."""

from collections.abc import Callable
from typing import Any

import msgspec


class Tool(msgspec.Struct, frozen=True):
    name: str
    description: str
    schema: dict[str, Any]
    """JSON schema of the arguments."""
    run: Callable[[dict[str, Any]], str]

    def use(self, arguments: str | dict[str, Any] | None) -> str:
        """What the model's arguments give; a mistake in them is told to the model, it ends nothing."""
        try:
            given = msgspec.json.decode(arguments) if isinstance(arguments, str) else arguments or {}
            return self.run(given if isinstance(given, dict) else {})
        except (msgspec.DecodeError, KeyError, TypeError, ValueError) as error:
            return f"These arguments can't be used: {error}"
