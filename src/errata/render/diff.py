"""Two texts side by side: which lines are equal, and which words of the others are not."""

from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest
from typing import Literal, NamedTuple

from errata.text.lazy_regex import lazy_regex

_WORDS = lazy_regex(r"\w+|\s+|[^\w\s]")
ALIKE = 0.35
"""Lines with less in common are shown as one removed and one added, without marks inside."""
LONGEST = 2_000
"""Characters of a line whose words are compared."""


class Piece(NamedTuple):
    text: str
    differs: bool


class DiffRow(NamedTuple):
    kind: Literal["same", "changed"]
    left: tuple[Piece, ...] | None
    """None where the other side has a line that this one lacks."""
    right: tuple[Piece, ...] | None


def diff_rows(left: str, right: str) -> list[DiffRow]:
    """Both texts line by line, in their order; joining the pieces of a side gives its text."""
    ours, theirs = left.split("\n"), right.split("\n")
    rows: list[DiffRow] = []
    for tag, start, end, other, last in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            rows += (DiffRow("same", _whole(line), _whole(line)) for line in ours[start:end])
        else:
            rows += _changed(ours[start:end], theirs[other:last])
    return rows


def _changed(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[DiffRow]:
    for mine, other in zip_longest(ours, theirs):
        if mine is None or other is None:
            yield DiffRow("changed", _maybe(mine), _maybe(other))
        else:
            yield DiffRow("changed", *_words(mine, other))


def _whole(text: str) -> tuple[Piece, ...]:
    return (Piece(text, False),) if text else ()


def _maybe(text: str | None) -> tuple[Piece, ...] | None:
    return None if text is None else _whole(text)


def _words(mine: str, other: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    if max(len(mine), len(other)) > LONGEST:
        return _whole(mine), _whole(other)
    ours, theirs = _WORDS.findall(mine), _WORDS.findall(other)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    if matcher.ratio() < ALIKE:
        return _whole(mine), _whole(other)
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, start, end, first, last in matcher.get_opcodes():
        for pieces, words in ((left, ours[start:end]), (right, theirs[first:last])):
            if words:
                pieces.append(Piece("".join(words), tag != "equal"))
    return tuple(left), tuple(right)


def diff_html(left: str, right: str, *, captions: tuple[str, str], clean: Callable[[str], str]) -> str:
    """Both sides in a grid; `clean` makes a text of several lines fit to be shown, `captions` are HTML already."""
    rows = "".join(map(_row, diff_rows(clean(left), clean(right))))
    head = "".join(f'<div class="side">{caption}</div>' for caption in captions)
    return f'<div class="diff" role="group" aria-label="difference"><div class="heads">{head}</div>{rows}</div>'


def _row(row: DiffRow) -> str:
    minus, plus = ("−", "+") if row.kind == "changed" else ("", "")
    cells = _side(row.left, "minus", minus, "del") + _side(row.right, "plus", plus, "ins")
    return f'<div class="{row.kind}">{cells}</div>'


def _side(pieces: tuple[Piece, ...] | None, kind: str, sign: str, tag: str) -> str:
    if pieces is None:
        return f'<div class="{kind} none"></div>'
    text = "".join(f"<{tag}>{escape(one.text)}</{tag}>" if one.differs else escape(one.text) for one in pieces)
    return f'<div class="{kind}"><span class="sign">{sign}</span><code>{text}</code></div>'
