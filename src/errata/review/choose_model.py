"""A model as the chosen reviewer: what changes its answers is part of its name, and its price is known or not."""

from importlib.util import find_spec
from urllib.parse import urlsplit

from errata.errors import SettingsError
from errata.model import Reviewer
from errata.review.chosen import Chosen, Wish
from errata.review.reviewers.opening import NEEDED, ModelSpec, opened_model, price_of
from errata.settings.reviewers import ReviewerSettings


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
    host = urlsplit(spec.base_url).netloc if spec.base_url else spec.name.partition(":")[0]
    return Chosen(
        identity=identity,
        goes_to=f"`{host}`, model `{spec.name}`",
        open=lambda limits, tools: opened_model(spec, identity, limits, tools),
        price=price_of(spec),
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
