"""Print data to stdout and messages to stderr: cleaned, redacted, and no wider than the page."""

import sys
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import click
import msgspec

from errata.cli import fitting
from errata.cli.colour import colour_words
from errata.cli.fitting import columns, fold, padded
from errata.cli.progress import clear_status_line
from errata.model.codec import to_whole
from errata.render.figures import money as money
from errata.render.figures import plural as plural
from errata.text.lazy_regex import lazy_regex
from errata.text.outgoing import for_user, tree_for_user
from errata.text.shell import shell_word

WIDTH = fitting.WIDTH
NOTE_GAP = "   "
SHALLOW = 4
"""The indentation of lines that would not fit further to the right."""


def write_out(text: str) -> None:
    """To stdout as it is, where the status line would be in the way."""
    clear_status_line()
    sys.stdout.write(text)


class HasJson(Protocol):
    def as_json(self) -> object: ...


def say(text: str = "", *, hang: int | None = None, lines: bool = False) -> None:
    """Talk: progress and hints, washed like data. Paths stay in one piece, so that they can be copied."""
    for line in _lines(text, lines=lines):
        clear_status_line()
        click.echo("\n".join(hanging(line, hang)), err=True)


def put(
    text: str = "", *, hang: int | None = None, raw: bool = False, colour: Sequence[str] = (), lines: bool = False
) -> None:
    """Print one line of data, cleaned and redacted. A long line continues below, `hang` columns from the left.

    Line breaks in front make blank lines. Others come from names, and are folded unless the text has `lines`.
    `colour` names the owners and outcomes in it, which get their colours on a terminal.
    """
    for line in _lines(text, raw=raw, lines=lines):
        first, *rest = hanging(line, hang)
        write_out("\n".join([colour_words(first, colour), *rest]) + "\n")


def _lines(text: str, *, raw: bool = False, lines: bool = False) -> list[str]:
    if lines:
        return wash(text, raw=raw).split("\n")
    body = text.lstrip("\n")
    return [""] * (len(text) - len(body)) + [wash(body, raw=raw).replace("\n", " ")]


def hanging(line: str, hang: int | None = None) -> list[str]:
    """The line, folded to the page; what does not fit continues `hang` columns from the left.

    Where a path or an id would not fit there, all of it continues further left. A single word that is too wide for the
    page stays in one piece.
    """
    indent = len(line) - len(line.lstrip(" ")) + 2 if hang is None else hang
    lines = [line]
    for depth in dict.fromkeys((indent, min(indent, SHALLOW))):
        first, *rest = fold(line, WIDTH - depth, first=WIDTH, whole_words=True)
        lines = [first, *(" " * depth + one for one in rest)]
        if all(columns(one) <= WIDTH for one in lines):
            break
    return [pulled_left(one) for one in lines]


def pulled_left(line: str) -> str:
    """The line, with less indentation if it is too wide for the page."""
    if columns(line) <= WIDTH:
        return line
    bare = line.lstrip(" ")
    shallow = min(SHALLOW, len(line) - len(bare))
    return " " * (shallow if columns(bare) > WIDTH else min(shallow, WIDTH - columns(bare))) + bare


def put_quote(text: str, *, indent: int, most: int = 0, raw: bool = False) -> None:
    """Quote a log, behind `>` on every line; at most `most` lines, 0 for all."""
    shown = 0
    left = wash(text, raw=raw).split("\n")
    for at, line in enumerate(left):
        for part in fold(line, WIDTH - indent - 2):
            if most and shown == most:
                more = plural(len(left) - at, "more line") if at else "more"
                write_out(f"{' ' * indent}… {more} with --full\n")
                return
            write_out(f"{' ' * indent}> {part}".rstrip() + "\n")
            shown += 1


def put_command(label: str, words: Sequence[str], note: str = "", *, width: int = 0, indent: int = 9) -> None:
    """A command to be copied, with a note beside it, or below it as a comment of the shell."""
    parts = [shell_word(word) for word in words]
    line = f"{label:<{indent - 1}} {wash(' '.join(parts))}"
    if note:
        noted = f"{padded(line, width + indent)}{NOTE_GAP}{note}"
        if columns(noted) <= WIDTH:
            put(noted)
            return
    put_words(parts, head=f"{label:<{indent - 1}} ", deeper=indent + 2)
    if note:
        put(f"{'':<{indent + 2}}# {note}", hang=indent + 4)


def put_words(words: Sequence[str], *, head: str, deeper: int) -> None:
    """Words for a shell: broken between words with a backslash, never within one, even if it is wider than the page."""
    line = head + wash(words[0])
    for at, word in enumerate(map(wash, words[1:]), 2):
        more = " \\" if at < len(words) else ""
        if columns(f"{line} {word}{more}") > WIDTH:
            write_out(wash(f"{line} \\") + "\n")
            line = " " * deeper + word
        else:
            line += f" {word}"
    write_out(wash(line) + "\n")


def wash(text: str, *, raw: bool = False) -> str:
    """Redacted whole, before it is cut or folded: half a secret looks like none."""
    return for_user(text, raw=raw)


def put_json(value: Any, *, raw: bool = False) -> None:
    """One JSON object on one line. Every field of a record is there, whatever its value, but for empty notes."""
    plain = to_whole(value)
    encoded = msgspec.json.encode(plain if raw else tree_for_user(plain)).decode("utf-8")
    write_out(_HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", encoded) + "\n")


def put_lines_of_json(records: Iterable[HasJson], *, raw: bool = False) -> int:
    """Print a list, an object a line, and return how many there were."""
    count = 0
    for record in records:
        put_json(record.as_json(), raw=raw)
        count += 1
    return count


# what JSON lets through unescaped and a terminal would act on
_HIDDEN = lazy_regex("[\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]")


def value_of(value: object) -> str:
    """A value of a log for people: texts as they are, numbers without noise, all else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    return msgspec.json.encode(to_whole(value)).decode("utf-8")


def number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"
