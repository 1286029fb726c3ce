"""ATIF 1.0 to 1.8, the trajectories of agents in Harbor: steps with tool calls, their results, and subagents."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from errata.model import Actor, SourceRef, Step, ToolCall, ToolResult, Usage
from errata.model.words import ActorRole, StepKind
from errata.sources.shared.documents import Documents
from errata.sources.shared.values import count, mapping, moment, non_empty, plain, reported_cost, rest, sequence, text

TRAJECTORY_CAP = 64 * 1024 * 1024
FILES_CAP = 50
STEPS_CAP = 100_000
DEPTH_CAP = 5
EXTRA_CAP = 16 * 1024
_ROLES: dict[str, ActorRole] = {"system": "system", "user": "user", "agent": "assistant"}
_STEP = frozenset(
    [
        "step_id",
        "timestamp",
        "source",
        "model_name",
        "message",
        "reasoning_content",
        "tool_calls",
        "observation",
        "metrics",
        "extra",
    ]
)
_TRAJECTORY = frozenset(["steps", "final_metrics", "agent", "subagent_trajectories"])
_METRICS = frozenset(["prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "extra"])


class AtifTrajectory:
    """The steps of an attempt, of its subagents and of continuation files."""

    def __init__(self, documents: Documents, trial: str) -> None:
        """`trial` is the folder around that of the agent."""
        self.steps: list[Step] = []
        self.heads: list[dict[str, Any]] = []
        """The fields of each file beside its steps."""
        self.final: dict[str, Any] = {}
        self.tools_offered: int | None = None
        self._documents = documents
        self._trial = trial
        self._read: set[Path] = set()

    @property
    def _folder(self) -> Path:
        return Path(self._trial, "agent")

    def read(self, name: str = "trajectory.json") -> None:
        self._file(self._folder / name, None, 0)

    def _file(self, path: Path, parent: int | None, depth: int) -> None:
        if path in self._read or len(self._read) >= FILES_CAP:
            return
        self._read.add(path)
        document = self._documents.get(path, cap=TRAJECTORY_CAP)
        if document:
            self._trajectory(document, self._documents.ref(path), parent, depth)

    def _trajectory(self, document: dict[str, Any], ref: SourceRef, parent: int | None, depth: int) -> None:
        agent = mapping(document.get("agent"))
        if parent is None:
            self.final = mapping(document.get("final_metrics")) or self.final
            if isinstance(tools := agent.get("tool_definitions"), list):
                self.tools_offered = len(tools)
        head = rest(document, _TRAJECTORY) | non_empty(file=ref.file, pointer=ref.pointer, agent=agent)
        self.heads.append(head | non_empty(final_metrics=document.get("final_metrics")))
        if not isinstance(document.get("steps"), list):
            self._documents.refuse(ref, "a trajectory without steps")
        subagents = {text(mapping(one).get("trajectory_id")): one for one in _subagents(document)}
        for at, step, is_late in in_order(sequence(document.get("steps"))):
            place = ref.below("steps", at)
            if isinstance(step, dict) and len(self.steps) < STEPS_CAP:
                index = self._step(step | {"late": True} if is_late else step, agent, place, parent)
                self._delegated(step, subagents, ref, depth=depth, index=index)
            elif not isinstance(step, dict):
                self._documents.refuse(place, "a step that is not an object")
        for name, left in list(subagents.items()):
            self._subagent(left, name, ref, depth=depth, parent=parent or max(1, len(self.steps)))
        if continued := text(document.get("continued_trajectory_ref")):
            self._linked(continued, parent, depth)

    def _step(self, step: dict[str, Any], agent: dict[str, Any], ref: SourceRef, parent: int | None) -> int:
        index = len(self.steps) + 1
        calls, loose = _calls(step)
        self.steps.append(_step(step, agent, calls, index=index, parent=parent, ref=ref))
        for result in loose:
            self.steps.append(_environment(result, len(self.steps) + 1, index, ref))
        return index

    def _delegated(
        self, step: dict[str, Any], subagents: dict[str, Any], ref: SourceRef, *, depth: int, index: int
    ) -> None:
        for result in sequence(mapping(step.get("observation")).get("results")):
            for link in map(mapping, sequence(mapping(result).get("subagent_trajectory_ref"))):
                name = text(link.get("trajectory_id")) or text(link.get("session_id"))
                if name in subagents:
                    self._subagent(subagents.pop(name), name, ref, depth=depth, parent=index)
                elif path := text(link.get("trajectory_path")):
                    self._linked(path, index, depth + 1)

    def _subagent(self, document: Any, name: str, ref: SourceRef, *, depth: int, parent: int) -> None:
        if isinstance(document, dict) and depth < DEPTH_CAP:
            place = ref.below("subagent_trajectories", name)
            self._trajectory(document, place, parent, depth + 1)

    def _linked(self, name: str, parent: int | None, depth: int) -> None:
        """Read another file of the same folder by its name: paths in the log are those of the container."""
        last = name.replace("\\", "/").rpartition("/")[2]
        if last and depth < DEPTH_CAP and (self._folder / last).is_file():
            self._file(self._folder / last, parent, depth)


def in_order(steps: Sequence[Any]) -> Iterator[tuple[int, Any, bool]]:
    """Each step with its place in the file, and whether it comes too late there.

    Agents' logs are converted when they end, and calls that never got a result are appended behind the last turn. They
    come where they were made, by their time; all other steps stay in the order of the file.
    """
    latest = ""
    ordered: list[tuple[int, bool, int]] = []
    times: list[tuple[str, int]] = []
    for at, step in enumerate(steps):
        made = moment(mapping(step).get("timestamp")) or ""
        if made and made < latest and _is_unanswered(mapping(step)):
            anchor = next((place for time, place in reversed(times) if time <= made), 0)
            ordered.append((anchor, True, at))
            continue
        ordered.append((at, False, at))
        if made:
            times.append((made, at))
            latest = max(latest, made)
    return ((at, steps[at], is_late) for _, is_late, at in sorted(ordered))


def _is_unanswered(step: dict[str, Any]) -> bool:
    return bool(step.get("tool_calls")) and not sequence(mapping(step.get("observation")).get("results"))


def total_usage(final: dict[str, Any]) -> Usage | None:
    metrics = {
        "prompt_tokens": final.get("total_prompt_tokens"),
        "completion_tokens": final.get("total_completion_tokens"),
        "cached_tokens": final.get("total_cached_tokens"),
        "cost_usd": final.get("total_cost_usd"),
    }
    return _usage(metrics, None)


def closing_words(steps: list[Step]) -> str | None:
    """The agent's last message if it has no tool calls; else None, because the answer is its work."""
    own = [step for step in steps if step.actor.role == "assistant" and step.parent is None]
    return own[-1].text or None if own and not own[-1].tool_calls else None


