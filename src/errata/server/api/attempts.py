"""One attempt: everything known about it, its steps page by page, and the packet that a reviewer gets."""

import msgspec

from errata.errors import NotFoundError
from errata.model import Packet
from errata.model.output.show import ShownAttemptOutput
from errata.model.step import Step
from errata.server.exchange import Endpoint, Exchange
from errata.verbs.analyze import attempt_named, show
from errata.verbs.review import packet_of

MOST_STEPS = 100


class AttemptQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    attempt: str
    """Its id, or RUN/CASE; `#2` after it means the second attempt at the case."""


class StepsQuery(AttemptQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    start: int = 0
    """How many steps to skip."""
    limit: int = MOST_STEPS


class StepPage(msgspec.Struct, frozen=True, kw_only=True):
    attempt: str
    steps: tuple[Step, ...]
    total: int
    next: int | None
    """`start` of the following page; null after the last one."""


def show_attempt(exchange: Exchange) -> ShownAttemptOutput:
    named = exchange.arguments(AttemptQuery).attempt
    shown = show(named, exchange.store).as_json()
    if not isinstance(shown, ShownAttemptOutput):
        raise NotFoundError(f"`{named}` names a run, not an attempt", hint="name a case of it: RUN/CASE")
    return shown


def show_steps(exchange: Exchange) -> StepPage:
    query = exchange.arguments(StepsQuery)
    attempt = attempt_named(query.attempt, exchange.store)
    start, limit = max(0, query.start), min(max(1, query.limit), MOST_STEPS)
    total = len(attempt.steps)
    following = start + limit if start + limit < total else None
    return StepPage(attempt=attempt.id, steps=attempt.steps[start : start + limit], total=total, next=following)


def show_packet(exchange: Exchange) -> Packet:
    attempt = attempt_named(exchange.arguments(AttemptQuery).attempt, exchange.store)
    return packet_of(attempt.id, exchange.store)


ENDPOINTS = (
    Endpoint(
        path="/api/attempt",
        handler=show_attempt,
        query=AttemptQuery,
        gives=ShownAttemptOutput,
        summary="Show an attempt with everything known about it.",
    ),
    Endpoint(
        path="/api/attempt/steps",
        handler=show_steps,
        query=StepsQuery,
        gives=StepPage,
        summary="List the steps of an attempt, at most 100 at a time.",
    ),
    Endpoint(
        path="/api/attempt/packet",
        handler=show_packet,
        query=AttemptQuery,
        gives=Packet,
        summary="Show the packet about an attempt, as a reviewer gets it.",
    ),
)
