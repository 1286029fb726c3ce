"""What kept the subject from working: its program was missing or crashed, the set-up failed, calls did not arrive."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import msgspec

from errata.model.attempt import Attempt
from errata.model.case import Artefact
from errata.model.conduct import QUOTE, Conduct, Obstacle, ObstacleKind, Sighting, conduct_of, is_plain
from errata.model.words import Confidence
from errata.text.clean import clean
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import beginning

TAIL = 8_000
FEWEST = 3
"""Fewer odd calls than this may be a subject's slip."""
MANGLED = 0.25
PLAIN = 3
"""Most logs hold a question and its answer: nothing of these is worth counting."""
EMPTY = 0.5
MOSTLY_EMPTY = 0.75
"""Some agents send an empty command to wait; but not with every other call."""

# what an agent program prints; a terminal that the subject itself works in is none
_AGENT_LOG = lazy_regex(
    r"(?:^|/)(?:agent/(?!oracle\.)[^/]+\.(?:txt|log)|agent/(?:setup|command-\d+)/\w+\.txt|agent-logs/[^/]+)$"
)
_PANE = lazy_regex(r"(?:^|/)(?:panes/post-agent\.txt|sessions/agent\.log)$")
_RUN_LOG = lazy_regex(r"(?:^|/)(?:run|job|trial)\.log$")
_INSTALLED = "/installed-agent/"
_STREAM = lazy_regex(r'^\{"type": ?"(?:system|assistant|user|result|thread\.|item\.)', re.MULTILINE)
_PROMPT = lazy_regex(r"[^\n]{0,120}[\w)~/\]][#$%>] ?")


class TellingLine(NamedTuple):
    text: str
    program: str = ""


def conduct_in(attempt: Attempt) -> Conduct | None:
    """What the steps and the files of an attempt show of the subject's work; None where it has neither."""
    steps, known = attempt.steps, attempt.conduct
    is_short = known is None and len(steps) <= PLAIN
    # what is worth counting of the steps, beside what the source has learnt
    conduct = known if not steps or (is_short and is_plain(steps)) else conduct_of(steps, known)
    obstacle = obstacle_in(attempt, conduct) if attempt.artefacts else None
    if obstacle is None:
        return conduct
    return msgspec.structs.replace(conduct or Conduct(), obstacle=obstacle)


def obstacle_in(attempt: Attempt, conduct: Conduct | None) -> Obstacle | None:
    """From the files of an attempt whose transcript, if there is one, is already counted."""
    if not attempt.artefacts:
        return None
    has_worked = bool(attempt.usage.subject.tokens or (conduct is not None and conduct.turns))
    was_stopped = attempt.execution in ("limit", "cancelled")
    started: frozenset[str] | None = None
    for artefact, text in _agent_logs(attempt):
        line = None if was_stopped else _crash_at_end(text)
        if line is not None:
            return _obstacle("crashed", artefact, line)
        line = None if has_worked else _not_found_at_end(text)
        if line is not None:
            started = _programs_started(attempt) if started is None else started
            if not line.program or not started or line.program in started:
                return _obstacle("not_installed", artefact, line)
    if has_worked or attempt.outcome != "none":
        return None
    for artefact in attempt.artefacts:
        if artefact.role == "log" and artefact.text and _RUN_LOG.search(artefact.path):
            match = _SETUP.search(clean(artefact.text))
            if match is not None:
                return _obstacle("not_set_up", artefact, TellingLine(match[0].strip()))
    return None


def _obstacle(kind: ObstacleKind, artefact: Artefact, line: TellingLine) -> Obstacle:
    text = artefact.text or ""
    # of a passage of a larger file, `ref` has the line
    at = -1 if artefact.ref is not None and artefact.ref.line is not None else text.rfind(line.text)
    where = f"{artefact.path}:{artefact.line_at(text, at)}" if at >= 0 else artefact.path
    return Obstacle(kind=kind, where=where, quote=beginning(" ".join(line.text.split()), QUOTE), ref=artefact.ref)


def runs_with_tools(calling: int, writing: int) -> bool:
    """Whether a run offers tools although its log lists none: attempts that call some beside those that write calls."""
    return calling >= max(FEWEST, MANGLED * (calling + writing))


def only_writes_calls(conduct: Conduct) -> bool:
    """Whether the answer ends in a written call, and nothing in the attempt itself shows that there were tools."""
    return conduct.ends_in_text_call and not conduct.calls and not conduct.tools_offered


def channel_state(conduct: Conduct) -> tuple[Confidence | None, Sighting | None]:
    """How sure it is that tool calls did not arrive, and the first that shows it; None where they did."""
    calls, mangled, empty = conduct.calls, conduct.mangled_calls, conduct.empty_calls
    odd = mangled or empty
    if odd is not None and calls >= FEWEST:
        stray = mangled.count if mangled else 0
        both = stray + (empty.count if empty else 0)
        refused = both + (conduct.failed_calls.count if conduct.failed_calls else 0)
        if stray >= max(FEWEST, MANGLED * calls) or (stray and refused >= max(FEWEST, EMPTY * calls)):
            return "likely", odd
        if both >= max(FEWEST, EMPTY * calls):
            return "likely" if both >= MOSTLY_EMPTY * calls else "weak", odd
    # a subject without tools can only write a call as text, and the task may ask for it
    if not calls and not conduct.tools_offered:
        return None, None
    written = conduct.calls_as_text
    if written is not None and (conduct.ends_in_text_call or 2 * written.count >= conduct.turns):
        return "likely", written
    if conduct.control_tokens is not None and not calls:
        return "likely", conduct.control_tokens
    return None, None


