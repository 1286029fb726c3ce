"""Codex: a session as JSON lines, each with a time, a type and a payload. Calls and results are lines of their own."""

import re
from pathlib import Path
from typing import Any

from errata.model import Actor, ErrorInfo, SourceRef, Step, ToolCall, ToolResult, Usage
from errata.model.words import ActorRole
from errata.sources.base import decode, json_lines
from errata.sources.shared.chat import CHAT_ROLES
from errata.sources.shared.transcripts.session import SessionReader, SessionTranscript
from errata.sources.shared.values import (
    as_text,
    count,
    mapping,
    moment,
    non_empty,
    plain,
    rest,
    sequence,
    settings,
    text,
)
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import redact

AGENT = "Codex"

_META = frozenset(["id", "timestamp", "cli_version", "instructions", "base_instructions"])
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_ITEM = frozenset(["type", "role", "content", "summary", "encrypted_content", "name", "arguments", "input", "action"])
_EXIT_CODE = lazy_regex(r"^Exit code: (-?\d{1,5})$", re.MULTILINE)


def transcript_of(path: Path, *, source: str, root: Path) -> SessionTranscript:
    session = CodexSession()
    session.read(json_lines(path, source=source, root=root))
    return session.transcript()


def is_session(head: bytes) -> bool:
    return b'"session_meta"' in head and b'"payload"' in head and b'"timestamp"' in head


class CodexSession(SessionReader):
    def __init__(self) -> None:
        super().__init__()
        self._meta: dict[str, Any] = {}
        self._context: dict[str, Any] = {}
        self._tokens: dict[str, Any] = {}
        self._aborted = self._thought = ""

    def _line(self, line: dict[str, Any], ref: SourceRef, _agent: str) -> None:
        kind, payload = text(line.get("type")), mapping(line.get("payload"))
        at = self._moment(line)
        if kind == "session_meta":
            self._meta = self._meta or payload
        elif kind == "turn_context":
            self._context = payload
        elif kind == "response_item":
            self._item(payload, at, ref)
        elif kind == "event_msg":
            self._event(payload, at, ref)
        elif kind == "compacted":
            self._add(Actor(role="environment"), "state", text(payload.get("message")), at, ref, {"compacted": True})
        else:
            self._other[kind] += 1

    def _item(self, item: dict[str, Any], at: str | None, ref: SourceRef) -> None:
        kind = text(item.get("type"))
        if kind == "message":
            self._message(item, at, ref)
        elif kind == "reasoning":
            parts = [*sequence(item.get("summary")), *sequence(item.get("content"))]
            self._thought = "\n".join(text(mapping(part).get("text")) for part in parts)
        elif kind in _CALLS:
            self._call(item, at, ref)
        elif kind in _RESULTS:
            self._builder.answer(text(item.get("call_id")), _result(item.get("output")), ref)
        else:
            self._other[kind] += 1

    def _message(self, item: dict[str, Any], at: str | None, ref: SourceRef) -> None:
        role: ActorRole = CHAT_ROLES.get(text(item.get("role")), "environment")
        content_text = "\n".join(text(mapping(part).get("text")) for part in sequence(item.get("content")))
        if role == "assistant":
            # whatever had failed before, the session went on
            self._failed, self._cancelled, self._aborted = None, False, ""
        self._add(Actor(role=role), "message", content_text, at, ref, rest(item, _ITEM))

    def _call(self, item: dict[str, Any], at: str | None, ref: SourceRef) -> None:
        arguments = item.get("arguments", item.get("input", item.get("action")))
        name = text(item.get("name")) or text(item.get("type")).removesuffix("_call")
        ident = text(item.get("call_id")) or text(item.get("id"))
        step = Step(
            index=0,
            actor=Actor(role="assistant"),
            kind="tool_call",
            reasoning=self._take_reasoning(),
            tool_calls=(_tool_call(name, ident, arguments),),
            started_at=at,
            ref=ref,
            extra=rest(item, _ITEM | {"call_id"}),
        )
        self._builder.add(step)

    def _event(self, event: dict[str, Any], at: str | None, ref: SourceRef) -> None:
        """Most events only repeat the items."""
        kind = text(event.get("type"))
        if kind == "token_count":
            self._tokens = mapping(mapping(event.get("info")).get("total_token_usage")) or self._tokens
        elif kind == "turn_aborted":
            self._cancelled, self._aborted = True, text(event.get("reason")) or kind
        elif kind in ("error", "stream_error"):
            message = redact(text(event.get("message")))
            error = ErrorInfo(type=_kind_of(event, kind), message=message, phase="subject", at=at, ref=ref)
            self._failed = error if kind == "error" else self._failed
            self._add(Actor(role="environment"), "log", message, at, ref, rest(event, ("message",)))
        else:
            self._other[kind] += 1

    def _add(
        self, actor: Actor, kind: Any, content_text: str, at: str | None, ref: SourceRef, extra: dict[str, Any]
    ) -> None:
        reasoning = self._take_reasoning() if actor.role == "assistant" else ""
        self._builder.add(
            Step(
                index=0,
                actor=actor,
                kind=kind,
                text=content_text,
                reasoning=reasoning,
                started_at=at,
                ref=ref,
                extra=extra,
            )
        )

    def _take_reasoning(self) -> str:
        """The reasoning so far, for the step that follows it."""
        thought, self._thought = self._thought, ""
        return thought

    def transcript(self) -> SessionTranscript:
        began = moment(self._meta.get("timestamp"))
        return self._transcript(
            agent=AGENT,
            session=text(self._meta.get("id")),
            version=text(self._meta.get("cli_version")),
            model=text(self._context.get("model")),
            stop_reason=self._aborted,
            usage=self._usage(),
            extra=non_empty(
                meta=settings(rest(self._meta, _META)),
                context=settings(rest(self._context, ("model",))),
                instructions=self._meta.get("instructions") or self._meta.get("base_instructions"),
            ),
            **({"started_at": began} if began else {}),
        )

    def _usage(self) -> Usage:
        """The last running total."""
        return Usage(
            input=count(self._tokens.get("input_tokens")),
            output=count(self._tokens.get("output_tokens")),
            total=count(self._tokens.get("total_tokens")),
            cache_read=count(self._tokens.get("cached_input_tokens")),
            reasoning=count(self._tokens.get("reasoning_output_tokens")),
            includes_cache=True if self._tokens else None,
        )


