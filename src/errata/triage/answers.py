"""The answer that a text ends in: what is boxed, what follows `Answer:`, else its last line."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.triage.markup import unfenced

TAIL = 2_000
"""An answer stands at the end; what was thought before is none."""
LINE = 120

_MARKED = re.compile(
    r"^[^\w\n]{0,8}(?:so,? |therefore,? |thus,? |hence,? )?(?:the |my )?(?:final |correct |best )?answer"
    r"(?: is|\W{0,4}[:=])\W{0,4}(?P<answer>\S[^\n]{0,200})|^#{4}[ \t]{0,4}(?P<hashed>\S[^\n]{0,200})",
    re.IGNORECASE | re.MULTILINE,
)
_BOX = re.compile(r"\\boxed\s*\{")
_NAMED = ("answer", "final_answer", "finalAnswer", "result", "output", "value")


class Final(NamedTuple):
    text: str
    marked: bool
    """Whether the text itself says that this is the answer."""


def final_answers(text: str) -> Iterator[Final]:
    tail = text[-TAIL:]
    boxed = _boxed(tail)
    if boxed:
        yield Final(boxed, True)
    marked = [match["answer"] or match["hashed"] for match in _MARKED.finditer(tail)]
    if marked:
        yield Final(marked[-1].rstrip(), True)
    found = json_in(tail)
    if isinstance(found, dict):
        for name in _NAMED:
            if isinstance(found.get(name), str | int | float):
                yield Final(str(found[name]), True)
    last = tail.rstrip().rpartition("\n")[2].strip()
    if last and len(last) <= LINE:
        yield Final(last, False)


def json_in(text: str) -> Any:
    """The one object or list that a text holds, fences and words around it aside; none where there is none."""
    inner = unfenced(text)
    starts = [at for at in (inner.find("{"), inner.find("[")) if at >= 0]
    end = max(inner.rfind("}"), inner.rfind("]")) + 1
    if not starts or end <= min(starts):
        return None
    try:
        return msgspec.json.decode(inner[min(starts) : end])
    except (msgspec.DecodeError, RecursionError):
        return None


def _boxed(text: str) -> str:
    """What the last box holds; braces inside of it belong to it."""
    boxes = list(_BOX.finditer(text))
    if not boxes:
        return ""
    start, depth = boxes[-1].end(), 1
    for at in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[start:at]
    return ""
