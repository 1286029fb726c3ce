"""Cases that only their place makes known: lines of a section begin with a marked name, and several are failures."""

import re
from collections.abc import Iterator, Sequence

from errata.memory.reading.cases import is_lint_rule, likeness
from errata.memory.reading.labels import LabelWords
from errata.memory.reading.markdown import MarkdownPiece, Words
from errata.memory.reading.steps import step_in

ENOUGH = 2
"""Lines of a section that have to be failures by a label or a step."""


def sibling_names(pieces: Sequence[MarkdownPiece], labels: LabelWords) -> Iterator[str]:
    section: list[tuple[str, bool]] = []
    for piece in pieces:
        if piece.kind == "heading":
            yield from _cases(section)
            section = []
        elif piece.kind in ("item", "text"):
            section += _marked(piece.words, labels)
    yield from _cases(section)


def _cases(section: Sequence[tuple[str, bool]]) -> list[str]:
    return [name for name, _ in section] if sum(is_failure for _, is_failure in section) >= ENOUGH else []


def _marked(words: Words, labels: LabelWords) -> Iterator[tuple[str, bool]]:
    """A bold name or one in code at the beginning of each line, and whether the line is about a failure."""
    starts = [0, *(match.end() for match in re.finditer(r"\n", words.text))]
    for start, end in sorted({*words.bold, *words.codes}):
        name = words.text[start:end].strip(" .:`")
        begins = max(at for at in starts if at <= start)
        is_name = "_" in name and likeness(name) == 1 and not is_lint_rule(name)
        if not is_name or re.search(r"[\w`]", words.text[begins:start]):
            continue
        rest = words.text[end : min((at for at in starts if at > start), default=len(words.text))]
        yield name, bool(labels.find(words.text[begins:start]) or labels.find(rest) or step_in(rest))
