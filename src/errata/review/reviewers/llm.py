"""A language model as reviewer: opened for the time of a review, and what a call of it costs."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from errata.llm.spec import MOST_BYTES as TOOL_BYTES
from errata.llm.spec import Asks, ModelSpec, NoAccessError, NotNowError, RefusedError, Tool, cost_of, open_model
from errata.model import Packet, Reviewer
from errata.review.protocols import (
    AsksForVerdicts,
    Price,
    Prompt,
    RetryLaterError,
    ReviewerAnswer,
    ReviewerStoppedError,
    ReviewFailedError,
)
from errata.review.spending import Limits

__all__ = ["NEEDED", "TOOL_BYTES", "ModelSpec", "Tool", "ToolsFor", "opened_model", "price_of"]


ToolsFor = Callable[[Packet], tuple[Tool, ...]]


class ModelReviewer:
    def __init__(self, asking: Asks, identity: Reviewer, tools: ToolsFor | None = None) -> None:
        self._asking = asking
        self.identity = identity
        self._tools = tools

    async def ask(self, prompt: Prompt, packet: Packet) -> ReviewerAnswer:
        tools = self._tools(packet) if self._tools else ()
        try:
            answer = await self._asking.ask(prompt.text, prompt.schema, tools)
        except NotNowError as error:
            raise RetryLaterError(error.why, error.after, usage=error.usage, in_doubt=error.in_doubt) from error
        except RefusedError as error:
            raise ReviewFailedError(str(error), usage=error.usage) from error
        except NoAccessError as error:
            raise ReviewerStoppedError(str(error), usage=error.usage) from error
        return ReviewerAnswer(answer.text, answer.usage)


NEEDED = ("pydantic_ai", "httpx2", "genai_prices")
"""What the extra `llm` brings."""


@asynccontextmanager
async def opened_model(
    spec: ModelSpec, identity: Reviewer, limits: Limits, tools: ToolsFor | None
) -> AsyncIterator[AsksForVerdicts]:
    asking = open_model(spec, timeout=limits.timeout, parallel=limits.parallel)
    try:
        yield ModelReviewer(asking, identity, tools)
    finally:
        await asking.close()


def price_of(spec: ModelSpec) -> Price:
    return lambda tokens_in, tokens_out: cost_of(spec, tokens_in, tokens_out)
