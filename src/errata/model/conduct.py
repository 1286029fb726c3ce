"""What the subject did, in short: counted once from the steps of an attempt, so that rules need no transcript."""

import re
from collections.abc import Sequence
from typing import Any, Literal

from errata.model.record import Record, SourceRef
from errata.model.step import Step, ToolCall
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import BEYOND, beginning

QUOTE = 160
LOOKED_AT = 20_000
"""Of a long message the beginning and the end are searched, each up to this many characters."""


class Sighting(Record):
    """How often something was seen; the step, the words and the place of the first time."""

    count: int
    step: int
    quote: str = ""
    stated: str = ""
    """What errata states of it: a call as it is read, or that nothing came."""


ObstacleKind = Literal["not_installed", "crashed", "not_set_up"]


class Obstacle(Record):
    """What kept the agent's program from working, in a line of a log; `ref` is that log."""

    kind: ObstacleKind
    where: str
    quote: str = ""


class Conduct(Record):
    turns: int = 0
    """Answers of the subject; a text and the calls that come with it are one."""
    calls: int = 0
    tools_offered: int | None = None
    """How many tools the subject could call, where the log lists them."""
    empty_calls: Sighting | None = None
    """Calls without the arguments that the tool needs, and shell commands that do nothing."""
    mangled_calls: Sighting | None = None
    """Calls whose command or path begins with characters that none begins with."""
    failed_calls: Sighting | None = None
    """Calls that the tool itself answered with an error; a command's exit code is not one."""
    repeated_call: Sighting | None = None
    """The longest run of one identical call."""
    calls_as_text: Sighting | None = None
    """Messages that hold a tool call as text, and that nothing answered."""
    ends_in_text_call: bool = False
    """The last answer is one of these."""
    control_tokens: Sighting | None = None
    """Messages with tokens of a chat template in their text."""
    ended_empty: Sighting | None = None
    """The last answer has neither text nor calls, although there were calls, or tokens were spent on it."""
    ended_in_thought: bool = False
    """That answer holds reasoning, or tokens were spent on it: something came."""
    obstacle: Obstacle | None = None


def is_plain(steps: Sequence[Step]) -> bool:
    """Whether a few steps are a question and an answer in words: one text of the subject, without any call."""
    answers = 0
    for step in steps:
        if step.tool_calls or step.error is not None:
            return False
        if step.actor.role == "assistant":
            text = step.text
            answers += 1
            if not text or len(text) > LOOKED_AT or "<" in text or "{" in text or "[" in text:
                return False
    return answers == 1


def conduct_of(steps: Sequence[Step], known: Conduct | None = None) -> Conduct | None:
    """None where no step is the subject's. `known` is what the source has learnt, such as the tools on offer."""
    tally: _ConductTally | None = None
    turns, last, is_open = 0, None, False
    for step in steps:
        if step.actor.role != "assistant":
            is_open = False
            if step.parts and step.actor.role == "tool":
                tally = tally or _ConductTally()
                tally.add_result(step)
            continue
        text, calls = step.text, step.tool_calls
        # a text and the calls behind it are one answer
        turns += not is_open
        is_open = not calls
        if step.parent is None or last is None or last.parent is not None:
            last = step
        if "<" in text or "[" in text:
            tally = tally or _ConductTally()
            tally.add_tokens(step, text)
        if calls:
            tally = tally or _ConductTally()
            for call in calls:
                tally.add_call(step, call)
    if last is None:
        return known
    if tally is None and "{" in last.text:
        tally = _ConductTally()
    offered, obstacle = (known.tools_offered, known.obstacle) if known else (None, None)
    if tally is None:
        return Conduct(
            turns=turns,
            tools_offered=offered,
            ended_empty=_ended_empty(last, 0),
            ended_in_thought=_ended_in_thought(last, 0),
            obstacle=obstacle,
        )
    tally.look_for_calls_as_text(steps, last)
    return Conduct(
        turns=turns,
        calls=tally.calls,
        tools_offered=offered,
        empty_calls=tally.empty_calls(),
        mangled_calls=_sighting(tally.mangled),
        failed_calls=_sighting(tally.failed),
        repeated_call=tally.longest_call,
        calls_as_text=_sighting(tally.as_text),
        ends_in_text_call=tally.ends_in_text_call,
        control_tokens=_sighting(tally.tokens),
        ended_empty=_ended_empty(last, tally.calls),
        ended_in_thought=_ended_in_thought(last, tally.calls),
        obstacle=obstacle,
    )


