"""The section "Actions taken" of a report: where it is, and how it is copied from an older report into a newer one."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from errata.memory.entries import is_none
from errata.memory.outline import MarkdownBlock, blocks_of, lines_of
from errata.text.lazy_regex import lazy_regex

_MORE = r"(?: so far| to date| since\b.*)?(?:\s*[:(\[–—-].*)?"
_ACTIONS = lazy_regex(rf"actions? (?:taken|done){_MORE}", re.IGNORECASE)
_BARE_ACTIONS = lazy_regex(r"actions", re.IGNORECASE)
LABEL = lazy_regex(r"(?:\*\*|__)?(actions? taken)(?:\*\*|__)?:?(?:\*\*|__)?(.*)", re.IGNORECASE)
_ANY_LABEL = lazy_regex(r"(?:\*\*|__)[^*_]+(?:\*\*|__)")
_DRESSING = lazy_regex(r"^[\W_]*(?:\d+[.)]\s+)?[\W_]*|[\s*_:]+$")


class ActionsSection(msgspec.Struct, frozen=True):
    head: MarkdownBlock
    """Its heading, or the paragraph that serves as one."""
    body: tuple[MarkdownBlock, ...]
    """The text before any heading inside the section."""
    below: tuple[MarkdownBlock, ...] = ()
    """The text under headings inside the section."""

    @property
    def all(self) -> tuple[MarkdownBlock, ...]:
        return self.body + self.below


def find_section(blocks: Sequence[MarkdownBlock]) -> ActionsSection | None:
    """The topmost, and of several the last one; a bare "Actions" only if no heading is "Actions taken"."""
    headings = [block for block in blocks if block.kind == "heading"]
    named = [block for block in headings if is_head(block)]
    labels = [block for block in blocks if block.kind == "paragraph" and is_head(block)]
    bare = [block for block in headings if block.level <= 2 and _BARE_ACTIONS.fullmatch(undressed(block.text))]
    named.sort(key=lambda block: (-block.level, block.start))
    head = next((some[-1] for some in (named, labels, bare) if some), None)
    if head is None:
        return None
    rest = list(_until_its_end(head, blocks[blocks.index(head) + 1 :]))
    below = next((at for at, block in enumerate(rest) if block.kind == "heading"), len(rest))
    return ActionsSection(head, tuple(rest[:below]), tuple(rest[below:]))


def _until_its_end(head: MarkdownBlock, blocks: Sequence[MarkdownBlock]) -> Iterator[MarkdownBlock]:
    for block in blocks:
        if block.kind == "heading" and (not head.level or block.level <= head.level):
            return
        if not head.level and block.kind == "paragraph" and _ANY_LABEL.match(block.text):
            return
        yield block


def undressed(heading: str) -> str:
    """Without emphasis, a number in front, a colon behind."""
    return " ".join(_DRESSING.sub("", heading).split())


def is_head(block: MarkdownBlock) -> bool:
    """A heading, or `**Actions taken:** None` on a line of its own."""
    if block.kind == "heading":
        return _ACTIONS.fullmatch(undressed(block.text)) is not None
    label = LABEL.fullmatch(block.text) if block.kind == "paragraph" else None
    return label is not None and (not label[2].strip() or is_none(label[2]))


def section_text(text: str) -> str:
    """The text of the section; empty if it is empty or `None`."""
    section = find_section(blocks_of(text))
    if section is None:
        return ""
    lines = lines_of(text)
    content = "".join(lines[section.head.end : _end(section, lines)]).strip("\r\n")
    return "" if is_none(content.strip()) else content


def with_section_text(text: str, content: str) -> str:
    """The report with this in its section; as it was where there is nothing to say or no section."""
    section = find_section(blocks_of(text)) if content else None
    if section is None:
        return text
    lines = lines_of(text)
    body = content.strip("\r\n")
    return "".join(lines[: section.head.end]) + f"\n{body}\n" + "".join(lines[_end(section, lines) :])


def _end(section: ActionsSection, lines: Sequence[str]) -> int:
    """Behind its last block that is not a comment: what errata remembers at the end of a file is not part of it."""
    own = (block for block in section.all if not lines[block.start].lstrip().startswith("<!--"))
    return max((block.end for block in own), default=section.head.end)
