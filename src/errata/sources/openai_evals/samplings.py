"""Prompts and sampled replies. If a model grades, its reply is recorded last, after those of the subject."""

from typing import Any

from msgspec.structs import replace

from errata.model import Actor, Step, ToolCall, Usage
from errata.model.usage import NO_USAGE, total_of
from errata.sources.base import Row
from errata.sources.shared.chat import steps_of_chat
from errata.sources.shared.values import as_text, count, mapping, moment, non_empty, plain, rest, sequence, text

_SAMPLING = ("prompt", "sampled", "usage", "model")


class Samplings:
    def __init__(self, samplings: list[Row], calls: list[Row]) -> None:
        self._samplings = [(mapping(row.data.get("data")), row) for row in samplings]
        self._calls = calls

    @property
    def first_prompt(self) -> Any:
        return self._samplings[0][0].get("prompt") if self._samplings else None

    @property
    def sampled(self) -> list[Any]:
        return [data.get("sampled") for data, _ in self._samplings]

    @property
    def judge_step(self) -> Step | None:
        """The judge's reply."""
        return self._answer(len(self._samplings) - 1, judge=True) if self._samplings else None

    def answer(self, *, judged: bool) -> str | None:
        own = self._own(judged=judged)
        return _first(own[-1].get("sampled")) if own else None

    def usage(self, *, judged: bool) -> Usage:
        usages = [mapping(data.get("usage")) for data in self._own(judged=judged)]
        if not any(usages):
            return NO_USAGE
        return Usage(
            input=total_of(count(one.get("prompt_tokens")) for one in usages),
            output=total_of(count(one.get("completion_tokens")) for one in usages),
            total=total_of(count(one.get("total_tokens")) for one in usages),
            requests=len(usages),
        )

    def steps(self, *, judged: bool) -> tuple[Step, ...]:
        steps: list[Step] = []
        last = len(self._samplings) - 1
        for at, (data, _) in enumerate(self._samplings):
            steps += [
                replace(step, index=len(steps) + number) for number, step in enumerate(_prompt(data.get("prompt")))
            ]
            steps.append(replace(self._answer(at, judge=judged and at == last), index=len(steps)))
        steps += [_call(row, len(steps) + at) for at, row in enumerate(self._calls)]
        return tuple(steps)

    def _own(self, *, judged: bool) -> list[dict[str, Any]]:
        return [data for data, _ in (self._samplings[:-1] if judged else self._samplings)]

    def _answer(self, at: int, *, judge: bool) -> Step:
        data, row = self._samplings[at]
        sampled = data.get("sampled")
        others = sequence(sampled)[1:]
        return Step(
            index=0,
            actor=Actor(role="judge" if judge else "assistant"),
            kind="model_call",
            text=_first(sampled) or "",
            ended_at=moment(row.data.get("created_at")),
            model=text(data.get("model")),
            extra=rest(data, _SAMPLING) | non_empty(other_samples=others, usage=data.get("usage")),
        )


def _first(sampled: Any) -> str | None:
    first = sampled[0] if isinstance(sampled, list) and sampled else sampled
    return None if first is None or isinstance(first, list) else as_text(first)


def _prompt(prompt: Any) -> tuple[Step, ...]:
    if isinstance(prompt, list):
        return steps_of_chat(prompt)
    return () if prompt is None else (Step(index=0, actor=Actor(role="user"), text=as_text(prompt)),)


def _call(row: Row, at: int) -> Step:
    data = mapping(row.data.get("data"))
    name, arguments = data.get("name"), data.get("arguments")
    return Step(
        index=at,
        actor=Actor(role="assistant"),
        kind="tool_call",
        tool_calls=(ToolCall(name=text(name), arguments=plain(arguments)),),
        extra=rest(data, ("name", "arguments")),
    )
