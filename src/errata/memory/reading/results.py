"""Results inside a section for actions: a new run after a change, with the failures that are left."""

from collections.abc import Iterable, Iterator

import msgspec

from errata.memory.entries import columns_of as columns_of_actions
from errata.memory.reading.action_words import is_change
from errata.memory.reading.fields import FAILURE, columns_of
from errata.memory.reading.markdown import INNER, MarkdownPiece, Words
from errata.memory.reading.rates import bare_rate_in
from errata.memory.reading.run_words import ids_in
from errata.memory.reading.sections import ASIDE, RESULT, About, topic_of
from errata.memory.reading.sentences import sentences


def with_results(pieces: Iterable[MarkdownPiece]) -> Iterator[MarkdownPiece]:
    """Failures in a section for actions become a section of their own, up to the next heading."""
    sections: list[tuple[int, About | None]] = []
    table: tuple[str, ...] = ()
    for piece in pieces:
        if piece.kind == "heading":
            sections = [one for one in sections if one[0] < piece.level]
            sections.append((piece.level, topic_of(piece) or (sections[-1][1] if sections else None)))
        is_inside = bool(sections) and sections[-1][1] == "actions"
        if table and piece.header != table:
            table = ()
            if piece.kind != "heading":
                yield MarkdownPiece(kind="heading", line=piece.line, level=INNER, header=ASIDE)
        if is_inside and piece.kind == "text" and not piece.level and (first := _result(piece.words)):
            sections.append((INNER, "failures"))
            yield MarkdownPiece(
                kind="heading", line=piece.line, level=INNER, words=first, header=RESULT, topic="failures"
            )
            piece = msgspec.structs.replace(piece, words=piece.words.cut(len(first.text)))
        elif is_inside and piece.kind == "row" and not table and _is_of_failures(piece.header):
            table = piece.header
            yield MarkdownPiece(kind="heading", line=piece.line, level=INNER, topic="failures", header=ASIDE)
        yield piece


def _result(words: Words) -> Words | None:
    """`Effect: run jn7br37w, 71/79.`: the first sentence, where it names a run with its pass rate and no change."""
    first = next(sentences(words))
    is_result = len(ids_in(first.text, needs_run=True)) == 1 and bare_rate_in(first.text) and not is_change(first.text)
    return first if is_result else None


def _is_of_failures(header: tuple[str, ...]) -> bool:
    """A table of what is left has labels, and no column for what was changed."""
    roles = columns_of(header, FAILURE)
    return {"case", "label"} <= set(roles) and not {"what", "path"} & set(columns_of_actions(header))
