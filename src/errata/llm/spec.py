"""Which model is asked, what it says, and how asking fails. Nothing here imports a library."""

from typing import Any, Protocol

import msgspec

from errata.llm.tools import Tool
from errata.model import Usage
from errata.model.usage import NO_USAGE


class ModelSpec(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """`provider:model` as pydantic-ai names them; with `base_url`, the name that the server knows."""
    base_url: str = ""
    """Of a server that speaks OpenAI's protocol."""
    key_name: str = ""
    """The environment variable that holds the key; empty for the provider's own."""
    temperature: float | None = None
    max_output_tokens: int = 4_000
    price_in: float | None = None
    """Dollars a million tokens, where the price list does not know the model."""
    price_out: float | None = None


class Said(msgspec.Struct, frozen=True):
    text: str
    usage: Usage


class Asks(Protocol):
    """An open connection to a model."""

    async def ask(self, text: str, schema: dict[str, Any], tools: tuple[Tool, ...] = ()) -> Said:
        """Raises `NotNowError`, `RefusedError` or `NoAccessError`, nothing else."""
        ...

    async def close(self) -> None: ...


class AskError(Exception):
    """There is no answer."""

    usage: Usage = NO_USAGE
    """What is known to be owed all the same."""
    in_doubt: bool = False
    """Whether the provider may have done the work, and may want to be paid for it."""


class NotNowError(AskError):
    """A rate limit, an outage, a broken connection; `after` seconds where the provider named a time."""

    def __init__(self, why: str, after: float | None = None, *, in_doubt: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.after = after
        self.in_doubt = in_doubt


class RefusedError(AskError):
    """This request was refused or its answer is of no use: too long, filtered, no text."""


class NoAccessError(AskError):
    """No request will be served: the key, the model's name, the quota or the address is wrong."""
