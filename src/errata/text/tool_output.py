"""The line of a tool's output that carries information: the type error, the lint rule, the assertion."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from errata.text.clean import clean, one_line
from errata.text.lazy_regex import lazy_regex

READ = 200_000
HELD = 2_000
"""Texts whose line is kept: every page about a failure asks for it."""
LONG = 3
"""A text of more lines is a traceback or a listing."""


class KeyLine(NamedTuple):
    text: str
    """On one line, without the mark in front of it."""
    number: int
    """Of the line in the text, from 1 on."""
    file: str = ""
    """The file that it is about, where the output names it."""
    line: int = 0
    column: int = 0


# a log may put a tag before every line that a tool printed: `[vitest] AssertionError: …`
_TAG = lazy_regex(r"^\[[\w-]+\] ?")
_MARK = r"(?:[✖✘×⨯❌][️ ]*)"
# a compiler: `convex/a.ts(5,3): error TS2322: …`, `convex/a.ts:5:3 - error TS2322: …`, `error TS5057: …`
_COMPILER = lazy_regex(
    r"^\s*(?:(?P<file>[^\s():][^():\n]{0,300})[(:](?P<line>\d+)[,:](?P<column>\d+)\)?(?::| -) )?error TS\d+: \S.*$"
)
# eslint: the file on a line of its own, then `9:23  error  'ctx' is defined but never used  rule`
_LINT = lazy_regex(r"^\s*(?P<line>\d+):(?P<column>\d+)\s+error\s+\S.*$")
_LINTED_FILE = lazy_regex(r"^(?P<file>/?[\w.@~+-]+(?:[/\\][\w.@~+ -]+)*\.\w{1,5})$")
# a bundler: `✘ [ERROR] Could not resolve "./x"`, and the place some lines below
_BUNDLER = lazy_regex(rf"^\s*{_MARK}?\[ERROR\] (?P<text>\S.*)$")
_PLACE = lazy_regex(r"^\s+(?P<file>[\w./@-]+\.\w{1,5}):(?P<line>\d+):(?P<column>\d+):$")
_FRAME = lazy_regex(r"^\s*at .{0,300}?(?P<file>[\w./@-]+\.[cm]?[jt]sx?):(?P<line>\d+):(?P<column>\d+)\)?$")
# the heading of a failed test, with the error below it
_FAILED_TEST = lazy_regex(r"^\s*FAIL\s+\S")
_RAISED = lazy_regex(
    r"^\s*(?:E\s+)?(?:Failed to (?:evaluate|analyze|load|import) \S+: )?(?:Uncaught (?:\(in promise\) )?)?"
    r"(?:(?:\w+\.)*\w*(?:Error|Exception|Failure)(?: \[\w+\])?|panic): *\S.*$"
)
# a package manager and other programs: `error: package "x" not found`
_PROGRAM = lazy_regex(r"^\s*(?:error|fatal|ERR!?|npm (?:ERR!|error))(?: [A-Z]\w+)?:? +\S.*$")
_MARKED = lazy_regex(rf"^\s*{_MARK}(?P<text>\S.*)$")
# what a client prints around the reason that a server gives
_REQUEST = lazy_regex(r"^(?:Error: )?Error fetching [A-Z]+ +\S+ \d{3}(?: [A-Z][A-Za-z]*)*: +")

_PYTEST = lazy_regex(r"^E {2,}(\S.*)$", re.MULTILINE)
_NAMED = lazy_regex(r"^[^\S\n]*+((?:[\w.]*(?:Error|Exception)|assert\w*)\b.*)$", re.MULTILINE | re.IGNORECASE)

# lines that introduce others, and lines about progress or success
_HEADER = lazy_regex(r"^.{1,200}:$")
_THROWN = lazy_regex(r"^\w*(?:Error|Exception): (?:.{1,200}:|Command failed: .{1,500}|Tests failed \(ratio: [\d.]+\))$")
"""An error whose message only announces the output below it."""
# a server's announcement of the error below it
_ANNOUNCED = lazy_regex(
    r"^(?:Error: )?(?:(?:\[[^\]]{1,100}\] )?\[Request ID: \w+\] Server Error"
    r"|\w+: Failed to (?:evaluate|analyze|load|import) \S+)\.?$"
)
# `Schema validation failed.`, with the reason on the next line
_FAILED = lazy_regex(r"^[A-Z][a-z]+(?: [a-z]+){0,3} failed\.$")
_SECTION = lazy_regex(r"^[^\s:✖✘×][^:]{0,80}:$")
_NOTHING = lazy_regex(
    r"^\s*(?:$|\(no output\)$|[✔✓⚠☁]|[-–]\s+\S.*(?:\.\.\.|\bchecked)$|[A-Z][a-z]+ing [^:]{1,120}\.\.\.$|\$ "
    r"|(?:bun|npm|pnpm|yarn) (?:install|add|run|i)\b.*v?\d"
    r"|Unable to (?:start|finish) push to \S+$|No CONVEX_DEPLOYMENT set\b"
    r"|(?:Resolving dependencies|Resolved, downloaded and extracted|Saved lockfile|Aborting|To ignore failing)\b"
    r"|Oops! Something went wrong|[A-Z]\w+: v?\d+\.\d+\.\d+$"
    r"|.{0,80}\btypecheck\b.{0,40} failed\.?$|error: script .{0,80} exited with code \d+$|\w+ \[\d.{0,20}\]$)"
)


def key_line(text: str) -> str:
    """The informative line of a tool's output or a traceback; any other text whole, on one line."""
    if "\n" not in text:
        return one_line(text)
    if match := _PYTEST.search(text):
        return one_line(match[1])
    if (key := find_key_line(text)) is not None:
        return key.text
    match = _NAMED.search(text) if text.count("\n") > LONG else None
    return one_line(match[1] if match else text)


