"""Two texts side by side: which lines are equal, and which words of the others are not."""

from collections.abc import Callable, Collection, Iterator, Sequence
from difflib import SequenceMatcher
from html import escape
from itertools import zip_longest
from typing import Literal, NamedTuple

from errata.text.lazy_regex import lazy_regex

_WORDS = lazy_regex(r"\w+|\s+|[^\w\s]")
ALIKE = 0.35
"""Lines with less in common are shown as one removed and one added, without marks inside."""
NEARLY_SAME = 0.6
"""Lines with at least this much in common are shown beside each other."""
MOST_PAIRS = 900
"""Pairs of lines that are compared; longer changes are shown in their order."""
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
    """Lines that are nearly the same stand beside each other, the others in their order."""
    near = list(_nearly_same(ours, theirs))
    if not near and len(ours) != len(theirs) and (marked := _over_lines(ours, theirs)) is not None:
        yield from (DiffRow("changed", left, right) for left, right in zip_longest(*marked))
        return
    start, first = 0, 0
    for at, other in [*near, (len(ours), len(theirs))]:
        yield from _beside(ours[start:at], theirs[first:other])
        if at < len(ours):
            yield DiffRow("changed", *_words(ours[at], theirs[other]))
        start, first = at + 1, other + 1


Line = tuple[Piece, ...]


def _over_lines(ours: Sequence[str], theirs: Sequence[str]) -> tuple[list[Line], list[Line]] | None:
    """The same text broken into other lines: the words of each side that the other lacks; none if little is alike."""
    sides: list[list[str]] = [_WORDS.findall("\n".join(lines)) for lines in (ours, theirs)]
    if not all(sides) or max(map(len, sides)) > MOST_PAIRS:
        return None
    words = [[word for word in side if not word.isspace()] for side in sides]
    matcher = SequenceMatcher(None, words[0], words[1], autojunk=False)
    if matcher.ratio() < ALIKE:
        return None
    blocks = matcher.get_matching_blocks()
    same = [
        {at + step for *starts, size in blocks for at in starts[side : side + 1] for step in range(size)}
        for side in (0, 1)
    ]
    left, right = (_marked_lines(side, equal) for side, equal in zip(sides, same, strict=True))
    return left, right


def _marked_lines(tokens: Sequence[str], same: Collection[int]) -> list[Line]:
    """`same` are the places of the words, without blanks, that both sides have."""
    lines: list[list[Piece]] = [[]]
    at = 0
    for token in tokens:
        if not token.isspace():
            lines[-1].append(Piece(token, at not in same))
            at += 1
            continue
        for number, blank in enumerate(token.split("\n")):
            if number:
                lines.append([])
            if blank:
                lines[-1].append(Piece(blank, False))
    return [tuple(line) for line in lines]


def _nearly_same(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[tuple[int, int]]:
    if len(ours) * len(theirs) > MOST_PAIRS:
        return
    start = 0
    for at, mine in enumerate(ours):
        best = max(((_ratio(mine, theirs[other]), -other) for other in range(start, len(theirs))), default=(0.0, 0))
        if best[0] >= NEARLY_SAME:
            yield at, -best[1]
            start = 1 - best[1]


def _ratio(mine: str, other: str) -> float:
    if max(len(mine), len(other)) > LONGEST:
        return 0.0
    return SequenceMatcher(None, _WORDS.findall(mine.strip()), _WORDS.findall(other.strip()), autojunk=False).ratio()


def _beside(ours: Sequence[str], theirs: Sequence[str]) -> Iterator[DiffRow]:
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
