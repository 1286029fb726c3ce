"""Asking a provider on loopback, one request a time."""

import asyncio
from typing import Any

from soak.plans import Plan, in_turn
from soak.provider import Provider

from errata.llm.asking import Asking
from errata.llm.spec import AskError, ModelSpec, Tool

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"label": {"type": "string"}},
    "required": ["label"],
    "additionalProperties": False,
}
PATIENCE = 0.3


def ask(kind, **changes):
    """What came back, an answer or an error, and the provider that was asked."""
    return ask_plan(in_turn(kind), **changes)


def ask_plan(plan: Plan, *, text: str = "Which label?", tools: tuple[Tool, ...] = (), **changes: Any):
    async def once():
        async with Provider(plan) as provider:
            asking = Asking(
                ModelSpec(**{"name": "m", "base_url": provider.url} | changes), timeout=PATIENCE, parallel=2
            )
            try:
                return await asking.ask(text, SCHEMA, tools), provider
            except AskError as error:
                return error, provider
            finally:
                await asking.close()

    return asyncio.run(once())
