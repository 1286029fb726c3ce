"""The requests that were made for one instance: mostly one, and one for each reference where these are weighed."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from errata.model import Actor, ErrorInfo, Output, Step
from errata.sources.base import Row
from errata.sources.shared.chat import steps_of_chat
from errata.sources.shared.values import known, mapping, number, plain, rest, sequence, text

_USER, _ASSISTANT = Actor(role="user"), Actor(role="assistant")
_COMPLETION = ("text", "tokens", "finish_reason")
_RESULT = ("success", "completions", "error", "error_flags", "request_time", "request_datetime")


def completions_of(state: dict[str, Any]) -> list[dict[str, Any]]:
    return [mapping(one) for one in sequence(mapping(state.get("result")).get("completions"))]


def output_of(states: list[dict[str, Any]]) -> Output:
    """Of several requests only all together are the answer: how likely each reference is."""
    if len(states) > 1:
        return Output(structured=[_weighed(state) for state in states])
    found = completions_of(states[0])
    said = text(found[0].get("text")) if found else None
    mapped = mapping(states[0].get("output_mapping")).get((said or "").strip())
    chosen = mapped if isinstance(mapped, str) else None
    return Output(text=said, answer=chosen, extraction="output_mapping" if chosen is not None else "")


def _weighed(state: dict[str, Any]) -> dict[str, Any]:
    likelihoods = [one.get("logprob") for one in completions_of(state)]
    named = {name: state.get(name) for name in ("reference_index", "request_mode")}
    return known(**named, logprobs=likelihoods)


def stop_reason(states: list[dict[str, Any]]) -> str:
    told = [one.get("finish_reason") for state in states for one in completions_of(state)[:1]]
    reason = told[0] if told else None
    return text(mapping(reason).get("reason")) if isinstance(reason, dict) else text(reason)


def errors_of(rows: tuple[Row, ...]) -> Iterator[ErrorInfo]:
    """A failed request that is not fatal is scored as if it had answered with nothing."""
    for row in rows:
        result = mapping(row.data.get("result"))
        if result.get("success") is False or text(result.get("error")):
            flags = mapping(result.get("error_flags"))
            retry = flags.get("is_retriable")
            yield ErrorInfo(
                type="request_failed",
                message=text(result.get("error")),
                phase="subject",
                retryable=retry if isinstance(retry, bool) else None,
                extra=rest(flags, ("is_retriable",)),
                ref=row.ref.below("result", "error"),
            )


def steps_of(states: list[dict[str, Any]]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for state in states:
        request = mapping(state.get("request"))
        asked = steps_of_chat(sequence(request.get("messages"))) or _prompt(request)
        named = {name: state.get(name) for name in ("reference_index", "request_mode")}
        first = len(steps)
        steps += [replace(step, index=first + at, extra=step.extra | known(**named)) for at, step in enumerate(asked)]
        for try_, one in enumerate(completions_of(state), start=1):
            steps.append(_answer(one, len(steps), try_, named))
    return tuple(steps)


def _prompt(request: dict[str, Any]) -> tuple[Step, ...]:
    told = request.get("prompt")
    return (Step(index=0, actor=_USER, text=told),) if isinstance(told, str) else ()


def _answer(one: dict[str, Any], at: int, try_: int, named: dict[str, Any]) -> Step:
    reason = one.get("finish_reason")
    return Step(
        index=at,
        actor=_ASSISTANT,
        kind="model_call",
        try_=try_,
        text=text(one.get("text")),
        extra=rest(one, _COMPLETION) | known(finish_reason=reason, **named),
    )


def duration_of(states: list[dict[str, Any]]) -> float | None:
    told = [number(mapping(state.get("result")).get("request_time")) for state in states]
    found = [one for one in told if one is not None]
    return sum(found) if found else None


def beside(state: dict[str, Any], adapter: dict[str, Any]) -> dict[str, Any]:
    """Of the first request and its result: what is not as the adapter says, and has no field of its own."""
    request = mapping(state.get("request"))
    asked = {name: value for name, value in request.items() if adapter.get(name) != value}
    return known(
        request=rest(asked, ("prompt", "messages")),
        result=rest(mapping(state.get("result")), _RESULT),
        output_mapping=plain(state.get("output_mapping")),
    )
