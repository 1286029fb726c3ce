"""Failures in running text: a case and a label in one sentence, or a label right after the only case before it."""

import re
from collections.abc import Iterator

from errata.memory.reading.cases import names_in
from errata.memory.reading.naming import Naming
from errata.memory.reading.pieces import Piece
from errata.memory.reading.words import Words

_FAILS = re.compile(r"(?i)\b(?:fail(?:ed|s|ing|ure)?|broke|crashed)\b")
_PASSES = re.compile(r"(?i)\bpass(?:ed|es|ing)?\b|\bfixed\b|\bresolved\b|\bno longer\b")
_END = re.compile(r"(?<=[.!?;])\s+(?=[\"'`(*A-Z0-9])")


def read_sentences(piece: Piece, naming: Naming) -> None:
    before: list[str] = []
    said: list[tuple[str, str, str]] = []
    for sentence in _sentences(piece.words):
        names = [name for _, name in sorted(names_in(sentence, naming.vocabulary)) if naming.is_case(name)]
        label = naming.labels.find(sentence.text)
        if label and (names or len(before) == 1):
            said += [(name, label, sentence.text) for name in names or before]
        elif names and _FAILS.search(sentence.text) and not _PASSES.search(sentence.text):
            said += [(name, "", sentence.text) for name in names]
        before = list(dict.fromkeys(names)) or before
    alone = len({name for name, _, _ in said}) == 1
    for name, label, text in said:
        told = piece.text if alone else text
        line = piece.line + piece.text.count("\n", 0, max(piece.text.find(name), 0))
        draft = naming.named(name, line)
        draft.call(label, line)
        draft.failed_at(naming.step_in(told))
        draft.explain(told)


def _sentences(words: Words) -> Iterator[Words]:
    start = 0
    for end in [*(found.end() for found in _END.finditer(words.text)), len(words.text)]:
        yield words.cut(start, end)
        start = end