def _kind_of(event: dict[str, Any], kind: str) -> str:
    info = event.get("codex_error_info")
    return info if isinstance(info, str) else next(iter(mapping(info)), kind)


def _tool_call(name: str, ident: str, arguments: Any) -> ToolCall:
    if not isinstance(arguments, str):
        return ToolCall(name=name, id=ident, arguments=plain(arguments))
    try:
        return ToolCall(name=name, id=ident, arguments=plain(decode(arguments.encode())))
    except ValueError:
        # a patch is passed as it is
        return ToolCall(name=name, id=ident, arguments={"input": arguments})


def _result(output: Any) -> ToolResult:
    """A text, a text with a JSON document and an exit code, or an object with a success flag."""
    value = output
    if isinstance(output, str) and output.startswith("{"):
        try:
            value = decode(output.encode())
        except ValueError:
            value = output
    if not isinstance(value, dict):
        content_text = value if isinstance(value, str) else _words(value)
        match = _EXIT_CODE.search(content_text[:400])
        return ToolResult(text=content_text, exit_code=int(match[1]) if match else None)
    code = mapping(value.get("metadata")).get("exit_code")
    worked = value.get("success")
    return ToolResult(
        text=_words(value.get("output", value.get("content"))),
        exit_code=code if type(code) is int else None,
        is_error=not worked if isinstance(worked, bool) else None,
        extra=rest(value, ("output", "content", "success", "metadata"))
        | non_empty(metadata=rest(mapping(value.get("metadata")), ("exit_code",))),
    )


def _words(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(text(mapping(part).get("text")) for part in content)
    return content if isinstance(content, str) else "" if content is None else as_text(content)
