"""Spans → the steps of a transcript: messages, tool calls with their results, and other events.

Each model call repeats the conversation so far; repeated messages are left out.
"""

from collections import Counter
from typing import Any

from msgspec.structs import replace

from errata.model import Actor, Step, ToolCall, ToolError, ToolResult, Usage
from errata.model.words import ActorRole, StepKind
from errata.sources.shared.chat import steps_of_chat
from errata.sources.shared.spans import TOP, SpanPlace, TraceSpan, Tree
from errata.sources.shared.steps import STEPS_CAP, TranscriptBuilder
from errata.sources.shared.usage import sum_of
from errata.sources.shared.values import as_text, non_empty, plain

Mark = tuple[str, str, tuple[str, ...]]


class SpanTranscript:
    def __init__(self, tree: Tree, *, top_is_case: bool = True) -> None:
        """`top_is_case`: the input and output of the first span are already the case and the answer."""
        self._tree, self._top_is_case = tree, top_is_case
        self._talk = TranscriptBuilder()
        self._seen_messages: Counter[Mark] = Counter()
        self._open: dict[str, str] = {}
        """Calls without a result so far: id → name."""
        self._results: dict[str, str] = {}
        self._at: list[int | None] = []
        self.answer: str | None = None
        self.stopped = ""
        speakers = [place.span.kind == "model" and bool(place.span.reply) for place in tree.places]
        # a framework and the library that it calls both record the call: the inner span is used
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
    def messages_before_answer(self) -> list[dict[str, Any]]:
        messages = []
        for step in self._talk.steps:
            if step.kind == "model_call" and step.actor.role == "assistant":
                break
            if step.kind == "message" and step.actor.role in ("system", "user"):
                messages.append({"role": step.actor.role, "content": step.text})
        return messages

    def usage(self, *, judged: bool) -> Usage:
        """Usage of the innermost spans that have it: their parents mostly repeat the sum."""
        has_usage = [place.span.usage is not None for place in self._tree.places]
        summed = self._tree.any_below(has_usage)
        usages = [
            place.span.usage
            for at, place in enumerate(self._tree.places)
            if place.span.usage is not None and not summed[at] and place.judged is judged
        ]
        return sum_of(usages)

    def _tell(self, place: SpanPlace, *, repeats: bool) -> int | None:
        span = place.span
        if span.kind == "model" and not repeats:
            return self._call(place)
        if span.kind == "tool" and span.call is not None:
            return self._tool(place, span.call)
        kind: StepKind = "score" if span.kind == "judge" else "log"
        role: ActorRole = "judge" if place.judged else "environment"
        if span.kind == "agent" and place.above != TOP and not place.judged:
            kind, role = "handoff", "assistant"
        is_case_and_answer = self._top_is_case and span is self._tree.top
        extra = {} if is_case_and_answer else non_empty(input=span.input, output=span.output)
        return self._add(place, Step(index=0, actor=Actor(role=role), kind=kind, text=span.name, extra=extra))

    def _call(self, place: SpanPlace) -> int | None:
        span = place.span
        if not place.judged:
            self._hear(place)
        replies = steps_of_chat(span.reply) or (Step(index=0, actor=Actor(role="assistant")),)
        for number, step in enumerate(replies[1:], start=2):
            self._add(place, replace(step, try_=number), whole=False)
        first = replace(
            replies[0], kind="model_call", actor=Actor(role="assistant", name=replies[0].actor.name), usage=span.usage
        )
        if place.judged:
            request: Any = {"type": "input", "messages": plain(span.request)}
            return self._add(place, replace(first, actor=Actor(role="judge"), parts=(*first.parts, request)))
        self._seen_messages[_mark(first)] += 1
        self._open |= {call.id: call.name for call in first.tool_calls if call.id}
        self.answer = first.text if span.reply else self.answer
        self.stopped = span.stopped or self.stopped
        return self._add(place, first)

    def _hear(self, place: SpanPlace) -> None:
        counts: Counter[Mark] = Counter()
        for message in place.span.request:
            (step,) = steps_of_chat([message])
            ident = as_text(step.extra.get("tool_call_id") or "") if step.kind == "tool_result" else ""
            if ident in self._open:
                self._talk.answer(ident, ToolResult(text=step.text), place.span.ref)
                self._results[ident] = step.text
                del self._open[ident]
            elif not ident or self._results.get(ident) != step.text:
                mark = _mark(step)
                counts[mark] += 1
                if counts[mark] > self._seen_messages[mark]:
                    self._seen_messages[mark] += 1
                    self._add(place, replace(step, parent=self._talk.step_of_call(ident)), whole=False)

    def _tool(self, place: SpanPlace, call: ToolCall) -> int | None:
        """A tool span belongs to the model's call with its id; without an id, to the first open call with its name."""
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
        return self._talk.step_of_call(ident)

    def _add(self, place: SpanPlace, step: Step, *, whole: bool = True) -> int | None:
        """`whole`: the step is the whole span, not a single message of it."""
        span, at = place.span, self._talk.next
        above = self._at[place.above] if place.above != TOP else None
        completed = replace(step, parent=above if step.parent is None else step.parent, ref=span.ref)
        if whole:
            name_extra = {"name": span.name} if span.name not in (completed.text, completed.actor.name, "") else {}
            completed = replace(
                completed,
                error=span.error,
                started_at=span.started_at,
                ended_at=span.ended_at,
                model=span.model,
                span_id=span.id,
                extra=completed.extra | span.extra | name_extra,
            )
        self._talk.add(completed)
        return at if at < STEPS_CAP else None


def _mark(step: Step) -> Mark:
    return step.actor.role, step.text, tuple(call.name for call in step.tool_calls)


def _carried_out(call: ToolCall, ran: ToolCall, span: TraceSpan) -> ToolCall:
    extra_fields = non_empty(
        span_id=span.id,
        name=span.name if span.name != call.name else None,
        started_at=span.started_at,
        ended_at=span.ended_at,
        traceback=span.error.traceback if span.error else None,
        arguments=ran.arguments if ran.arguments != call.arguments else None,
    )
    extra = call.extra | ran.extra | span.extra | extra_fields
    return replace(call, result=ran.result, error=ran.error, duration=ran.duration, extra=extra)