class _ConductTally:
    def __init__(self) -> None:
        self.calls = 0
        self.mangled: list[Any] = []
        self.failed: list[Any] = []
        self.as_text: list[Any] = []
        self.tokens: list[Any] = []
        self.longest_call: Sighting | None = None
        self._empty: list[tuple[Step, ToolCall, str]] = []
        self._with_arguments: set[str] = set()
        self._last: ToolCall | None = None
        self._run = self._run_at = 0
        self._run_ref: SourceRef | None = None
        self.ends_in_text_call = False

    def add_tokens(self, step: Step, text: str) -> None:
        if "<|" in text or "<｜" in text or "[TOOL_CALLS]" in text:
            match = _CONTROL.search(text)
            if match:
                self.note(self.tokens, step, _around(text, match))

    def note(self, seen: list[Any], step: Step, quote: str, stated: str = "") -> None:
        if seen:
            seen[0] += 1
        else:
            seen += [1, step.index, _short(quote), _short(stated), step.ref]

    def add_call(self, step: Step, call: ToolCall) -> None:
        self.calls += 1
        last, arguments = self._last, call.arguments
        if last is not None and last.name == call.name and last.arguments == arguments:
            self._run += 1
            if self._run > (self.longest_call.count if self.longest_call else 1):
                stated = _called(call)
                self.longest_call = Sighting(count=self._run, step=self._run_at, stated=stated, ref=self._run_ref)
        else:
            self._last, self._run, self._run_at, self._run_ref = call, 1, step.index, step.ref
        result = call.result
        if call.error is not None or (result is not None and result.is_error):
            reply = call.error.message if call.error is not None else result.text if result is not None else ""
            self.note(self.failed, step, reply)
        if not arguments:
            self._empty.append((step, call, ""))
            return
        key, words = _main_argument(arguments)
        if words is None or words[:1].isalnum():
            self._with_arguments.add(call.name)
            return
        if key in _SHELL:
            if key == "keystrokes":  # keys may be anything, and none at all is how some agents wait
                self._with_arguments.add(call.name)
                return
            if not _does_something(words):
                self._empty.append((step, call, words))
                return
            if _STRAY.match(words):
                self.note(self.mangled, step, words, call.name)
        elif not words.strip():
            if not any(value not in (None, "", [], {}) for value in arguments.values()):
                self._empty.append((step, call, words))
            return
        elif _STRAY_IN_PATH.match(words):
            self.note(self.mangled, step, words, call.name)
        self._with_arguments.add(call.name)

    def add_result(self, step: Step) -> None:
        """Chat logs keep the result of a call as a message of its own."""
        if step.error is not None or any(part.get("is_error") is True for part in step.parts):
            self.note(self.failed, step, step.error.message if step.error is not None else step.text)

    def look_for_calls_as_text(self, steps: Sequence[Step], last: Step) -> None:
        """Only in messages that no tool answered: agents may speak to their harness in text, and then it answers."""
        for at, step in enumerate(steps):
            if step.actor.role != "assistant" or step.tool_calls or not step.text:
                continue
            after = next((one.actor.role for one in steps[at + 1 : at + 2]), "")
            if (step is last and after not in _ANSWERS) or (after == "user" and self.calls):
                match = text_call_in(step.text)
                if match is not None:
                    self.note(self.as_text, step, _around(match.string, match))
                    self.ends_in_text_call = step is last

    def empty_calls(self) -> Sighting | None:
        """A call without arguments counts where the tool takes some: elsewhere in the session, or by its name."""
        empty: list[Any] = []
        for step, call, words in self._empty:
            if call.arguments or call.name in self._with_arguments or _TAKES_ARGUMENTS.search(call.name):
                self.note(empty, step, "", f"{call.name}({words!r})" if call.arguments else f"{call.name}()")
        return _sighting(empty)


_SHELL = frozenset(("command", "cmd", "commands", "keystrokes", "script", "bash_command", "shell_command"))
_PATHS = frozenset(("file_path", "path", "filename", "file", "filepath", "absolute_path", "target_file"))
_SHOWING = _SHELL | _PATHS
_STRAY = lazy_regex(r"\s*(?:[,;)\]}>|&=+*?^]|:(?=[^\s:{]))")
"""No command begins with these. `: > file` and `:(){` are shell, `:ls` is not."""
_NO_OP = lazy_regex(r"\s*:\s[^>$\"'<;&|\n]*\Z")
"""The shell ignores what follows a colon, unless it redirects or expands something."""
_STRAY_IN_PATH = lazy_regex(r"\s*[,;)\]}>|&=?^:]")
_TAKES_ARGUMENTS = lazy_regex(
    r"(?:^|[_.-])(?:bash|shell|sh|terminal|exec\w*|python|ipython|run_?command|read|write|edit|grep|glob|search|fetch"
    r"|str_replace\w*|apply_?patch)(?:$|[_.-])",
    re.IGNORECASE,
)


