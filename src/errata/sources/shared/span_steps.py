"""Spans → the steps of a transcript: what was said, which tools were called and what they gave, and what else happened.

Each call of a model repeats the conversation so far; what was told once is not told again.
"""

from collections import Counter
from typing import Any

from msgspec.structs import replace

from errata.model import Actor, Step, ToolCall, ToolError, ToolResult, Usage
from errata.model.words import ActorRole, StepKind
from errata.sources.shared.chat import steps_of_chat
from errata.sources.shared.spans import TOP, Place, Span, Tree
from errata.sources.shared.steps import STEPS_CAP, Talk
from errata.sources.shared.usage import sum_of
from errata.sources.shared.values import as_text, known, plain

Mark = tuple[str, str, tuple[str, ...]]


class Transcript:
    def __init__(self, tree: Tree, *, tells_top: bool = True) -> None:
        """`tells_top` where what the first span was given and gave is told as the case and the answer."""
        self._tree, self._tells_top = tree, tells_top
        self._talk = Talk()
        self._told: Counter[Mark] = Counter()
        self._open: dict[str, str] = {}
        """Calls that nobody answered yet: id → name."""
        self._results: dict[str, str] = {}
        self._at: list[int | None] = []
        self.answer: str | None = None
        self.stopped = ""
        speakers = [place.span.kind == "model" and bool(place.span.answered) for place in tree.places]
        # a framework and the library that it calls record one and the same call: the inner one tells it
        repeated = tree.any_below(speakers)
        for at, place in enumerate(tree.places):
            self._at.append(self._tell(place, repeats=repeated[at]))

    @property
    def steps(self) -> tuple[Step, ...]:
        return self._talk.steps

    @property
    def left_out(self) -> int:
        return self._talk.left_out

    @property
    def asked(self) -> list[dict[str, Any]]:
        """What was said before the first answer, as messages."""
        said = []
        for step in self._talk.steps:
            if step.kind == "model_call" and step.actor.role == "assistant":
                break
            if step.kind == "message" and step.actor.role in ("system", "user"):
                said.append({"role": step.actor.role, "content": step.text})
        return said

    def usage(self, *, judged: bool) -> Usage:
        """Of the innermost spans that tell it: those above them mostly tell the sum."""
        spent = [place.span.usage is not None for place in self._tree.places]
        summed = self._tree.any_below(spent)
        told = [
            place.span.usage
            for at, place in enumerate(self._tree.places)
            if place.span.usage is not None and not summed[at] and place.judged is judged
        ]
        return sum_of(told)

    def _tell(self, place: Place, *, repeats: bool) -> int | None:
        span = place.span
        if span.kind == "model" and not repeats:
            return self._call(place)
        if span.kind == "tool" and span.call is not None:
            return self._tool(place, span.call)
        kind: StepKind = "score" if span.kind == "judge" else "log"
        role: ActorRole = "judge" if place.judged else "environment"
        if span.kind == "agent" and place.above != TOP and not place.judged:
            kind, role = "handoff", "assistant"
        is_told = self._tells_top and span is self._tree.top
        told = {} if is_told else known(input=span.input, output=span.output)
        return self._add(place, Step(index=0, actor=Actor(role=role), kind=kind, text=span.name, extra=told))

    def _call(self, place: Place) -> int | None:
        span = place.span
        if not place.judged:
            self._hear(place)
        said = steps_of_chat(span.answered) or (Step(index=0, actor=Actor(role="assistant")),)
        for number, step in enumerate(said[1:], start=2):
            self._add(place, replace(step, try_=number), whole=False)
        first = replace(
            said[0], kind="model_call", actor=Actor(role="assistant", name=said[0].actor.name), usage=span.usage
        )
        if place.judged:
            asked: Any = {"type": "input", "messages": plain(span.asked)}
            return self._add(place, replace(first, actor=Actor(role="judge"), parts=(*first.parts, asked)))
        self._told[_mark(first)] += 1
        self._open |= {call.id: call.name for call in first.tool_calls if call.id}
        self.answer = first.text if span.answered else self.answer
        self.stopped = span.stopped or self.stopped
        return self._add(place, first)

    def _hear(self, place: Place) -> None:
        counts: Counter[Mark] = Counter()
        for message in place.span.asked:
            (step,) = steps_of_chat([message])
            ident = as_text(step.extra.get("tool_call_id") or "") if step.kind == "tool_result" else ""
            if ident in self._open:
                self._talk.answer(ident, ToolResult(text=step.text), place.span.ref)
                self._results[ident] = step.text
                del self._open[ident]
            elif not ident or self._results.get(ident) != step.text:
                mark = _mark(step)
                counts[mark] += 1
                if counts[mark] > self._told[mark]:
                    self._told[mark] += 1
                    self._add(place, replace(step, parent=self._talk.asked(ident)), whole=False)

    def _tool(self, place: Place, call: ToolCall) -> int | None:
        """The run of a tool belongs to the call that a model made; one without an id, to the first of that name."""
        span = place.span
        waiting = (ident for ident, name in self._open.items() if name == call.name)
        ident = call.id if call.id in self._open else next(waiting, "") if not call.id else ""
        error = ToolError(type=span.error.type, message=span.error.message) if span.error else call.error
        ran = replace(call, error=error, duration=span.seconds)
        if not ident:
            step = Step(index=0, actor=Actor(role="tool", name=call.name), kind="tool_call", tool_calls=(ran,))
            return self._add(place, step)
        del self._open[ident]
        self._results[ident] = call.result.text if call.result else ""
        self._talk.complete(ident, lambda made: _carried_out(made, ran, span))
        return self._talk.asked(ident)

    def _add(self, place: Place, step: Step, *, whole: bool = True) -> int | None:
        """`whole` where the step stands for the span, not only for a message in it."""
        span, at = place.span, self._talk.next
        above = self._at[place.above] if place.above != TOP else None
        made = replace(step, parent=above if step.parent is None else step.parent, ref=span.ref)
        if whole:
            named = {"name": span.name} if span.name not in (made.text, made.actor.name, "") else {}
            made = replace(
                made,
                error=span.error,
                started_at=span.started_at,
                ended_at=span.ended_at,
                model=span.model,
                span_id=span.id,
                extra=made.extra | span.extra | named,
            )
        self._talk.add(made)
        return at if at < STEPS_CAP else None


def _mark(step: Step) -> Mark:
    return step.actor.role, step.text, tuple(call.name for call in step.tool_calls)


def _carried_out(made: ToolCall, ran: ToolCall, span: Span) -> ToolCall:
    told = known(
        span_id=span.id,
        name=span.name if span.name != made.name else None,
        started_at=span.started_at,
        ended_at=span.ended_at,
        traceback=span.error.traceback if span.error else None,
        arguments=ran.arguments if ran.arguments != made.arguments else None,
    )
    extra = made.extra | ran.extra | span.extra | told
    return replace(made, result=ran.result, error=ran.error, duration=ran.duration, extra=extra)
