"""Which answer the first, second, third … request about a packet gets."""

import random
from collections.abc import Callable

Plan = Callable[[str, int], str]
"""Case and attempt, how often it was asked about before → the kind of answer: a name of `wire` or `answers`."""

MIX: dict[str, int] = {
    "holds": 46,
    **dict.fromkeys(("rate_limited", "rate_limited_milliseconds", "internal_error", "bad_gateway", "unavailable"), 3),
    **dict.fromkeys(("rate_limited_seconds", "rate_limited_date", "hang", "slow_drip", "flood"), 1),
    **dict.fromkeys(("half_closed", "closed_at_once", "truncated", "other_shape", "no_choices", "nothing"), 2),
    **dict.fromkeys(("not_http", "html", "wrong_type", "wrong_encoding", "bomb", "filtered", "deep"), 1),
    **dict.fromkeys(("invented", "altered", "wrong_place", "wrong_label", "obeys", "persuaded"), 4),
    **dict.fromkeys(("unproven", "too_short", "own_words", "long"), 1),
    **dict.fromkeys(("empty", "no_content", "prose", "cut_short", "array", "fenced"), 2),
    **dict.fromkeys(("half_characters", "no_usage", "absurd_usage"), 1),
}
"""Kind → how often. A redirect and a refused key are not among them: they end a review, as they should."""


def friendly(_about: str, _before: int) -> str:
    return "holds"


def hostile(seed: int) -> Plan:
    """The same for the same packet and request, in whatever order they come."""
    kinds, weights = list(MIX), list(MIX.values())

    def plan(about: str, before: int) -> str:
        return random.Random(f"{seed}/{about}/{before}").choices(kinds, weights)[0]

    return plan


def in_turn(*kinds: str) -> Plan:
    """One after the other, and then the last for ever."""
    return lambda _about, before: kinds[min(before, len(kinds) - 1)]


def plan_for(name: str, seed: int) -> Plan:
    """`friendly`, `hostile`, or kinds with commas between them."""
    return friendly if name == "friendly" else hostile(seed) if name == "hostile" else in_turn(*name.split(","))
