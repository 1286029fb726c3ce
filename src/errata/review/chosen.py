"""A reviewer that was chosen: who it is, where packets go, what it costs, and how it is opened."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import msgspec

from errata.model import Reviewer
from errata.review.estimate import Price
from errata.review.limits import Limits
from errata.review.protocols import AsksForVerdicts
from errata.review.reviewers.opening import ToolsFor
from errata.settings.reviewers import ReviewerSettings

MILLION = 1_000_000


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What the flags say about the reviewer."""

    reviewer: str = ""
    model: str = ""
    base_url: str = ""
    command: str = ""
    with_tools: bool = False
    allow_tools: bool = False


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    identity: Reviewer
    goes_to: str
    """Who gets what is sent: a host or a program."""
    open: Callable[[Limits, ToolsFor | None], AbstractAsyncContextManager[AsksForVerdicts]]
    price: Price
    reads_more: bool = False
    """Whether it may use tools to read what a packet leaves out."""
    per_minute: int | None = None
    tokens_per_minute: int | None = None


def no_price(_tokens_in: int, _tokens_out: int) -> float | None:
    return None


def own_price(settings: ReviewerSettings) -> Price | None:
    """As the user's settings tell it; half a price is none."""
    given, taken = settings.price_in, settings.price_out
    if given is None or taken is None:
        return None
    return lambda tokens_in, tokens_out: (tokens_in * given + tokens_out * taken) / MILLION
