"""Calls with what came back: tool calls, and code in a message that the next speaker ran."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from errata.model import Step, ToolCall
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import beginning
from errata.transcript.wording import sentence_around

CODE = "code"
"""The name that code in a message goes by, in place of a tool's."""
NEAR = 3
"""Code that nothing ran within this many steps was not run."""
LONGEST = 20_000
ERROR_LINE = 160
BEFORE = 60
"""Characters of a quote before the value that it shows, so that the line of a terminal holds the value."""

_EXIT = lazy_regex(r"\s*exit ?(?:code|status)[:= ]+(-?\d+)", re.IGNORECASE)
_FENCE = "```"
_LANGUAGES = frozenset(
    ("python", "python3", "py", "bash", "sh", "shell", "zsh", "javascript", "js", "sql", "r", "cpp", "c++")
)
_REFUSED = lazy_regex(
    r"\s*(?:error\b|traceback \(most recent call last\)|\{\s*\"error\"\s*:(?!\s*(?:null|false|\"\")))", re.I
)
_RAISED = lazy_regex(r"^(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)|Error)\b.*$", re.MULTILINE)
_NAMES_ERROR = lazy_regex(
    r"\b(?:error|fatal|no such file|not found|cannot|denied|refused|failed|timed out|invalid)\b", re.IGNORECASE
)
_FRAME = lazy_regex(r'^[^\S\n]++File "[^"\n]*", line \d++[^\n]*\n\s++(\S[^\n]*)$', re.MULTILINE)
_OUTPUT = lazy_regex(r"\A\s*exit ?(?:code|status)[^\n]*\n?\s*(?:code output:)?", re.IGNORECASE)
_WAITS = lazy_regex(r"\b(?:sleep|wait|poll)\b|\btail -[fF]\b|\bwatch ", re.IGNORECASE)
_NOTHING = frozenset(("", "none", "null", "[]", "{}", "()", '""', "''", "nan", "[none]"))


class ToolUse(NamedTuple):
    at: int
    """The position of the calling step in the transcript."""
    step: Step
    name: str
    arguments: Any
    reply: str | None
    """None where the log has no result."""
    reply_step: Step
    """The step that holds the result; the calling step itself in most logs."""
    error: str = ""
    """The line that names the error; empty where the call worked."""
    is_code: bool = False

    @property
    def returned_nothing(self) -> bool:
        return self.reply is not None and not self.error and output_of(self.reply).strip().lower() in _NOTHING

    @property
    def worked(self) -> bool:
        return self.reply is not None and not self.error and not self.returned_nothing


def speaker_of(step: Step) -> str:
    return step.actor.name or step.actor.role


def is_agent(step: Step) -> bool:
    return step.actor.role == "assistant"


def tool_uses(steps: Sequence[Step]) -> list[ToolUse]:
    """In the order of the transcript, whoever made the call."""
    returned: dict[int, list[Step]] = {}
    for step in steps:
        if step.kind == "tool_result" and step.parent is not None:
            returned.setdefault(step.parent, []).append(step)
    uses: list[ToolUse] = []
    code: tuple[int, Step, str] | None = None
    for at, step in enumerate(steps):
        if step.tool_calls:
            uses += _uses_of(at, step, returned)
            code = None
            continue
        exit_code = _EXIT.match(step.text)
        if code is not None and exit_code is not None and at - code[0] <= NEAR:
            uses.append(_executed(*code, step, int(exit_code[1])))
            code = None
        elif is_agent(step):
            block = code_in(step.text)
            if block:
                code = (at, step, block)
    return uses


def _uses_of(at: int, step: Step, returned: Mapping[int, list[Step]]) -> Iterator[ToolUse]:
    results = returned.get(step.index, [])
    for number, call in enumerate(step.tool_calls):
        result = results[number] if number < len(results) else None
        reply = _reply(call, result)
        error = _error_of(call, result, reply)
        arguments = call.arguments if call.arguments is not None else call.arguments_raw
        own = call.result is not None or call.error is not None or result is None
        yield ToolUse(at, step, call.name, arguments, reply, step if own or result is None else result, error)


def _reply(call: ToolCall, result: Step | None) -> str | None:
    if call.result is not None:
        return call.result.text or ("" if call.result.structured is None else as_json(call.result.structured))
    if call.error is not None:
        return call.error.message
    return result.text if result is not None else None


def _error_of(call: ToolCall, result: Step | None, reply: str | None) -> str:
    if call.error is not None:
        return error_line(f"{call.error.type}: {call.error.message}" if call.error.type else call.error.message)
    if call.parse_error:
        return error_line(call.parse_error)
    if call.result is not None and (call.result.is_error or call.result.exit_code not in (None, 0)):
        return error_line(reply or "") or f"exit code {call.result.exit_code}"
    if result is not None and (result.error is not None or any(part.get("is_error") is True for part in result.parts)):
        return error_line(result.error.message if result.error is not None else result.text) or "error"
    succeeded = call.result is not None and (call.result.is_error is False or call.result.exit_code == 0)
    return error_line(reply) if reply and not succeeded and is_refusal(reply) else ""


