"""A review before it begins: which failures would be reviewed by whom, what that would cost, what would be sent."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec

from errata.errors import SettingsError
from errata.model import Packet, ReviewBatch, ReviewCall, StoredRun, Usage
from errata.model.filters import Filters
from errata.model.output.review import EstimateOutput
from errata.model.record import Struct
from errata.model.standing import base_name_of
from errata.review.choose_reviewer import ChosenReviewer
from errata.review.excerpts import weight
from errata.review.inherit import MACHINERY
from errata.review.material import RunContext
from errata.review.prompts import fresh_marker, prompt_for
from errata.review.protocols import Price, Prompt
from errata.review.queue import Queue, QueueKind, WaitingFailure
from errata.review.reviewers.llm import TOOL_BYTES
from errata.review.spending import OUTPUT_TOKENS, Limits

BYTES_A_TOKEN = 3.6
"""For code and logs. Prose has more, so the estimate is rather too high; other scripts have more bytes per letter."""
REPAIRED = 0.15
"""The share of answers that need a second round; the estimate includes it and shows it."""
MOST_OUTPUT = 4_000
"""Tokens of an answer; a model is not allowed more."""
ROUNDS, MOST_ROUNDS = 4, 12
"""How many requests a model with tools makes, usually and at most."""
DEFINITIONS = 2_000
"""Tokens for the descriptions of the tools."""


def tokens_in(text: str) -> int:
    return int(weight(text) / BYTES_A_TOKEN) + 1


def estimate_of(prompt: Prompt, price: Price) -> Usage:
    """Of one call."""
    given = tokens_in(prompt.text)
    cost = price(given, OUTPUT_TOKENS)
    return Usage(input=given, output=OUTPUT_TOKENS, cost=cost, cost_source="unknown" if cost is None else "estimated")


IsKnown = Callable[[Packet, Prompt], bool]
"""Whether the answer is stored already."""


def estimate_passes(
    packets: Iterable[Packet], prompt: Callable[[Packet], Prompt], passes: Sequence[tuple[IsKnown, Price]]
) -> list[EstimateOutput]:
    """One for each pass over the same packets, which are made once."""
    whole = 0
    calls, given = [0] * len(passes), [0] * len(passes)
    for packet in packets:
        whole += 1
        asked = prompt(packet)
        size = tokens_in(asked.text)
        for at, (known, _) in enumerate(passes):
            if not known(packet, asked):
                calls[at] += 1
                given[at] += size
    return [_estimate(whole, *counts) for counts in zip(calls, given, (price for _, price in passes), strict=True)]


def _estimate(packets: int, calls: int, given: int, price: Price) -> EstimateOutput:
    given, out = int(given * (1 + REPAIRED)), int(calls * OUTPUT_TOKENS * (1 + REPAIRED))
    return EstimateOutput(
        packets=packets,
        calls=calls,
        cached=packets - calls,
        tokens_in=given,
        tokens_out=out,
        cost=price(given, out) if calls else 0.0,
    )


def total_estimate(passes: Sequence[EstimateOutput]) -> EstimateOutput:
    """Of all passes; an unknown price makes the whole unknown."""
    costs = [one.cost for one in passes]
    return EstimateOutput(
        packets=passes[0].packets,
        calls=sum(one.calls for one in passes),
        cached=sum(one.cached for one in passes),
        tokens_in=sum(one.tokens_in for one in passes),
        tokens_out=sum(one.tokens_out for one in passes),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


class ReviewRequest(Struct):
    chosen: ChosenReviewer
    limits: Limits = Limits()
    filters: Filters = Filters()
    wanted: QueueKind = "unread"
    at_most: int | None = None
    taxonomy: str = ""
    blind: bool = False
    passes: Literal[1, 2] = 1
    """Two: two independent readings, and an adjudication where they differ."""
    second: ChosenReviewer | None = None
    """Who makes the second of two readings; none for the same reviewer."""
    batch: bool = False
    """What is not answered goes into a batch."""

    @property
    def second_reader(self) -> ChosenReviewer:
        """A second reading by the same reviewer goes by a name of its own."""
        chosen = self.second or self.chosen
        if base_name_of(chosen.identity) != base_name_of(self.chosen.identity):
            return chosen
        return msgspec.structs.replace(chosen, identity=msgspec.structs.replace(chosen.identity, reading="2"))

    @property
    def adjudicator(self) -> ChosenReviewer:
        identity = msgspec.structs.replace(self.chosen.identity, reading="adjudication")
        return msgspec.structs.replace(self.chosen, identity=identity)


class PlannedRun(msgspec.Struct, frozen=True):
    """The failures of a run to review."""

    context: RunContext
    queue: Queue
    first: tuple[str, ...]
    then: tuple[str, ...]
    """The same crash as one of the first: they may inherit its verdict."""
    in_batch: int = 0
    """Not planned: they wait in a batch of this reviewer, or for the verdict on the same crash there."""
    meanwhile: int = 0
    """Planned because a batch has the answer, although others have reviewed them meanwhile."""

    @property
    def stored(self) -> StoredRun:
        return self.context.stored

    @property
    def attempts(self) -> tuple[str, ...]:
        return (*self.first, *self.then)


class ReviewPlan(Struct):
    request: ReviewRequest
    parts: tuple[PlannedRun, ...]
    left_out: dict[str, int]
    """How many of each group are waiting but not planned this time."""
    estimate: EstimateOutput
    downloaded: tuple[ReviewBatch, ...] = ()
    """Batches whose answers are to be judged."""
    lost: tuple[ReviewCall, ...] = ()
    """Calls of processes that died before the answer was stored; they may have been billed, and are reported once."""

    @property
    def packets(self) -> int:
        return sum(len(part.attempts) for part in self.parts)


def prompt_of(packet: Packet) -> Prompt:
    return prompt_for(packet, marker=fresh_marker(packet))


def estimated(chosen: ChosenReviewer, prompt: Prompt) -> Usage:
    """Of one call, as far as one can tell."""
    if not chosen.reads_more:
        return estimate_of(prompt, chosen.price)
    estimate = estimate_of(prompt, chosen.price)
    return _usage(chosen, ROUNDS * (estimate.input or 0), ROUNDS * (estimate.output or 0) // 2)


def at_most(chosen: ChosenReviewer, prompt: Prompt) -> Usage:
    """Of one call: what it can't go over."""
    given = weight(prompt.text) + weight(str(prompt.schema))  # no token is less than a byte
    if not chosen.reads_more:
        return _usage(chosen, given, MOST_OUTPUT)
    # each request repeats the conversation: the tool calls, and for each as much again around its result
    read = (2 * MOST_OUTPUT + TOOL_BYTES) * sum(range(MOST_ROUNDS))
    return _usage(chosen, (given + DEFINITIONS) * MOST_ROUNDS + read, MOST_OUTPUT * MOST_ROUNDS)


