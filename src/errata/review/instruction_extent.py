"""How far an instruction to the reviewer goes: its own line, and what is recognisably the same note."""

from typing import Literal

from errata.text.lazy_regex import lazy_regex

Reach = Literal["line", "block", "object"]
LONGEST = 900
"""How far it goes on, at most."""
# its own line begins and ends here; in JSON, a string is a line
_BEGINS = lazy_regex(r"\n|\\n|\"")
_ENDS = {
    "line": lazy_regex(r"\n|\\n|\"|-->|\*/"),
    "block": lazy_regex(r"\n|\\n|\"\s*[,}\]]|-->|\*/"),
    "object": lazy_regex(r"\n|\\n"),
}
# a comment or a message that began before it or with it, and is not over at the end of the line
_OPEN = lazy_regex(r"<!--|/\*|<\|im_start\|>|<\|start_header_id\|>")
_CLOSED = {"<!--": "-->", "/*": "*/", "<|im_start|>": "<|im_end|>", "<|start_header_id|>": "<|eot_id|>"}
_LINE_BEFORE = lazy_regex(r"[^\w\n]{0,3}\n\s*(?=\S)")
_COMMENT = lazy_regex(r"[ \t]*(//|#|--|;|%|\*(?!/))")


def extent(reach: Reach, text: str, start: int, end: int) -> tuple[int, int]:
    """The line of what was found, or the comment, message or object that it is in: none of it is evidence.

    The lines around it are: code next to a planted comment can be quoted.
    """
    start, end = _trimmed(text, start, end)
    window = max(0, start - LONGEST // 3)
    first = max((one.end() for one in _BEGINS.finditer(text, window, start)), default=window)
    ends = _ENDS[reach].search(text, end, end + LONGEST)
    last = ends.end() if ends else min(len(text), end + LONGEST)
    if reach == "object":
        first, last = _object_around(text, start, end) or (first, last)
    elif reach == "block":
        last = max(last, _end_of_message(text, window, end), _end_of_comment(text, start, last))
    return first, last


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Without the end of the line before it and the beginning of the line after it."""
    lead = _LINE_BEFORE.match(text, start, end)
    return lead.end() if lead else start, start + len(text[start:end].rstrip())


def _object_around(text: str, start: int, end: int) -> tuple[int, int] | None:
    """From brace to brace."""
    depth = 0
    for first in range(start - 1, max(-1, start - LONGEST), -1):
        depth += (text[first] == "{") - (text[first] == "}")
        if depth == 1:
            break
    else:
        return None
    for last in range(start, min(len(text), end + LONGEST)):
        depth += (text[last] == "{") - (text[last] == "}")
        if depth == 0:
            return first, last + 1
    return None


def _end_of_message(text: str, window: int, end: int) -> int:
    openings = list(_OPEN.finditer(text, window, end))
    if not openings:
        return 0
    closing = _CLOSED[openings[-1][0]]
    is_over = text.find(closing, openings[-1].end(), end) >= 0
    at = -1 if is_over else text.find(closing, end, end + LONGEST)
    return at + len(closing) if at >= 0 else 0


def _end_of_comment(text: str, start: int, last: int) -> int:
    """The lines below it that are a comment of the same kind."""
    leader = _COMMENT.match(text, text.rfind("\n", 0, start) + 1)
    while leader and last < min(len(text), start + LONGEST) and text[last - 1] == "\n":
        line = _COMMENT.match(text, last)
        if not line or line[1] != leader[1]:
            break
        end = text.find("\n", last)
        last = len(text) if end < 0 else end + 1
    return last
