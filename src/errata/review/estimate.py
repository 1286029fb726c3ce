"""What a review would cost, before a cent is spent."""

from collections.abc import Callable, Iterable

import msgspec

from errata.model import Packet, Usage
from errata.review.limits import OUTPUT_TOKENS
from errata.review.protocols import Prompt
from errata.review.windows import weight

BYTES_A_TOKEN = 3.6
"""Of code and logs; prose has more, so that the estimate is rather too high. Other scripts have more bytes a letter."""
REPAIRED = 0.15
"""Of the answers, so many need a second round; part of the estimate, and said."""

Price = Callable[[int, int], float | None]
"""Input and output tokens → dollars, none where unknown."""


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    packets: int
    calls: int
    """Without those whose answer is stored already."""
    cached: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    """None where the price of the model is not known."""


def tokens_in(text: str) -> int:
    return int(weight(text) / BYTES_A_TOKEN) + 1


def estimate_of(prompt: Prompt, price: Price) -> Usage:
    """Of one call."""
    given = tokens_in(prompt.text)
    cost = price(given, OUTPUT_TOKENS)
    return Usage(input=given, output=OUTPUT_TOKENS, cost=cost, cost_source="unknown" if cost is None else "estimated")


def estimate_all(
    packets: Iterable[Packet], prompt: Callable[[Packet], Prompt], known: Callable[[Packet, Prompt], bool], price: Price
) -> Estimate:
    whole = calls = cached = given = 0
    for packet in packets:
        whole += 1
        asked = prompt(packet)
        if known(packet, asked):
            cached += 1
            continue
        calls += 1
        given += tokens_in(asked.text)
    given, out = int(given * (1 + REPAIRED)), int(calls * OUTPUT_TOKENS * (1 + REPAIRED))
    return Estimate(
        packets=whole,
        calls=calls,
        cached=cached,
        tokens_in=given,
        tokens_out=out,
        cost=price(given, out) if calls else 0.0,
    )
