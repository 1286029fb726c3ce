"""A model that can be asked: opened for the time of a review, and what a call of it costs."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from errata.llm.opening import open_model
from errata.llm.prices import cost_of
from errata.llm.spec import ModelSpec
from errata.llm.tools import MOST_BYTES as TOOL_BYTES
from errata.llm.tools import Tool
from errata.model import Packet, Reviewer
from errata.review.estimate import Price
from errata.review.limits import Limits
from errata.review.protocols import AsksForVerdicts
from errata.review.reviewers.llm import ModelReviewer

NEEDED = ("pydantic_ai", "httpx2", "genai_prices")
"""What the extra `llm` brings."""

ToolsFor = Callable[[Packet], tuple[Tool, ...]]


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


__all__ = ["NEEDED", "TOOL_BYTES", "ModelSpec", "Tool", "ToolsFor", "opened_model", "price_of"]