def _executed(at: int, step: Step, code: str, reply: Step, exit_code: int) -> ToolUse:
    error = (error_line(output_of(reply.text)) or f"exit code {exit_code}") if exit_code else ""
    return ToolUse(at, step, CODE, code, reply.text, reply, error, is_code=True)


def is_refusal(text: str) -> bool:
    """A result that is an error message."""
    return _REFUSED.match(text) is not None


def is_waiting(call: str) -> bool:
    """Asking again is right while something else is at work."""
    return _WAITS.search(call) is not None


def output_of(reply: str) -> str:
    """What code printed, without the line about its exit code."""
    return _OUTPUT.sub("", reply, count=1) if _EXIT.match(reply) else reply


def code_in(text: str) -> str:
    """The code that a message holds in fenced blocks with a language."""
    blocks, at = [], text.find(_FENCE)
    while at >= 0:
        line = text.find("\n", at)
        end = text.find(_FENCE, line) if line >= 0 else -1
        if line >= 0 and text[at + len(_FENCE) : line].strip().partition(" ")[0].lower() in _LANGUAGES:
            blocks.append(text[line + 1 : end if end >= 0 else len(text)])
        at = text.find(_FENCE, end + len(_FENCE)) if end >= 0 else -1
    return "\n".join(blocks)


def error_line(text: str) -> str:
    """The line that names the error: the last exception, else the first line with such a word, else the first."""
    text = text if len(text) <= 2 * LONGEST else f"{text[:LONGEST]}\n{text[-LONGEST:]}"
    raised = _RAISED.findall(text)
    if raised:
        return beginning(str(raised[-1]).strip(), ERROR_LINE)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = next((line for line in lines if _NAMES_ERROR.search(line)), lines[0] if lines else "")
    return beginning(named, ERROR_LINE)


def failing_line(reply: str, text: str) -> str:
    """The line of a message's code that a traceback points to; empty where it points elsewhere."""
    frames = [str(line).strip() for line in _FRAME.findall(reply[-LONGEST:])]
    return next((line for line in reversed(frames) if len(line) > 3 and line in text), "")


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def same_key(arguments: Any) -> str:
    """Equal for equal arguments, in whatever order they are written."""
    if isinstance(arguments, str):
        return arguments
    return json.dumps(arguments, ensure_ascii=False, default=str, sort_keys=True)


_OBJECT = lazy_regex(r"(?:^|_)ids?$|[a-z](?:ID|Id)s?$|(?:^|_)uuid$")
_OWNER = lazy_regex(r"(?:^|_)(?:user|customer|account|payment|session|request|trace)_?id$", re.IGNORECASE)


def object_ids(arguments: Any) -> frozenset[str]:
    """The ids of what a call is about: a reservation, an order. Whoever asks is in every call and identifies none."""
    if not isinstance(arguments, dict):
        return frozenset()
    named = {key: value for key, value in arguments.items() if isinstance(key, str) and _OBJECT.search(key)}
    own = {key: value for key, value in named.items() if not _OWNER.search(key)}
    values = [one for value in own.values() for one in (value if isinstance(value, list) else [value])]
    return frozenset(str(value) for value in values if isinstance(value, str | int) and str(value))


def arguments_quote(use: ToolUse, argument: str = "") -> str:
    """The arguments as a transcript shows them, or one of them."""
    if use.is_code or isinstance(use.arguments, str):
        text = str(use.arguments)
        return beginning(next((line.strip() for line in text.splitlines() if line.strip()), ""), ERROR_LINE)
    if argument and isinstance(use.arguments, dict) and argument in use.arguments:
        return beginning(as_json({argument: use.arguments[argument]})[1:-1], ERROR_LINE)
    return beginning(as_json(use.arguments), ERROR_LINE) if use.arguments else use.name


def text_of(step: Step) -> str:
    """All that a step holds, as a transcript shows it: its text, the arguments of its calls, and their results."""
    parts = [step.text]
    for call in step.tool_calls:
        parts.append(call.arguments_raw if call.arguments is None else as_json(call.arguments))
        if call.result is not None:
            parts.append(call.result.text if call.result.structured is None else as_json(call.result.structured))
    return "\n".join(parts)


def words_with(step: Step, value: str) -> str:
    """The line or sentence of a step that holds a value, or what of it is near the value; else the step's beginning."""
    text = text_of(step)
    is_number = value[:1].isdigit() and value.isascii()
    wanted = ",?".join(map(re.escape, value.replace(",", ""))) if is_number else re.escape(value)
    match = re.search(wanted, text, re.IGNORECASE) if value else None
    return (
        sentence_around(text, *match.span(), before=BEFORE)
        if match
        else beginning(text.strip().split("\n")[0], ERROR_LINE)
    )
