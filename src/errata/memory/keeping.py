"""What of an older report goes into a newer one of the same run: the section "Actions taken", word for word."""

from collections.abc import Sequence

from errata.memory.entries import is_none
from errata.memory.outline import blocks_of, lines_of
from errata.memory.section import Section, find_section


def kept_actions(text: str) -> str:
    """What the section says; empty where it says nothing, or `None`."""
    section = find_section(blocks_of(text))
    if section is None:
        return ""
    lines = lines_of(text)
    said = "".join(lines[section.head.end : _end(section, lines)]).strip("\r\n")
    return "" if is_none(said.strip()) else said


def with_actions(text: str, said: str) -> str:
    """The report with this in its section; as it was where there is nothing to say or no section."""
    section = find_section(blocks_of(text)) if said else None
    if section is None:
        return text
    lines = lines_of(text)
    body = said.strip("\r\n")
    return "".join(lines[: section.head.end]) + f"\n{body}\n" + "".join(lines[_end(section, lines) :])


def _end(section: Section, lines: Sequence[str]) -> int:
    """Behind its last block that is no comment: what errata remembers at the end of a file is not part of it."""
    own = (block for block in section.all if not lines[block.start].lstrip().startswith("<!--"))
    return max((block.end for block in own), default=section.head.end)
