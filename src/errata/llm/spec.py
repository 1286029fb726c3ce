"""Which model to ask, what it costs, its answer, and how a request fails. Libraries are imported only when used."""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from errata.errors import SettingsError, extra_hint
from errata.model import Usage
from errata.model.usage import NO_USAGE
from errata.text.clean import one_line

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
    """Dollars per million tokens, for models that are not on the price list."""
    price_out: float | None = None
    price_factor: float = 1.0
    """Of the price that is billed: 0.5 for a batch where the vendor charges half."""


class ModelAnswer(msgspec.Struct, frozen=True):
    text: str
    usage: Usage


class Asks(Protocol):
    """An open connection to a model."""

    async def ask(self, text: str, schema: dict[str, Any], tools: tuple[Tool, ...] = ()) -> ModelAnswer:
        """Raises `NotNowError`, `RefusedError` or `NoAccessError`, nothing else."""
        ...

    async def close(self) -> None: ...


class AskError(Exception):
    """A request without an answer."""

    usage: Usage = NO_USAGE
    """The usage that is known to be billed all the same."""
    in_doubt: bool = False
    """Whether the provider may have done the work and may bill it."""


class NotNowError(AskError):
    """A rate limit, an outage, a broken connection; `after` seconds where the provider named a time."""

    def __init__(self, why: str, after: float | None = None, *, in_doubt: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.after = after
        self.in_doubt = in_doubt


class GoneError(AskError):
    """What was asked for is not there: HTTP 404."""


class RefusedError(AskError):
    """The request was rejected or its answer is unusable: too long, filtered, no text."""


class NoAccessError(AskError):
    """No request will be served: the key, the model's name, the quota or the address is wrong."""


def open_model(spec: ModelSpec, *, timeout: float, parallel: int) -> Asks:
    try:
        # pydantic-ai takes a second to import, and most commands ask no model
        from errata.llm.asking import Asking  # noqa: PLC0415
    except ImportError as error:
        raise SettingsError(
            f"Asking a model needs `{error.name}`, which is not installed",
            hint=extra_hint("llm"),
        ) from error
    try:
        return Asking(spec, timeout=timeout, parallel=parallel)
    except NoAccessError as error:
        raise SettingsError(f"The model `{spec.name}` can't be used: {error}", hint=_HINT) from error


_HINT = (
    "name a model as `provider:model`, such as `openai:gpt-5`; a server of your own needs its address.\n"
    "Keys come from the provider's environment variable, or from the one in the configuration"
)


MILLION = 1_000_000


def cost_of(spec: ModelSpec, tokens_in: int, tokens_out: int) -> float | None:
    """Dollars; none if unknown. A user's own server has no price unless both prices are configured."""
    if spec.price_in is not None and spec.price_out is not None:
        return spec.price_factor * (tokens_in * spec.price_in + tokens_out * spec.price_out) / MILLION
    if spec.base_url or spec.price_in is not None or spec.price_out is not None:
        return None
    listed = _listed(spec.name, tokens_in, tokens_out)
    return None if listed is None else spec.price_factor * listed


def _listed(name: str, tokens_in: int, tokens_out: int) -> float | None:
    from genai_prices import Usage, calc_price  # noqa: PLC0415 the list is long, and most commands need no price

    provider, _, model = name.rpartition(":")
    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    try:
        return float(calc_price(usage, model, provider_id=provider or None).total_price)
    except LookupError:
        return None


# --- read-only tools for reviewing a failure that is larger than a packet


MOST_BYTES = 16_000
"""The most that tools return between two requests of a model."""
FULL = "Too much at once"
WIDTH = 200


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