@lru_cache(maxsize=HELD)
def find_key_line(text: str) -> KeyLine | None:
    """None for a text of one line, and for one that is not the output of a tool."""
    if "\n" not in text.strip():
        return None
    lines = [_TAG.sub("", line) for line in clean(text[:READ]).split("\n")]
    if (diagnostic := _diagnostic(lines)) is not None:
        return diagnostic
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    if not _THROWN.match(lines[first].strip()):
        return None
    lines[first] = ""
    return next(filter(None, (_first_informative(lines, *part) for part in _sections(lines, first))), None)


def _diagnostic(lines: Sequence[str]) -> KeyLine | None:
    """What a compiler, linter, bundler or test runner found; the first of the last command's output."""
    parts = list(_sections(lines, 0))
    for start, end in parts if len(parts) > 1 else [(0, len(lines))]:
        for find in (_by_compiler, _by_linter, _by_bundler, _by_test):
            if (key := find(lines, start, end)) is not None:
                return key
    return None


def _by_compiler(lines: Sequence[str], start: int, end: int) -> KeyLine | None:
    for at in range(start, end):
        if match := _COMPILER.match(lines[at]):
            return KeyLine(
                one_line(lines[at]), at + 1, match["file"] or "", int(match["line"] or 0), int(match["column"] or 0)
            )
    return None


def _by_linter(lines: Sequence[str], start: int, end: int) -> KeyLine | None:
    file = ""
    for at in range(start, end):
        if named := _LINTED_FILE.match(lines[at].strip()):
            file = named["file"]
        elif match := _LINT.match(lines[at]):
            return KeyLine(one_line(lines[at]), at + 1, file, int(match["line"]), int(match["column"]))
    return None


def _by_bundler(lines: Sequence[str], start: int, end: int) -> KeyLine | None:
    for at in range(start, end):
        if match := _BUNDLER.match(lines[at]):
            return _placed(KeyLine(one_line(match["text"]), at + 1), lines[at + 1 : end], _PLACE)
    return None


def _by_test(lines: Sequence[str], start: int, end: int) -> KeyLine | None:
    """The error below the first failed test: what is printed before it may be the output of a test that passed."""
    heading = next((at for at in range(start, end) if _FAILED_TEST.match(lines[at])), None)
    for at in range(heading + 1, end) if heading is not None else ():
        if _RAISED.match(lines[at]) and not _announces(lines, at, end):
            # a server's error may be a sentence on the next line
            is_next = _ANNOUNCED.match(lines[at].strip()) is not None and at + 1 < end and _is_sentence(lines[at + 1])
            at += is_next
            return KeyLine(one_line(lines[at]), at + 1)
    return None


def _is_sentence(line: str) -> bool:
    return line[:1].isupper() and bool(_informative(line)) and not _FAILED_TEST.match(line)


def _announces(lines: Sequence[str], at: int, end: int) -> bool:
    """Whether the line only introduces the error on the next one."""
    if at + 1 >= end:
        return False
    shown = _REQUEST.sub("", _unmarked(lines[at]))
    if _ANNOUNCED.match(shown):
        return _RAISED.match(lines[at + 1]) is not None
    following = lines[at + 1]
    # a heading that goes on in an indented line: no sentence ends between them
    goes_on = following[:1].isspace() and not lines[at][:1].isspace() and shown[-1:].isalnum()
    return (goes_on and _is_header(following)) or (_FAILED.match(shown) is not None and bool(_informative(following)))


def is_announcement(line: str) -> bool:
    """Whether it only states that a server failed; the error is on the next line, or nowhere."""
    return _ANNOUNCED.match(_TAG.sub("", line).strip()) is not None


def _unmarked(line: str) -> str:
    match = _MARKED.match(line)
    return (match["text"] if match else line).strip()


def _sections(lines: Sequence[str], first: int) -> Iterator[tuple[int, int]]:
    """The parts that a header introduces, the last first: what ran before it was preparation."""
    end = len(lines)
    for at in range(len(lines) - 1, first - 1, -1):
        if _SECTION.match(lines[at]) or at == first:
            yield (at + 1 if _SECTION.match(lines[at]) else at), end
            end = at


def _is_header(line: str) -> bool:
    return _HEADER.match(line.strip()) is not None


def _first_informative(lines: Sequence[str], start: int, end: int) -> KeyLine | None:
    """An error that is marked as one, else the first line that is neither a header nor about progress."""
    telling = [
        (at, shown) for at in range(start, end) if (shown := _informative(lines[at])) and not _announces(lines, at, end)
    ]
    marked = (pair for pair in telling if any(p.match(lines[pair[0]]) for p in (_MARKED, _PROGRAM, _RAISED)))
    chosen = next(marked, telling[0] if telling else None)
    if chosen is None:
        return None
    at, shown = chosen
    return _placed(KeyLine(one_line(shown), at + 1), lines[at + 1 : end], _FRAME)


def _informative(line: str) -> str:
    """The line without its mark; empty where it carries no information."""
    bare = _REQUEST.sub("", _unmarked(line))
    if _NOTHING.match(bare) or _NOTHING.match(bare.removeprefix("Error: ")) or _is_header(bare) or _FRAME.match(line):
        return ""
    return bare


def _placed(key: KeyLine, below: Sequence[str], place: re.Pattern[str]) -> KeyLine:
    """With the first place that is printed below it, outside of libraries."""
    match = next((one for one in map(place.match, below[:40]) if one and "node_modules/" not in one["file"]), None)
    return (
        key if match is None else key._replace(file=match["file"], line=int(match["line"]), column=int(match["column"]))
    )
