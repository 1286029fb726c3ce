"""The answer that a text ends in, and a value without what only wraps it: fences, quotes, emphasis, LaTeX."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from errata.text.lazy_regex import lazy_regex

_ALIKE = {
    **dict.fromkeys("‐‑‒–—―−﹣-", "-"),
    **dict.fromkeys("‘’‚‛′´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000\u2002\u2003", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
}
_PLAIN = str.maketrans(_ALIKE)

_FENCE = "```"
_COMMAND = lazy_regex(r"\\(?:boxed|fbox|text|textbf|textit|mathrm|mathbf|mathit|mbox|operatorname)\s*\{([^{}]*)\}")
_BOXED = lazy_regex(r"\\(?:boxed|fbox)\s*\{(.*)\}$", re.DOTALL)
_FRAC = lazy_regex(r"\\[dt]?frac\s*(?:\{\s*([+-]?\w+)\s*\}\s*\{\s*(\w+)\s*\}|(\d)\s*(\d))")
_SPACING = lazy_regex(r"\\(?:left|right|displaystyle|quad|qquad|[,;:! ])(?![a-zA-Z])")
_PAIRS = (("**", "**"), ("*", "*"), ("`", "`"), ('"', '"'), ("'", "'"), ("$$", "$$"), ("$", "$"),
          (r"\(", r"\)"), (r"\[", r"\]"))  # fmt: skip
_LAST = ".,;:"


def as_written(answer: str, text: str) -> str:
    """An answer that a scorer changed to lower case, as the text has it; else as it is."""
    at = text.lower().find(answer.lower()) if answer and answer not in text else -1
    written = text[at : at + len(answer)] if at >= 0 else ""
    return written if written.lower() == answer.lower() else answer


def bare(text: str) -> str:
    """The value itself. Where nothing but wrapping was there, that is the value."""
    text = text.strip()
    if not text.isascii():
        text = text.translate(_PLAIN).strip()
    if text.isalnum():
        return text
    if "\\" in text:
        text = _without_latex(text)
    before = ""
    while text != before:
        before = text
        text = _unwrapped(text)
    return text


def _without_latex(text: str) -> str:
    boxed = _BOXED.match(text.strip("$ "))
    if boxed:
        text = boxed[1]
    text = text.replace("{,}", ",").replace(r"\%", "%").replace(r"\$", "$").replace(r"\ ", " ")
    text = _SPACING.sub("", _COMMAND.sub(r"\1", text))
    return _FRAC.sub(lambda found: f"{found[1] or found[3]}/{found[2] or found[4]}", text)


def unfenced(text: str) -> str:
    """The content of a fenced block, where the text is nothing else."""
    text = text.strip()
    if not (text.startswith(_FENCE) and text.endswith(_FENCE)):
        return text
    inner = text[len(_FENCE) : -len(_FENCE)].partition("\n")[2].strip()
    return inner if inner and _FENCE not in inner else text


def _unwrapped(text: str) -> str:
    text = unfenced(text)
    for left, right in _PAIRS:
        inner = text[len(left) : len(text) - len(right)]
        if text.startswith(left) and text.endswith(right) and inner.strip() and left not in inner:
            return inner.strip() if right not in inner else text
    shorter = text.rstrip(_LAST).rstrip()
    return shorter or text


TAIL = 2_000
"""The answer is at the end; earlier text is reasoning."""
LINE = 120

_MARKED = lazy_regex(
    r"^[^\w\n]{0,8}(?:so,? |therefore,? |thus,? |hence,? )?(?:the |my )?(?:final |correct |best )?answer"
    r"(?: is|\W{0,4}[:=])\W{0,4}(?P<answer>\S[^\n]{0,200})|^#{4}[ \t]{0,4}(?P<hashed>\S[^\n]{0,200})",
    re.IGNORECASE | re.MULTILINE,
)
_BOX = lazy_regex(r"\\boxed\s*\{")
_NAMED = ("answer", "final_answer", "finalAnswer", "result", "output", "value")


class Final(NamedTuple):
    text: str
    marked: bool
    """Whether the text marks this as the answer."""


def final_answers(text: str) -> Iterator[Final]:
    tail = text[-TAIL:]
    boxed = _boxed(tail)
    if boxed:
        yield Final(boxed, True)
    marked = [match["answer"] or match["hashed"] for match in _MARKED.finditer(tail)]
    if marked:
        yield Final(_without_open_marks(marked[-1].rstrip()), True)
    value = json_in(tail)
    if isinstance(value, dict):
        for name in _NAMED:
            if isinstance(value.get(name), str | int | float):
                yield Final(str(value[name]), True)
    last = tail.rstrip().rpartition("\n")[2].strip()
    if last and len(last) <= LINE:
        yield Final(last, False)


def _without_open_marks(text: str) -> str:
    """Emphasis that began before the answer ends in it: `11**.`"""
    end = text.rstrip(_LAST)
    mark = next((mark for mark in ("**", "__", "*", "`", "$", "_") if end.endswith(mark)), "")
    return end[: -len(mark)].rstrip() if mark and mark not in end[: -len(mark)] else text


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
