"""A line of markdown as a reader sees it: plain text, and which of it is code or bold. What is struck out is gone."""

import re
from functools import cache
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LONGEST = 4_000
"""Characters of one paragraph or cell that are read."""
_MARKUP = re.compile(r"[*`\[\]<>&\\~!]|(?<!\w)_|_(?!\w)")
_BREAK = re.compile(r"(?i)<br\s*/?>")

Span = tuple[int, int]


class Words(msgspec.Struct, frozen=True):
    text: str
    codes: tuple[Span, ...] = ()
    bold: tuple[Span, ...] = ()

    @property
    def code_texts(self) -> tuple[str, ...]:
        return tuple(self.text[start:end] for start, end in self.codes)

    def cut(self, start: int, end: int | None = None) -> "Words":
        """A part of it, with its own marks."""
        stop = len(self.text) if end is None else end
        moved = [
            tuple((max(a, start) - start, min(b, stop) - start) for a, b in spans if a < stop and b > start)
            for spans in (self.codes, self.bold)
        ]
        return Words(self.text[start:stop], *moved)


def words_of(source: str) -> Words:
    source = source[:LONGEST]
    if not _MARKUP.search(source):  # most lines have none, and parsing costs more than all that follows
        return Words(source)
    taken = _Taken()
    for token in _parser().parseInline(source)[0].children or ():
        taken.add(token)
    return Words(taken.text, tuple(taken.codes), tuple(taken.bold))


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # noqa: PLC0415 it takes a while to import, and many commands read no report

    return MarkdownIt("commonmark", {"html": True}).enable("strikethrough")


class _Taken:
    def __init__(self) -> None:
        self.text = ""
        self.codes: list[Span] = []
        self.bold: list[Span] = []
        self._bold_from: list[int] = []
        self._struck = 0

    def add(self, token: "Token") -> None:
        match token.type:
            case "s_open":
                self._struck += 1
            case "s_close":
                self._struck -= 1
            case _ if self._struck:
                return
            case "strong_open":
                self._bold_from.append(len(self.text))
            case "strong_close":
                self.bold.append((self._bold_from.pop(), len(self.text)))
            case "code_inline":
                self.codes.append((len(self.text), len(self.text) + len(token.content)))
                self.text += token.content
            case "softbreak" | "hardbreak":
                self.text += "\n"
            case "html_inline":
                self.text += "\n" if _BREAK.fullmatch(token.content) else ""
            case _:
                self.text += token.content
