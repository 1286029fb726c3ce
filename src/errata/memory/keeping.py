"""What of an older report goes into a newer one of the same run: the section "Actions taken", word for word."""

from errata.memory.entries import is_none
from errata.memory.outline import blocks_of, lines_of
from errata.memory.section import Section, find_section


def kept_actions(text: str) -> str:
    """What the section says; empty where it says nothing, or `None`."""
    section = find_section(blocks_of(text))
    if section is None or not section.all:
        return ""
    said = _body(text, section)
    return "" if is_none(said.strip()) else said


def with_actions(text: str, said: str) -> str:
    """The report with this in its section; as it was where there is nothing to say or no section."""
    section = find_section(blocks_of(text)) if said else None
    if section is None:
        return text
    lines = lines_of(text)
    start, end = section.head.end, section.all[-1].end if section.all else section.head.end
    return "".join(lines[:start]) + "\n" + said.strip("\r\n") + "\n" + "".join(lines[end:])


def _body(text: str, section: Section) -> str:
    """To the end of its last block that is no comment: what errata remembers at the end of a file is not part of it."""
    lines = lines_of(text)
    last = max(block.end for block in section.all if block.kind != "comment")
    return "".join(lines[section.head.end : last]).strip("\r\n")