def stop_reason(steps: list[Step]) -> str:
    own = [step for step in steps if step.actor.role == "assistant" and step.parent is None]
    return text(own[-1].extra.get("stop_reason")) if own else ""


def _subagents(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for at, subagent in enumerate(sequence(document.get("subagent_trajectories"))):
        if isinstance(subagent, dict):
            yield {
                **subagent,
                "trajectory_id": text(subagent.get("trajectory_id")) or text(subagent.get("session_id")) or str(at),
            }


def _step(
    step: dict[str, Any],
    agent: dict[str, Any],
    calls: tuple[ToolCall, ...],
    *,
    index: int,
    parent: int | None,
    ref: SourceRef,
) -> Step:
    role = _ROLES.get(text(step.get("source")), "environment")
    words, parts = _content(step.get("message"))
    kind: StepKind = "tool_call" if calls else "message"
    at = moment(step.get("timestamp"))
    return Step(
        index=index,
        actor=Actor(role=role, name=text(agent.get("name")) if role == "assistant" else ""),
        kind=kind,
        parent=parent,
        text=words,
        parts=parts,
        reasoning=text(step.get("reasoning_content")),
        tool_calls=calls,
        usage=_usage(mapping(step.get("metrics")), count(step.get("llm_call_count"))),
        started_at=at,
        model=text(step.get("model_name")) or (text(agent.get("model_name")) if role == "assistant" else ""),
        ref=ref,
        extra=_extra(step, index, role, at),
    )


def _extra(step: dict[str, Any], index: int, role: str, at: str | None) -> dict[str, Any]:
    extra = _bounded(mapping(step.get("extra"))) | rest(step, _STEP)
    if step.get("step_id") != index:
        extra |= non_empty(step_id=step.get("step_id"))
    if role == "environment":
        extra |= non_empty(source=step.get("source"))
    if at is None:
        extra |= non_empty(timestamp=step.get("timestamp"))
    return extra


def _bounded(bag: dict[str, Any]) -> dict[str, Any]:
    """Without large values: agents may store anything here, also raw provider responses."""
    kept = {key: plain(value) for key, value in bag.items() if value is not None}
    large = [key for key, value in kept.items() if len(msgspec.json.encode(value)) > EXTRA_CAP]
    return {key: value for key, value in kept.items() if key not in large} | non_empty(left_out=large)


def _calls(step: dict[str, Any]) -> tuple[tuple[ToolCall, ...], list[dict[str, Any]]]:
    results = [mapping(result) for result in sequence(mapping(step.get("observation")).get("results"))]
    calls = [mapping(call) for call in sequence(step.get("tool_calls"))]
    ids = {text(call.get("tool_call_id")) for call in calls} - {""}
    loose = [result for result in results if text(result.get("source_call_id")) not in ids]
    is_error = _flag(mapping(step.get("extra"))) if len(calls) == 1 else None
    made = [_call(call, [one for one in results if _answers(one, call)], is_error) for call in calls]
    return tuple(made), loose


def _answers(result: dict[str, Any], call: dict[str, Any]) -> bool:
    name = text(call.get("tool_call_id"))
    return bool(name) and text(result.get("source_call_id")) == name


def _flag(bag: dict[str, Any]) -> bool | None:
    """ATIF has no field for a failed call; some agents put one into `extra`."""
    for flag in (bag.get("tool_result_is_error"), bag.get("is_error")):
        if isinstance(flag, bool):
            return flag
    return None


def _call(call: dict[str, Any], results: list[dict[str, Any]], is_error: bool | None) -> ToolCall:
    arguments = call.get("arguments")
    is_object = isinstance(arguments, dict)
    return ToolCall(
        name=text(call.get("function_name")),
        id=text(call.get("tool_call_id")),
        arguments=plain(arguments),
        arguments_raw=arguments if isinstance(arguments, str) else "",
        parse_error="" if is_object or arguments is None else "the arguments are not an object",
        result=_result(results, is_error) if results else None,
        extra=rest(call, ("tool_call_id", "function_name", "arguments")),
    )


def _result(results: list[dict[str, Any]], is_error: bool | None) -> ToolResult:
    contents = [_content(result.get("content")) for result in results]
    own = [_flag(mapping(result.get("extra"))) for result in results]
    flags = [flag for flag in own if flag is not None]
    return ToolResult(
        text="\n".join(words for words, _ in contents),
        structured=[part for _, parts in contents for part in parts] or None,
        is_error=any(flags) if flags else is_error,
        extra={key: value for one in results for key, value in rest(one, ("source_call_id", "content")).items()},
    )


def _environment(result: dict[str, Any], index: int, parent: int, ref: SourceRef) -> Step:
    """An observation without a call: the screen of a terminal, or the result of a missing call."""
    words, parts = _content(result.get("content"))
    role: ActorRole = "tool" if text(result.get("source_call_id")) else "environment"
    extra = rest(result, ("content",))
    return Step(
        index=index,
        actor=Actor(role=role),
        kind="tool_result",
        parent=parent,
        text=words,
        parts=parts,
        ref=ref,
        extra=extra,
    )


def _content(value: Any) -> tuple[str, tuple[dict[str, Any], ...]]:
    if not isinstance(value, list):
        return (value, ()) if isinstance(value, str) else ("", () if value is None else ({"value": plain(value)},))
    parts = [part if isinstance(part, dict) else {"value": part} for part in value]
    words = [part["text"] for part in parts if _is_text(part)]
    return "\n".join(words), tuple(plain(part) for part in parts if not _is_text(part))


def _is_text(part: dict[str, Any]) -> bool:
    return part.get("type", "text") == "text" and isinstance(part.get("text"), str)


def _usage(metrics: dict[str, Any], requests: int | None) -> Usage | None:
    if not metrics and requests is None:
        return None
    counts = {key: len(value) if isinstance(value, list) else value for key, value in metrics.items()}
    return Usage(
        input=count(metrics.get("prompt_tokens")),
        output=count(metrics.get("completion_tokens")),
        cache_read=count(metrics.get("cached_tokens")),
        requests=requests,
        **reported_cost(metrics.get("cost_usd")),
        includes_cache=True,
        extra=rest(counts, _METRICS) | _bounded(mapping(metrics.get("extra"))),
    )
