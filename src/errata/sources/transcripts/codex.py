"""Codex: a session as JSON lines, each with a time, a type and a payload. Calls and results are lines of their own."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from errata.model import Actor, ErrorInfo, SourceRef, Step, ToolCall, ToolResult, Unreadable, Usage
from errata.model.words import ActorRole, Execution
from errata.sources.base import Row, decode, json_lines
from errata.sources.roles import CHAT_ROLES
from errata.sources.settings import settings
from errata.sources.talk import Talk
from errata.sources.transcripts.transcript import Transcript, is_waiting, last_answer
from errata.sources.values import as_text, count, known, mapping, moment, plain, rest, sequence, text
from errata.text.redact import redact

AGENT = "Codex"

_META = frozenset(["id", "timestamp", "cli_version", "instructions", "base_instructions"])
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_RESULTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_ITEM = frozenset(["type", "role", "content", "summary", "encrypted_content", "name", "arguments", "input", "action"])
_EXIT_CODE = re.compile(r"^Exit code: (-?\d{1,5})$", re.MULTILINE)


def transcript_of(path: Path, *, source: str, root: Path) -> Transcript:
    session = Session()
    session.read(json_lines(path, source=source, root=root))
    return session.transcript()


def is_session(head: bytes) -> bool:
    return b'"session_meta"' in head and b'"payload"' in head and b'"timestamp"' in head


class Session:
    """Takes one line after the other."""

    def __init__(self) -> None:
        self._talk = Talk()
        self._meta: dict[str, Any] = {}
        self._context: dict[str, Any] = {}
        self._tokens: dict[str, Any] = {}
        self._times: list[str] = []
        self._other: Counter[str] = Counter()
        self._failed: ErrorInfo | None = None
        self._aborted = ""
        self._thought = ""
        self._unreadable: list[Unreadable] = []

    def read(self, rows: Iterable[Row | Unreadable]) -> None:
        for row in rows:
            if isinstance(row, Unreadable):
                self._unreadable.append(row)
            elif isinstance(row.data, dict):
                self._line(row.data, row.ref)

    def _line(self, line: dict[str, Any], ref: SourceRef) -> None:
        kind, payload = text(line.get("type")), mapping(line.get("payload"))
        if (at := moment(line.get("timestamp"))) is not None:
            self._times.append(at)
            del self._times[1:-1]
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
            self._talk.answer(text(item.get("call_id")), _result(item.get("output")), ref)
        else:
            self._other[kind] += 1

    def _message(self, item: dict[str, Any], at: str | None, ref: SourceRef) -> None:
        role: ActorRole = CHAT_ROLES.get(text(item.get("role")), "environment")
        words = "\n".join(text(mapping(part).get("text")) for part in sequence(item.get("content")))
        if role == "assistant":
            # whatever had gone wrong before, it went on
            self._failed, self._aborted = None, ""
        self._add(Actor(role=role), "message", words, at, ref, rest(item, _ITEM))

    def _call(self, item: dict[str, Any], at: str | None, ref: SourceRef) -> None:
        written = item.get("arguments", item.get("input", item.get("action")))
        name = text(item.get("name")) or text(item.get("type")).removesuffix("_call")
        ident = text(item.get("call_id")) or text(item.get("id"))
        step = Step(
            index=0,
            actor=Actor(role="assistant"),
            kind="tool_call",
            reasoning=self._taken(),
            tool_calls=(_tool_call(name, ident, written),),
            started_at=at,
            ref=ref,
            extra=rest(item, _ITEM | {"call_id"}),
        )
        self._talk.add(step)

    def _event(self, event: dict[str, Any], at: str | None, ref: SourceRef) -> None:
        """Most events only tell once more what the items say."""
        kind = text(event.get("type"))
        if kind == "token_count":
            self._tokens = mapping(mapping(event.get("info")).get("total_token_usage")) or self._tokens
        elif kind == "turn_aborted":
            self._aborted = text(event.get("reason")) or kind
        elif kind in ("error", "stream_error"):
            message = redact(text(event.get("message")))
            found = ErrorInfo(type=_kind_of(event, kind), message=message, phase="subject", at=at, ref=ref)
            self._failed = found if kind == "error" else self._failed
            self._add(Actor(role="environment"), "log", message, at, ref, rest(event, ("message",)))
        else:
            self._other[kind] += 1

    def _add(self, actor: Actor, kind: Any, words: str, at: str | None, ref: SourceRef, extra: dict[str, Any]) -> None:
        reasoning = self._taken() if actor.role == "assistant" else ""
        self._talk.add(
            Step(index=0, actor=actor, kind=kind, text=words, reasoning=reasoning, started_at=at, ref=ref, extra=extra)
        )

    def _taken(self) -> str:
        """What was thought before stands with what came of it."""
        thought, self._thought = self._thought, ""
        return thought

    def transcript(self) -> Transcript:
        steps = self._talk.steps
        return Transcript(
            agent=AGENT,
            session=text(self._meta.get("id")),
            version=text(self._meta.get("cli_version")),
            model=text(self._context.get("model")),
            execution=self._execution(steps),
            steps=steps,
            answer=last_answer(steps),
            stop_reason=self._aborted,
            errors=(self._failed,) if self._failed else (),
            usage=self._usage(),
            started_at=moment(self._meta.get("timestamp")) or (self._times[0] if self._times else None),
            finished_at=self._times[-1] if self._times else None,
            extra=known(
                meta=settings(rest(self._meta, _META)),
                context=settings(rest(self._context, ("model",))),
                instructions=self._meta.get("instructions") or self._meta.get("base_instructions"),
                other_lines=dict(self._other),
                steps_left_out=self._talk.left_out or None,
            ),
            unreadable=tuple(self._unreadable),
        )

    def _execution(self, steps: tuple[Step, ...]) -> Execution:
        if self._failed is not None:
            return "error"
        if self._aborted:
            return "cancelled"
        return "unfinished" if is_waiting(steps) or not steps else "completed"

    def _usage(self) -> Usage:
        """The running total that came last."""
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


def _tool_call(name: str, ident: str, written: Any) -> ToolCall:
    if not isinstance(written, str):
        return ToolCall(name=name, id=ident, arguments=plain(written))
    try:
        return ToolCall(name=name, id=ident, arguments=plain(decode(written.encode())))
    except ValueError:
        # a patch is handed over as it is
        return ToolCall(name=name, id=ident, arguments={"input": written})


def _result(output: Any) -> ToolResult:
    """A text, a document in a text with the exit code beside it, or an object that says whether it worked."""
    told = output
    if isinstance(output, str) and output.startswith("{"):
        try:
            told = decode(output.encode())
        except ValueError:
            told = output
    if not isinstance(told, dict):
        words = told if isinstance(told, str) else _words(told)
        found = _EXIT_CODE.search(words[:400])
        return ToolResult(text=words, exit_code=int(found[1]) if found else None)
    code = mapping(told.get("metadata")).get("exit_code")
    worked = told.get("success")
    return ToolResult(
        text=_words(told.get("output", told.get("content"))),
        exit_code=code if type(code) is int else None,
        is_error=not worked if isinstance(worked, bool) else None,
        extra=rest(told, ("output", "content", "success", "metadata"))
        | known(metadata=rest(mapping(told.get("metadata")), ("exit_code",))),
    )


def _words(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(text(mapping(part).get("text")) for part in content)
    return content if isinstance(content, str) else "" if content is None else as_text(content)
