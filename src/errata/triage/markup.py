"""A value without what only wraps it: fences, quotes, emphasis, LaTeX, a full stop at its end."""

import re

_ALIKE = {
    **dict.fromkeys("‐‑‒–—―−﹣-", "-"),
    **dict.fromkeys("‘’‚‛′´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("\u00a0\u2007\u2009\u202f\u3000\u2002\u2003", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", ""),
}
_PLAIN = str.maketrans(_ALIKE)

_FENCE = "```"
_COMMAND = re.compile(r"\\(?:boxed|fbox|text|textbf|textit|mathrm|mathbf|mathit|mbox|operatorname)\s*\{([^{}]*)\}")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*\{(.*)\}$", re.DOTALL)
_FRAC = re.compile(r"\\[dt]?frac\s*(?:\{\s*([+-]?\w+)\s*\}\s*\{\s*(\w+)\s*\}|(\d)\s*(\d))")
_SPACING = re.compile(r"\\(?:left|right|displaystyle|quad|qquad|[,;:! ])(?![a-zA-Z])")
_PAIRS = (("**", "**"), ("*", "*"), ("`", "`"), ('"', '"'), ("'", "'"), ("$$", "$$"), ("$", "$"),
          (r"\(", r"\)"), (r"\[", r"\]"))  # fmt: skip
_LAST = ".,;:"


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
    """What stands between three backticks, where that is all."""
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
