"""A text out of a log as the name of something: one safe line, what was masked put in words, the wrapping taken off."""

import re

from errata.text.clean import one_line
from errata.text.redact import redact

LONGEST = 80
_WORDS = {
    "<n>": "N", "<str>": "…", "<path>": "a path", "<url>": "an address", "<ip>": "an address", "<time>": "a time",
    "<uuid>": "an id", "<hex>": "an id", "<id>": "an id",
}  # fmt: skip
_MASK = re.compile("|".join(map(re.escape, _WORDS)))
# `RuntimeError('…')`, `Error: …`, `[infrastructure] …`, `9:23 error …`: whose words it is, and not what is said
_WRAPPED = re.compile(r"^[\w.]*(?:Error|Exception|Exit)\((['\"])(.*?)(?:\1\)?)?$", re.DOTALL)
_HEAD = re.compile(
    r"^(?:\[[\w .-]{1,24}\]|[\w.]*(?:error|exception)\s*:|(?:N|\d+:\d+)\s+error\s|[✖✗×•*>-]"
    r"|(?:a path|[\w.]*/[\w./-]+|line \w+)\s*:(?=\s))\s*",
    re.IGNORECASE,
)
# the first of several lines, where it says only that a command failed
_HEADLINE = re.compile(r"^(?:\w*error:\s*)?(?:command failed\b.*|\S+ failed)\s*\n+(?=.*\w)", re.IGNORECASE)
_JSON_MESSAGE = re.compile(r"['\"]message['\"]\s*:\s*(['\"])(.+?)(?:\1\s*[,}]|$)")
_ENDS = re.compile(r"(?<=[^\s.]{2})\.(?:\s|$)|\s(?=Traceback \(most recent)|\\n|\n")
_SPACES_BEFORE = re.compile(r"\s+([,.;:)])")
_MARKS = "`|<>"


def readable(text: str) -> str:
    """Empty where nothing is left of it."""
    text = redact(one_line(_HEADLINE.sub("", text.lstrip(), count=1)))
    if wrapped := _WRAPPED.match(text):
        text = wrapped[2]
    if inner := _JSON_MESSAGE.search(text):
        text = inner[2]
    text = _MASK.sub(lambda found: _WORDS[found[0]], text)
    while (head := _HEAD.match(text)) and len(head[0]) < len(text):
        text = text[head.end() :]
    text = _SPACES_BEFORE.sub(r"\1", _ENDS.split(text, maxsplit=1)[0])
    return cut(text.translate(_PLAIN).strip(" .,:;-"))


def cut(text: str, longest: int = LONGEST) -> str:
    """At a word, with an ellipsis."""
    text = one_line(text)
    if len(text) <= longest:
        return text
    head, _, tail = text[: longest - 1].rpartition(" ")
    return f"{(head if len(head) > longest // 2 else head + tail).rstrip(' ,.;:-')}…"


_PLAIN = str.maketrans(dict.fromkeys(_MARKS, ""))