def refuse_unpriced_cap(plan: ReviewPlan) -> None:
    """A cap on money that nobody can keep is none."""
    if plan.request.limits.max_cost is not None and plan.estimate.calls and plan.estimate.cost is None:
        raise SettingsError(
            f"`--max-cost` can't be enforced: the price of {plan.request.chosen.goes_to} is unknown",
            hint="cap it with `--max-tokens N`, or set its price: `price_in` and `price_out`, in dollars a million "
            "tokens, of a reviewer in your settings",
        )


def _usage(chosen: ChosenReviewer, given: int, taken: int) -> Usage:
    cost = chosen.price(given, taken)
    return Usage(input=given, output=taken, cost=cost, cost_source="unknown" if cost is None else "estimated")


def with_tools(estimate: EstimateOutput, chosen: ChosenReviewer) -> EstimateOutput:
    """With tools, every request repeats the conversation so far."""
    if not chosen.reads_more or not estimate.calls:
        return estimate
    given, taken = ROUNDS * estimate.tokens_in, ROUNDS * estimate.tokens_out // 2
    return msgspec.structs.replace(estimate, tokens_in=given, tokens_out=taken, cost=chosen.price(given, taken))


def leaders_first(waiting: Sequence[WaitingFailure]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """One of each crash comes first; what it is found to be may do for the others."""
    seen: set[str] = set()
    first: list[str] = []
    then: list[str] = []
    for failure in waiting:
        repeated = failure.owner in MACHINERY and failure.key.exact in seen
        seen.add(failure.key.exact)
        (then if repeated else first).append(failure.attempt)
    return tuple(first), tuple(then)
