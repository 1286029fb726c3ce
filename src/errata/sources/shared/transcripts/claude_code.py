"""Claude Code: a session as JSON lines. One answer of the model is split over several lines that share its id."""

from pathlib import Path
from typing import Any

from errata.model import Actor, ErrorInfo, SourceRef, Step, ToolCall, ToolResult, Usage
from errata.sources.base import head_of, json_lines
from errata.sources.shared.transcripts.session import SessionReader, SessionTranscript
from errata.sources.shared.values import (
    as_text,
    cost_number,
    count,
    mapping,
    moment,
    non_empty,
    plain,
    reported_cost,
    rest,
    sequence,
    text,
)
from errata.text.redact import redact

AGENT = "Claude Code"
HEAD = 64 * 1024
SUBAGENTS_CAP = 100
INTERRUPTED = "[Request interrupted by user"

_MESSAGE_LINES = ("user", "assistant", "system", "summary")
_SHARED = ("sessionId", "version", "cwd", "gitBranch", "userType")
_LINE = frozenset(
    [
        "type",
        "uuid",
        "parentUuid",
        "timestamp",
        "message",
        "toolUseResult",
        "isSidechain",
        "content",
        "summary",
        *_SHARED,
    ]
)
_MESSAGE = frozenset(["id", "type", "role", "model", "content", "stop_reason", "stop_sequence", "usage"])
READ = ("text", "thinking", "redacted_thinking", "tool_use", "tool_result")


def transcript_of(path: Path, *, source: str, root: Path) -> SessionTranscript:
    session = ClaudeSession()
    session.read(json_lines(path, source=source, root=root))
    for file in _subagents(path, session.ident):
        session.read(json_lines(file, source=source, root=root), agent=file.stem.removeprefix("agent-"))
    return session.transcript()


def is_session(head: bytes) -> bool:
    """Decided by the first lines; some of them may not be messages."""
    return b'"sessionId"' in head and b'"parentUuid"' in head and b'"type"' in head


def is_subagent(head: bytes) -> bool:
    """A subagent has a file of its own, and belongs to the session that called it."""
    return is_session(head) and b'"agentId"' in head and b'"isSidechain":true' in head.replace(b" ", b"")[:4096]


def _subagents(path: Path, session: str) -> list[Path]:
    """The session's subagents, whose files are beside it or in a folder with its name."""
    files = [*path.parent.glob("agent-*.jsonl"), *(path.parent / path.stem / "subagents").glob("agent-*.jsonl")]
    quoted = session.encode()
    own = (file for file in files if session and quoted in (head := head_of(file, HEAD)) and is_subagent(head))
    return sorted(own)[:SUBAGENTS_CAP]


