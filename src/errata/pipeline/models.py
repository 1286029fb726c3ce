"""A model as the chosen reviewer: what changes its answers is part of its name, and its price is known or not."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from urllib.parse import urlsplit

from errata.errors import SettingsError
from errata.llm.opening import open_model
from errata.llm.prices import cost_of
from errata.llm.spec import ModelSpec
from errata.model import Reviewer
from errata.pipeline.chosen import Chosen, ToolsFor, Wish, own_price
from errata.review.limits import Limits
from errata.review.protocols import AsksForVerdicts
from errata.review.reviewers.llm import ModelReviewer
from errata.settings.reviewers import ReviewerSettings

NEEDED = ("pydantic_ai", "httpx2", "genai_prices")
"""What the extra `llm` brings."""


def chosen_model(name: str, settings: ReviewerSettings, wish: Wish) -> Chosen:
    _refuse_without_extra()
    spec = ModelSpec(
        name=settings.model,
        base_url=settings.base_url,
        key_name=settings.key_name,
        temperature=settings.temperature,
        price_in=settings.price_in,
        price_out=settings.price_out,
    )
    identity = Reviewer(kind="llm", name=name or spec.name, version=_version_of(spec, name, wish))

    @asynccontextmanager
    async def opened(limits: Limits, tools: ToolsFor | None) -> AsyncIterator[AsksForVerdicts]:
        asking = open_model(spec, timeout=limits.timeout, parallel=limits.parallel)
        try:
            yield ModelReviewer(asking, identity, tools)
        finally:
            await asking.close()

    host = urlsplit(spec.base_url).netloc if spec.base_url else spec.name.partition(":")[0]
    return Chosen(
        identity=identity,
        goes_to=f"`{host}`, model `{spec.name}`",
        open=opened,
        price=own_price(settings) or (lambda tokens_in, tokens_out: cost_of(spec, tokens_in, tokens_out)),
        reads_more=wish.with_tools,
        per_minute=settings.per_minute,
        tokens_per_minute=settings.tokens_per_minute,
    )


def _refuse_without_extra() -> None:
    missing = next((one for one in NEEDED if find_spec(one) is None), "")
    if missing:
        told = f"Asking a model needs the package `{missing}`, which is not installed"
        raise SettingsError(told, hint="`pip install 'errata[llm]'` brings it")


def _version_of(spec: ModelSpec, name: str, wish: Wish) -> str:
    """What changes an answer beside the name: what the old one answered is not taken for the new one's."""
    parts = [spec.name if name else "", urlsplit(spec.base_url).netloc]
    parts += [f"t={spec.temperature:g}" if spec.temperature is not None else "", "tools" if wish.with_tools else ""]
    return "+".join(part for part in parts if part)
