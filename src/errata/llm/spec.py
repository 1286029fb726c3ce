"""Which model is asked, and how. Nothing here imports a library."""

import msgspec


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


class NotNowError(Exception):
    """A rate limit, an outage, a broken connection; `after` seconds where the provider named a time."""

    def __init__(self, why: str, after: float | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.after = after


class RefusedError(Exception):
    """This request was refused or its answer is of no use: too long, filtered, no text."""


class NoAccessError(Exception):
    """No request will be served: the key, the model's name, the quota or the address is wrong."""