def _agent_logs(attempt: Attempt) -> Iterator[tuple[Artefact, str]]:
    for artefact in attempt.artefacts:
        if artefact.role != "log" or not artefact.text:
            continue
        if _AGENT_LOG.search(artefact.path) or (
            _PANE.search(artefact.path) and (_STREAM.search(artefact.text) or _keys_sent(attempt))
        ):
            yield artefact, artefact.text


def _keys_sent(attempt: Attempt) -> str:
    """What the harness typed after it installed an agent program; empty where it installed none."""
    for artefact in attempt.artefacts:
        if artefact.text and artefact.path.endswith("commands.txt") and _INSTALLED in artefact.text:
            return artefact.text.rpartition(_INSTALLED)[2]
    return ""


def _programs_started(attempt: Attempt) -> frozenset[str]:
    lines = _keys_sent(attempt).splitlines()[1:]
    return frozenset(name.rpartition("/")[2] for line in lines for name in _STARTED.findall(line[:400]))


_STARTED = lazy_regex(r"""(?:^\[['"]|&& |; |\| )(?:\w+=\S* )*([\w./+-]+)""")


@lru_cache(maxsize=100)
def _ending(text: str) -> str:
    """The end of a log, without the shell's prompt behind it."""
    lines = clean(text[-TAIL:]).split("\n")
    while lines and (not lines[-1].strip() or _PROMPT.fullmatch(lines[-1].rstrip())):
        lines.pop()
    return "\n".join(lines)


_NOT_FOUND = lazy_regex(
    r"^(?:[\w./-]*sh(?:\[\d+\])?: (?:line \d+: |\d+: )?(?P<program>[\w./+-]+): (?:command )?not found"
    r"|(?:\S*/)?env: [‘'](?P<interpreter>[\w./+-]+)[’']: No such file or directory"
    r"|INSTALL_FAIL_STATUS)\s*$",
    re.MULTILINE,
)
LINES_BEHIND = 3
"""A shell may print a few lines of its own behind the message; an agent prints many."""


def _not_found_at_end(text: str) -> TellingLine | None:
    if "not found" not in text and "No such file" not in text and "INSTALL_FAIL" not in text:
        return None
    ending = _ending(text)
    match = next(iter([*_NOT_FOUND.finditer(ending)][-1:]), None)
    if match is None or ending.count("\n", match.end()) > LINES_BEHIND or _STREAM.search(text):
        return None
    return TellingLine(match[0].strip(), (match["program"] or "").rpartition("/")[2])


# how a program ends in an exception: Node prints its version, Python the exception, Rust and Go panic
_NODE = lazy_regex(
    r"^(?P<line>(?:Uncaught )?[\w.]*(?:Error|Exception)\b[^\n]*)\n(?:[^\n]*\n){1,60}Node\.js v\d+\S*\Z", re.MULTILINE
)
_OLD_NODE = lazy_regex(
    r"Unhandled 'error' event\n(?:[^\n]*\n){0,4}(?P<line>[\w.]*Error\b[^\n]*)\n"
    r"(?:(?:[ \t]|Emitted 'error'|\})[^\n]*\n|\n){1,60}(?:[ \t][^\n]*|\}?)\Z",
)
_PYTHON = lazy_regex(r"\n(?P<line>[A-Za-z_][\w.]*(?:Error|Exception|Interrupt)\b(?::[^\n]*)?)\Z")
# behind a panic only its own words: the message, notes, a stack
_PANIC = lazy_regex(
    r"^(?P<line>panic: [^\n]*|thread '[^'\n]*' (?:\(\d+\) )?panicked at [^\n]*)\n(?:[^\n]*\n)?"
    r"(?:(?:[ \t]|note: |goroutine |stack backtrace|exit status |created by |[\w./*]+\()[^\n]*\n|\n){0,60}"
    r"(?:(?:[ \t]|note: |exit status |[\w./*]+\()[^\n]*)?\Z",
    re.MULTILINE,
)
_FIRST_FRAME = lazy_regex(r"(?:File \"|[│|] )(?P<path>/[^\"\n:]+)")
_PROGRAMS = lazy_regex(r"/(?:s?bin|site-packages|dist-packages|uv/tools|pipx)/")


_TRACEBACK = "Traceback (most recent call last)"


def _crash_at_end(text: str) -> TellingLine | None:
    tail = text[-TAIL:]
    if "Error" not in tail and "panic" not in tail and "Exception" not in tail:
        return None
    ending = _ending(text)
    match = _NODE.search(ending) if "\nNode.js v" in ending else None
    if match is None and "Unhandled 'error' event" in ending:
        match = _OLD_NODE.search(ending)
    if match is None and _TRACEBACK in ending:
        first = _FIRST_FRAME.search(ending.rpartition(_TRACEBACK)[2])
        # the subject's own programs are in none of these folders
        match = _PYTHON.search(ending) if first and _PROGRAMS.search(first["path"]) else None
    if match is None and "panic" in ending:
        match = _PANIC.search(ending)
    if match is None or '{"type":"result"' in ending:
        return None
    return TellingLine(match["line"].strip())


_SETUP = lazy_regex(
    r"^.*(?:Error response from daemon|[Cc]annot connect to the Docker daemon|failed to solve:|pull access denied"
    r"|all predefined address pools|port is already allocated|no space left on device|manifest unknown"
    r"|docker[^\n]{0,200}(?:returned non-zero exit status|exit code [1-9])"
    r"|(?:docker|container|sandbox|pod|image)[^\n]{0,80}"
    r"(?:failed to (?:start|build|create|pull)|is unhealthy|not running|exited with code [1-9])).*$",
    re.MULTILINE,
)
