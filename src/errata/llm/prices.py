"""What tokens cost: the user's own figures first, else the price list that comes with pydantic-ai; else unknown."""

from errata.llm.spec import ModelSpec

MILLION = 1_000_000


def cost_of(spec: ModelSpec, tokens_in: int, tokens_out: int) -> float | None:
    """Dollars; none where nobody knows. A server of one's own has no price unless both figures are given."""
    if spec.price_in is not None and spec.price_out is not None:
        return (tokens_in * spec.price_in + tokens_out * spec.price_out) / MILLION
    if spec.base_url or spec.price_in is not None or spec.price_out is not None:
        return None
    return _listed(spec.name, tokens_in, tokens_out)


def _listed(name: str, tokens_in: int, tokens_out: int) -> float | None:
    from genai_prices import Usage, calc_price  # noqa: PLC0415 the list is long, and most commands need no price

    provider, _, model = name.rpartition(":")
    usage = Usage(input_tokens=tokens_in, output_tokens=tokens_out)
    try:
        return float(calc_price(usage, model, provider_id=provider or None).total_price)
    except LookupError:
        return None
