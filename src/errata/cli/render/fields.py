"""Labelled lines: a field with its text, a short path, a command that undoes a change."""

from collections.abc import Sequence
from pathlib import Path

from errata.cli.fitting import WIDTH, columns, fold
from errata.cli.output import put, wash, write_out
from errata.text.shell import shell_word

SHORT = 8
"""Characters of an id that are shown; enough to name it."""
HANG = 9
ROOM = WIDTH - HANG - 2


def put_field(label: str, text: str) -> None:
    put(f"{label:<{HANG - 1}} {text}", hang=HANG)


def put_undo(words: Sequence[str]) -> None:
    """On several lines if needed: a shell joins them, and white space in a text counts as one blank."""
    lines = [""]
    for word in (wash(shell_word(word)) for word in words):
        if lines[-1] and columns(f"{lines[-1]} {word}") > ROOM:
            lines[-1] += " \\"
            lines.append("")
        first, *rest = fold(f"{lines[-1]} {word}".lstrip(), ROOM, whole_words=True)
        lines[-1:] = [first, *rest]
    for at, line in enumerate(lines):
        write_out(f"{'' if at else 'Undo':<{HANG - 1}} {line}\n")


def visible_name(name: str) -> str:
    """In quotes where it begins or ends with a blank, which nobody sees and everybody has to type."""
    return f"'{name}'" if name != name.strip() else name


def place_of(path: str) -> str:
    """The shortest form: relative to the current folder, to the home folder, or absolute."""
    names = [path]
    for start, sign in ((Path.cwd(), "."), (Path.home(), "~")):
        if path == str(start):
            names.append(sign)
        elif path.startswith(f"{start}/") and start != start.parent:
            below = path.removeprefix(f"{start}/")
            names.append(below if sign == "." else f"~/{below}")
    return min(names, key=len)
