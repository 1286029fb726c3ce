"""What a section of a report is about, by its heading."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from errata.memory.reading.markdown import INNER, MarkdownPiece
from errata.memory.spelling import folded

About = Literal["failures", "actions", "recommendations", "patterns", "other"]

_KINDS: tuple[tuple[About, re.Pattern[str]], ...] = (
    (
        "recommendations",
        re.compile(
            r"recommend|suggest|next-steps|action-items|\bto-?dos?\b|propos|what-to-do|^follow-ups?$|next-actions"
        ),
    ),
    (
        "actions",
        re.compile(
            r"^actions?$|actions?-(?:taken|done|so-far|log)|(?:changes|fixes)-(?:made|applied|done)|what-(?:we|i)-(?:changed|did|fixed)"
            r"|what-was-(?:done|changed|fixed)|applied-(?:changes|fixes)"
        ),
    ),
    ("failures", re.compile(r"\b(?:new|still|again|repeat\w*|recurring|regress\w*)\b.*fail|regression|fail\w*-analys")),
    (
        "other",
        re.compile(
            r"net-impact|^impact|bottom-line|conclusion|takeaway|\bpass(?:ed|es|ing)?\b(?!.*fail)|\bfixed\b|\bresolved\b"
            r"|\bprevious(?:ly)?\b|\bprior\b|\bearlier\b|\bhistory\b|appendix|glossary|method|not-(?:included|counted|measured)|excluded"
        ),
    ),
    (
        "patterns",
        re.compile(
            r"pattern|cross-cutting|\bthemes?\b|common-(?:cause|issue|problem|mistake)|observations|trends|root-causes"
        ),
    ),
)


def about(heading: str) -> About | None:
    """The topic of a section; none if the heading does not show it, and the topic of the section around it applies."""
    name = folded(heading)
    topic = next((kind for kind, form in _KINDS if form.search(name)), None)
    return topic or ("failures" if re.search(r"fail|classif|per-eval|per-case|triage|errors?$", name) else None)


def in_sections(pieces: Iterable[MarkdownPiece], wanted: About) -> Iterator[MarkdownPiece]:
    """The text of the sections on one topic, with the headings inside them but not their own."""
    inside: list[tuple[int, bool]] = []
    for piece in pieces:
        if piece.kind == "heading":
            inside = [one for one in inside if one[0] < piece.level]
            kind = about(piece.text)
            within = bool(inside) and inside[-1][1]
            inside.append((piece.level, within if kind is None else kind == wanted))
            if within and inside[-1][1]:
                yield piece
        elif piece.kind != "comment" and inside and inside[-1][1]:
            yield piece


def with_titles(pieces: Iterable[MarkdownPiece]) -> Iterator[MarkdownPiece]:
    """Bold words in front of a paragraph that say what comes now are a heading, too: `**Actions taken**: None`."""
    for piece in pieces:
        bold = piece.words.bold[0] if piece.kind == "text" and not piece.level and piece.words.bold else None
        if bold is None or bold[0] != 0 or about(piece.text[: bold[1]]) in (None, "failures"):
            yield piece
            continue
        yield MarkdownPiece(kind="heading", line=piece.line, level=INNER, words=piece.words.cut(0, bold[1]))
        rest = piece.words.cut(bold[1])
        left = len(rest.text) - len(rest.text.lstrip(" :–—-\n"))
        if rest.text[left:]:
            yield msgspec.structs.replace(piece, words=rest.cut(left))
