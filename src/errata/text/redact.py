"""Remove secrets from text before it is shown, written or sent.

Tokens are recognised by their shape, other secrets by the name before them (`DB_PASSWORD=…`). The replacement names
the kind of secret: `[redacted:github-token]`.
"""

import re
import string
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from errata.text.token_shapes import SHAPES, Shape

# the start of the name is not matched: it is kept anyway, and a pattern for it would be quadratic
_NAME = re.compile("(?:password|passwd|passphrase|secret|token|credentials?|key|_pass)(?:_id)?(?![a-z0-9_])")
_KINDS_OF_KEY = "(?:api|access|private|account|subscription)[_-]?"
_ACCOUNTS = "(?:db|user|admin|root|smtp|mail|ftp|redis|mysql|pg)"
_BEFORE_KEY = re.compile(rf"{_KINDS_OF_KEY}\Z")
_BEFORE_PASS = re.compile(rf"{_ACCOUNTS}\Z")
_NAME_ALONE = re.compile(
    r"(?:^|[_.-]|(?<=[a-z0-9])(?=[A-Z]))(?i:pass(?:word|wd|phrase)|secret|token|credentials?"
    rf"|{_KINDS_OF_KEY}key|{_ACCOUNTS}_pass)(?i:_ID)?$"
)
_ASSIGNED = re.compile(r"""(?:\\*["'])?\s*(?:=>|=|:)\s*(?:(\\*["'])([^"'\\\n]{6,400})|([^\s"',;&\\]{6,}))""")
_GIVEN = re.compile(r"""[ \t]+(["']?)(?!-)([^\s"']{6,})""")
_FLAG = re.compile(r"(?<!\S)--?[\w-]{0,40}\Z")
_MARKS = tuple(mark for shape in SHAPES for mark in shape.marks)
_SHORTEST = 6
_SHORTEST_WORD = 12
"""No token consists of fewer letters, and a name needs a sign before its value."""
_LONGEST_WORD, _LONGEST_FLAG = 14, 42

# a placeholder, a number or a type is not a secret
_PLACEHOLDERS = (
    r"none|null|true|false|undefined|\$\{?[a-z_].*|<.*>|\[redacted.*|[\d.,]+[)\]}]*"
    r"|str(?:ing)?|int|os\.environ.*|process\.env.*"
)
_HARMLESS = re.compile(rf"(?i)(?:{_PLACEHOLDERS})$")
_CODE = re.compile(rf"(?i)(?:{_PLACEHOLDERS}|[A-Za-z_][\w.]*[(\[].*)$")
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


_WITHOUT_TEXT = frozenset((int, float, bool, type(None)))


class Secret(NamedTuple):
    """The place and kind of a secret or identity in a text."""

    start: int
    end: int
    kind: str


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted:<kind>]`."""
    if _is_word(text):
        return text
    if [mark for mark in _MARKS if mark in text]:  # most texts contain no mark, and need no further work
        for shape in SHAPES:
            if any(mark in text for mark in shape.marks):
                text = without(text, _of_shape(shape, text))
    return without(text, _named_secrets(text))


def _is_word(value: Any) -> bool:
    """A fast path: a table may have a hundred thousand single words."""
    return type(value) is str and len(value) < _SHORTEST_WORD and value.isalpha()


def redact_tree(value: Any) -> Any:
    """The same for every text inside dicts and lists, their keys apart."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: redact_named(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [item if type(item) in _WITHOUT_TEXT or _is_word(item) else redact_tree(item) for item in value]
    return value


def redact_named(name: str, value: Any) -> Any:
    """A value with its name: a text is also a secret if its name marks it as one."""
    return redacted_name(name, value) or redact_tree(value)


def redacted_name(name: str, value: Any) -> str:
    """The replacement of a value whose name marks it as a secret; empty if it is none."""
    if not isinstance(value, str) or len(value) < _SHORTEST or _HARMLESS.match(value):
        return ""
    return "[redacted:named]" if _NAME_ALONE.search(name) else ""


def without(text: str, secrets: Iterable[Secret]) -> str:
    """The text with each secret replaced by its kind. They are in order; one that overlaps the previous is skipped."""
    pieces, at = [], 0
    for start, end, kind in secrets:
        if start >= at:
            pieces += [text[at:start], f"[redacted:{kind}]"]
            at = end
    return "".join((*pieces, text[at:])) if pieces else text


def _of_shape(shape: Shape, text: str) -> Iterator[Secret]:
    """In the order of their positions."""
    for match in sorted(_matches(shape, text), key=lambda one: one.start()):
        start, end = match.span(match.lastindex or 0)
        yield Secret(start, end, shape.kind)


def _matches(shape: Shape, text: str) -> Iterator[re.Match[str]]:
    for mark in shape.marks:
        at = text.find(mark)
        while at >= 0:
            match = shape.pattern.match(text, at)
            if match:
                yield match
            at = text.find(mark, match.end() if match else at + 1)


def _named_secrets(text: str) -> Iterator[Secret]:
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals become two characters
        lowered = text.translate(_LOWER)
    after = 0
    for name in _NAME.finditer(lowered):
        secret = _value(text, name) if name.start() >= after and _names_secret(lowered, name) else None
        if secret:
            after = secret.end
            yield secret


def _names_secret(lowered: str, name: re.Match[str]) -> bool:
    """`key` and `pass` are names of secrets only after certain words."""
    before = _BEFORE_KEY if name[0].startswith("key") else _BEFORE_PASS if name[0].startswith("_") else None
    return before is None or before.search(lowered, max(0, name.start() - _LONGEST_WORD), name.start()) is not None


def _value(text: str, name: re.Match[str]) -> Secret | None:
    start, end = name.span()
    given = _ASSIGNED.match(text, end)
    if given:
        quoted = given[2] is not None
        harmless = _HARMLESS.match(given[2]) if quoted else _CODE.match(given[3])
        return None if harmless else Secret(*given.span(2 if quoted else 3), "named")
    given = _GIVEN.match(text, end)
    if given and _FLAG.search(text, max(0, start - _LONGEST_FLAG), start) and not _CODE.match(given[2]):
        return Secret(*given.span(2), "named")
    return None
