"""The ledger beside the provider's own log: every request has its call, and every call what became of it."""

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from errata.model import ReviewCall
from soak.wire import WAYS

KILLED = "the process ended before the answer was stored"
ANSWERED = frozenset(("wrong_type",))
TURNED_AWAY = frozenset(kind for kind in WAYS if kind.startswith("rate_limited")) | {
    *("internal_error", "bad_gateway", "unavailable", "filtered")
}


class Request(NamedTuple):
    about: str
    round: int
    kind: str
    tokens: int | None


def state_after(kind: str) -> str:
    """What the ledger must say of a request that got such an answer, where nobody died meanwhile."""
    if kind in TURNED_AWAY:
        return "failed"
    return "lost" if kind in WAYS and kind not in ANSWERED else "answered"


def requests_in(log: Path) -> list[Request]:
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert not any("strayed" in row for row in rows), "somebody followed a redirect"
    return [Request(row["about"], row["round"], row["kind"], row["tokens"]) for row in rows]


def compare(calls: list[ReviewCall], requests: list[Request]) -> None:
    """`AssertionError` where one has what the other lacks."""
    ours: dict[tuple[str, int], list[ReviewCall]] = defaultdict(list)
    theirs: dict[tuple[str, int], list[Request]] = defaultdict(list)
    for call in calls:
        ours[call.attempt.partition(":")[2], call.round].append(call)
    for request in requests:
        theirs[request.about, request.round].append(request)
    assert set(theirs) <= set(ours), "the provider was asked about something that is not in the ledger"
    for question, listed in ours.items():
        _compare_one(question, listed, theirs[question])
        _never_again(question, listed)


def _compare_one(question: tuple[str, int], calls: list[ReviewCall], requests: list[Request]) -> None:
    states = f"{question}: the ledger has {Counter(call.state for call in calls)}, the provider {requests}"
    expected = Counter(state_after(request.kind) for request in requests)
    for state in ("answered", "failed"):
        assert sum(call.state == state for call in calls) <= expected[state], states
    killed = sum(call.why == KILLED for call in calls)
    assert len(calls) - killed <= len(requests) <= len(calls), states
    tokens = Counter(request.tokens for request in requests if state_after(request.kind) == "answered")
    for call in calls:
        if call.state == "answered" and call.usage.tokens is not None:
            assert tokens[call.usage.tokens] > 0, f"{states}: {call.usage.tokens} tokens are in one book only"


def _never_again(question: tuple[str, int], calls: list[ReviewCall]) -> None:
    answered = [call for call in calls if call.state == "answered"]
    assert len({call.cache_key for call in calls}) == 1, f"{question}: one question, several keys"
    assert len(answered) <= 1, f"{question} was answered {len(answered)} times"
    for call in calls:
        after = bool(answered) and call.started_at > (answered[0].ended_at or "")
        assert not after, f"{question} was asked again after its answer was stored"