class ClaudeSession(SessionReader):
    def __init__(self) -> None:
        super().__init__()
        self._first: dict[str, Any] = {}
        self._before = ""
        self._usages: dict[str, dict[str, Any]] = {}
        self._costs: dict[str, float] = {}
        self._tasks: dict[str, int] = {}
        self._stop = self._model = ""

    @property
    def ident(self) -> str:
        return text(self._first.get("sessionId"))

    def _line(self, line: dict[str, Any], ref: SourceRef, agent: str) -> None:
        kind, message = text(line.get("type")), mapping(line.get("message"))
        if "sessionId" in line and not self._first:
            self._first = line
        self._moment(line)
        if kind not in _MESSAGE_LINES:
            self._other[kind] += 1
            return
        parent = self._parent(line, agent)
        if parent is None:
            self._note(line, message, ref)
        self._count(message, line)
        self._results(line, message, ref)
        self._say(line, message, parent, ref)
        self._before = text(line.get("uuid"))

    def _parent(self, line: dict[str, Any], agent: str) -> int | None:
        if not agent and line.get("isSidechain") is not True:
            return None
        known_at = self._tasks.get(agent or text(line.get("agentId")))
        return known_at if known_at is not None else self._tasks.get("", 0)

    def _note(self, line: dict[str, Any], message: dict[str, Any], ref: SourceRef) -> None:
        """How the session ended, if this is the last line."""
        content_text = words_of(message.get("content"))
        self._cancelled = line.get("type") == "user" and content_text.startswith(INTERRUPTED)
        if line.get("type") != "assistant":
            return
        self._failed = None
        if line.get("isApiErrorMessage") is True:
            kind, status = text(line.get("error")) or "api_error", count(line.get("apiErrorStatus"))
            code = "" if status is None else str(status)
            self._failed = ErrorInfo(type=kind, message=redact(content_text), code=code, phase="subject", ref=ref)
        else:
            self._model = text(message.get("model")) or self._model
            self._stop = text(message.get("stop_reason")) or self._stop

    def _count(self, message: dict[str, Any], line: dict[str, Any]) -> None:
        """Every line of an answer has the usage of that answer so far: the last one is right."""
        if used := mapping(message.get("usage")):
            ident = text(message.get("id")) or text(line.get("uuid"))
            self._usages[ident] = used
            if (cost := cost_number(line.get("costUSD"))) is not None:
                self._costs[ident] = cost

    def _results(self, line: dict[str, Any], message: dict[str, Any], ref: SourceRef) -> None:
        for part in map(mapping, sequence(message.get("content"))):
            if part.get("type") == "tool_result":
                failed = part.get("is_error")
                result = ToolResult(
                    text=words_of(part.get("content")),
                    is_error=failed if isinstance(failed, bool) else None,
                    extra=non_empty(images=other_parts(part.get("content"))),
                )
                ident = text(part.get("tool_use_id"))
                self._builder.answer(ident, result, ref)
                # the result of a task names its subagent
                agent, step = text(mapping(line.get("toolUseResult")).get("agentId")), self._builder.step_of_call(ident)
                self._tasks |= {agent: step} if agent and step is not None else {}

    def _say(self, line: dict[str, Any], message: dict[str, Any], parent: int | None, ref: SourceRef) -> None:
        content = message.get("content", line.get("content", line.get("summary")))
        parts = [mapping(part) for part in sequence(content)]
        calls = tuple(call_of(part) for part in parts if part.get("type") == "tool_use")
        content_text, thought = (
            words_of(content),
            "\n".join(text(part.get("thinking")) for part in parts if "thinking" in part),
        )
        other_parts_ = tuple(plain(part) for part in parts if part.get("type") not in READ)
        if not (content_text or thought or calls or other_parts_):
            return  # only results, which are added to their calls
        index = self._builder.next
        self._tasks |= {"": index} if any(call.name in ("Task", "Agent") for call in calls) else {}
        # an API error is written in place of an answer
        failed = line.get("isApiErrorMessage") is True
        role = "" if failed else text(message.get("role")) or text(line.get("type"))
        self._builder.add(
            Step(
                index=index,
                actor=actor_of(role, line),
                kind="tool_call" if calls else "message" if role in ("user", "assistant") else "log",
                parent=parent,
                text=content_text,
                parts=other_parts_,
                reasoning=thought,
                tool_calls=calls,
                error=self._failed if failed else None,
                started_at=moment(line.get("timestamp")),
                model=text(message.get("model")),
                span_id=text(line.get("uuid")),
                ref=ref,
                extra=self._extra(line, message),
            )
        )

    def _extra(self, line: dict[str, Any], message: dict[str, Any]) -> dict[str, Any]:
        """Without the session's own fields, and without the link to the previous line."""
        shared = {key: line[key] for key in _SHARED if key in line and line[key] != self._first.get(key)}
        after = line.get("parentUuid") if line.get("parentUuid") != self._before else None
        ids = non_empty(parent=after, stop_reason=message.get("stop_reason"), message_id=message.get("id"))
        return rest(line, _LINE) | rest(message, _MESSAGE) | non_empty(**shared) | ids

    def transcript(self) -> SessionTranscript:
        return self._transcript(
            agent=AGENT,
            session=self.ident,
            version=text(self._first.get("version")),
            model=self._model,
            stop_reason=self._stop,
            usage=total_usage(self._usages, self._costs),
            extra=non_empty(
                cwd=self._first.get("cwd"),
                git_branch=self._first.get("gitBranch"),
                user_type=self._first.get("userType"),
            ),
        )


def actor_of(role: str, line: dict[str, Any]) -> Actor:
    name = text(line.get("agentId")) if line.get("isSidechain") is True else ""
    if role == "assistant":
        return Actor(role="assistant", name=name)
    return Actor(role="user" if role == "user" else "environment", name=name)


def call_of(part: dict[str, Any]) -> ToolCall:
    return ToolCall(name=text(part.get("name")), id=text(part.get("id")), arguments=plain(part.get("input")))


def words_of(content: Any) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else "" if content is None else as_text(content)
    return "\n".join(text(mapping(part).get("text")) for part in content if mapping(part).get("type") == "text")


def other_parts(content: Any) -> int | None:
    return sum(mapping(part).get("type") != "text" for part in sequence(content)) or None


def total_usage(usages: dict[str, dict[str, Any]], costs: dict[str, float]) -> Usage:
    """The sum over all answers, each counted once. Input tokens exclude cached ones."""

    def total(key: str) -> int | None:
        values = [value for used in usages.values() if (value := count(used.get(key))) is not None]
        return sum(values) if values else None

    cost = sum(costs.values()) if costs else None
    return Usage(
        input=total("input_tokens"),
        output=total("output_tokens"),
        cache_write=total("cache_creation_input_tokens"),
        cache_read=total("cache_read_input_tokens"),
        requests=len(usages) or None,
        **reported_cost(cost),
        includes_cache=False,
    )