def _main_argument(arguments: Any) -> tuple[str, str | None]:
    """The command or the path of a call, which shows best what it is for."""
    if type(arguments) is dict:
        for key, value in arguments.items():
            if key in _SHELL or key in _PATHS:
                if type(value) is str:
                    return key, value
                if type(value) is list and all(type(part) is str for part in value):
                    return key, " ".join(value)
    return "", None


def _does_something(command: str) -> bool:
    """Whether it is more than punctuation; keys such as Enter and Escape do something, `: ls` does nothing."""
    if command.lstrip().startswith(":") and _NO_OP.match(command):
        return False
    return any(char.isalnum() or char in "\n\r\t\x1b\x03\x04" for char in command) or command.strip() in ("~", "!!")


# tokens that only a chat template writes: <|im_end|>, <｜tool▁sep｜>, [TOOL_CALLS]
_CONTROL = lazy_regex(r"<[|｜][A-Za-z_▁][\w▁ .-]{1,40}[|｜]>|\[TOOL_CALLS\]")

_NAMED_CALL = lazy_regex(
    r"\"(?:name|function|tool|tool_name|recipient_name)\"\s*:\s*\"[\w.:-]{1,80}\"\s*,\s*"
    r"\"(?:arguments|parameters|args|input|tool_input|action_input)\"\s*:\s*+(?:\"\s*+)?\{"
    r"|\"(?:arguments|parameters|args)\"\s*:\s*\{[^{}]{0,2000}\}\s*,\s*\"(?:name|tool_name)\"\s*:\s*\"[\w.:-]{1,80}\""
)
_TAGGED_CALL = lazy_regex(
    r"<(?:tool_call|function_calls?|tool_use|tool_calls)>|<(?:\w{1,12}:)?invoke name=|<function=\w"
    r"|<[|｜][^<>\n]{0,30}(?:tool|function|python_tag)[^<>\n]{0,30}[|｜]>|\[TOOL_CALLS\]|to=functions\.\w"
)
_JSON_BLOCK = lazy_regex(r"(?:^|\n)[ \t]*(?:`{3,})?json[ \t]*\n\s*\{\s*(?:\"(\w{1,40})\"\s*:|\}\s*+(?:`{3,}\s*+)?\Z)")
_PARAMETERS = _SHOWING | frozenset(
    ("todos", "pattern", "url", "query", "code", "old_string", "new_string", "old_str", "new_str", "patch", "prompt",
     "subagent_type", "plan", "thought", "shell_id", "bash_id", "task_id", "cell_id", "notebook_path")
)  # fmt: skip
"""First arguments of the tools of coding agents, as these document them."""


def text_call_in(text: str) -> re.Match[str] | None:
    """A tool call that is written as text: JSON with a name and arguments, tags, template tokens, or bare arguments."""
    if "{" not in text and "<" not in text and "[" not in text:
        return None
    if len(text) > 2 * LOOKED_AT:
        text = f"{text[:LOOKED_AT]}\n{text[-LOOKED_AT:]}"
    match = _TAGGED_CALL.search(text) or _NAMED_CALL.search(text)
    if match is None:
        match = next((one for one in _JSON_BLOCK.finditer(text) if one[1] is None or one[1] in _PARAMETERS), None)
    return match


_ANSWERS = ("user", "tool", "environment")


def _ended_empty(last: Step, calls: int) -> Sighting | None:
    if last.tool_calls or last.parts or last.error is not None or not _is_empty(last.text):
        return None
    if not calls and not _spent(last):
        return None
    stated = "" if last.text else f"empty after {calls} calls"
    return Sighting(count=1, step=last.index, quote=last.text, stated=stated, ref=last.ref)


def _ended_in_thought(last: Step, calls: int) -> bool:
    came = bool(last.reasoning and not last.reasoning.isspace()) or _spent(last) > 0
    return came and _ended_empty(last, calls) is not None


def _spent(step: Step) -> int:
    return (step.usage.output or 0) if step.usage is not None else 0


def _is_empty(text: str) -> bool:
    """Claude Code writes `(no content)` for an empty message."""
    return not text or text.isspace() or text == "(no content)"


def _sighting(seen: list[Any]) -> Sighting | None:
    return Sighting(count=seen[0], step=seen[1], quote=seen[2], stated=seen[3], ref=seen[4]) if seen else None


def _short(text: str) -> str:
    return beginning(" ".join(text[: 2 * QUOTE + BEYOND].split()), QUOTE)


def _around(text: str, match: re.Match[str]) -> str:
    """The matched words with what follows them."""
    return beginning(text[match.start() : match.start() + QUOTE + BEYOND], QUOTE).strip()


def _called(call: ToolCall) -> str:
    _, words = _main_argument(call.arguments)
    return _short(
        f"{call.name}: {words}" if words is not None else f"{call.name}({beginning(str(call.arguments), QUOTE)})"
    )
