"""Requests that a provider answers together within a day, for half the price. Libraries are imported only when used."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol

import msgspec

from errata.errors import SettingsError
from errata.llm.spec import AskError, ModelAnswer, ModelSpec, NoAccessError

MOST_REQUESTS, MOST_BYTES = 1_000, 48_000_000
"""In one batch. OpenAI allows 50,000 requests and 200 MB; a batch is built in memory."""
HALF_PRICE = ("openai", "openai-chat", "openai-responses")
"""Providers that publish half the price for batches."""

BatchStatus = Literal["waiting", "completed", "expired", "cancelled", "failed"]


class RemoteBatch(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    status: BatchStatus
    word: str
    """The status in the provider's own word."""
    done: int = 0
    total: int = 0
    files: tuple[str, ...] = ()
    """Answers first, then errors."""
    input_file: str = ""
    why: str = ""
    """Of one that failed as a whole."""
    created_at: float = 0.0
    mark: str = ""
    """What `create` was given, to find it again."""


class BatchRequest(NamedTuple):
    id: str
    text: str
    schema: dict[str, Any]


class BatchRow(NamedTuple):
    id: str
    """Empty where a row can't be read."""
    answer: ModelAnswer | AskError


class AsksInBatches(Protocol):
    """Every method raises an `AskError`, nothing else."""

    async def line_for(self, request: BatchRequest) -> bytes:
        """The request as one line of the input file."""
        ...

    async def upload(self, name: str, lines: Iterable[bytes]) -> str:
        """The id of the file."""
        ...

    async def create(self, input_file: str, mark: str) -> RemoteBatch: ...

    async def find(self, mark: str, *, since: float) -> RemoteBatch | None:
        """The batch with this mark, among those created since then (in seconds)."""
        ...

    async def get(self, remote: str) -> RemoteBatch:
        """Raises `GoneError` where the provider does not know it."""
        ...

    async def cancel(self, remote: str) -> RemoteBatch: ...

    def rows(self, batch: RemoteBatch) -> AsyncIterator[BatchRow]:
        """Answers first, then errors."""
        ...

    async def discard(self, files: Sequence[str]) -> None:
        """Deletes them as far as possible."""
        ...

    async def discard_named(self, name: str) -> None:
        """Deletes the input file of a batch that was never created, as far as possible."""
        ...

    async def close(self) -> None: ...


def at_batch_price(spec: ModelSpec) -> ModelSpec:
    """At half the price where the provider publishes it. A server of the user's own has the user's price."""
    is_half = not spec.base_url and spec.name.partition(":")[0] in HALF_PRICE
    return msgspec.structs.replace(spec, price_factor=0.5) if is_half else spec


def open_batches(spec: ModelSpec, *, timeout: float) -> AsksInBatches:
    from errata.llm.batches import BatchService  # noqa: PLC0415 pydantic-ai takes a second to import

    try:
        return BatchService(spec, timeout=timeout)
    except NoAccessError as error:
        hint = "name a model as `provider:model`, such as `openai:gpt-5`, and set its key"
        raise SettingsError(f"The model `{spec.name}` can't be used: {error}", hint=hint) from error
