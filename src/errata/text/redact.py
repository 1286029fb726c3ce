"""Remove secrets from text before it is shown, written or sent.

Tokens are recognised by their shape, other secrets by the name before them (`DB_PASSWORD=…`), even if they are
encoded: behind escapes, entities, colours and invisible characters. The rules are in `secrets.toml`. The replacement
names the kind of secret: `[redacted:github-token]`.
"""

import re
import string
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

from errata.text.encoded import levels, place_before
from errata.text.lazy_regex import lazy_regex
from errata.text.named_secrets import SHORTEST, is_secret_under, lower, named_secrets
from errata.text.secret_rules import Shape, names, rules, shapes

# nearly every mark ends in a separator or is the beginning of a long word; few texts have either
_SEPARATOR = lazy_regex(r"[-_.:=](?:(?<=[A-Za-z0-9].)|(?<=ls__))(?=[A-Za-z0-9_+/=.~%$|:-]{6})")
"""Behind the end of a mark: a run of separators has none."""
_CAPITAL = lazy_regex(r"[A-Z](?=[A-Za-z0-9_+/-]{14})")
# one of the two, in one pass
_EITHER = lazy_regex(r"[-_.:=A-Z](?:(?<=[-_.:=])(?=[A-Za-z0-9_+/=.~%$|:-]{6})|(?<=[A-Z])(?=[A-Za-z0-9_+/-]{14}))")
_SHORTEST_WORD = 12
"""No token consists of fewer letters, and a name needs a sign before its value."""
NAMED = "named"
LAST = 10_000
"""The order of what is known by less than its whole shape."""
_WITHOUT_TEXT = frozenset((int, float, bool, type(None)))
_TEXT = frozenset((str,))
_NAMING = ("name", "key", "variable")


class Secret(NamedTuple):
    """The place and kind of a secret or identity in a text."""

    start: int
    end: int
    kind: str


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted:<kind>]`."""
    if len(text) < SHORTEST or _is_word(text):
        return text
    secrets = found_secrets(text)
    return without(text, secrets) if secrets else text


def found_secrets(text: str) -> list[Secret]:
    """In the order of their positions; they may overlap."""
    secrets = _secrets(text)
    for done in levels(text):
        # also what is known already: an encoded character may have cut it short
        secrets += [Secret(*place_before(done, start, end), kind) for start, end, kind in _secrets(done[-1].text)]
    return sorted(secrets, key=lambda secret: secret.start) if secrets else secrets


def secret_values(text: str) -> list[tuple[str, str]]:
    """Each secret as the text writes it, and as it reads with its encodings undone; with its kind."""
    written = [(text[start:end], kind) for start, end, kind in found_secrets(text)]
    if not written:
        return []
    decoded = (done[-1].text for done in levels(text))
    return [*written, *((one[start:end], kind) for one in decoded for start, end, kind in _secrets(one))]


BEYOND = 4_000
"""Characters behind a cut that tell what is cut: an encoded secret is long."""


def beginning(text: str, most: int) -> str:
    """The first characters of a text. Redacted before it is cut: half a secret has lost the shape it is known by."""
    return text if len(text) <= most else redact(text[: most + BEYOND])[:most]


def _is_word(value: Any) -> bool:
    """A fast path: a table may have a hundred thousand single words."""
    return type(value) is str and len(value) < _SHORTEST_WORD and value.isalpha()


def redact_tree(value: Any) -> Any:
    """The same for every text inside dicts and lists, and for their keys."""
    if isinstance(value, str):
        if value[16:17] == ":" and (number := _NUMBER_OF_ATTEMPT.search(value)) and _RUN_ID.match(value):
            return f"{redact_key(value[: number.start()])}{number[0]}"
        return redact_key(value) if len(value) < _NAME else redact(value)
    if isinstance(value, dict):
        return redact_fields(value, redact_key, redact_tree)
    if isinstance(value, list | tuple):
        if _has_only_words(value):
            return list(value)
        named = given_secrets(value)
        return [
            REDACTED_VALUE
            if named and at in named
            else item
            if type(item) in _WITHOUT_TEXT or _is_word(item)
            else redact_tree(item)
            for at, item in enumerate(value)
        ]
    return value


# the number of an attempt is not a part of the secret that the name of its case ends in
_RUN_ID = lazy_regex(r"[0-9a-f]{16}:")
_NUMBER_OF_ATTEMPT = lazy_regex(r"#(?:\d+\.)?\d+\Z")


def _has_only_words(items: list[Any] | tuple[Any, ...]) -> bool:
    """Numbers or single words: none names a secret, or is one. A table has the same few again and again."""
    kinds = set(map(type, items))
    return kinds <= _WITHOUT_TEXT or (kinds == _TEXT and all(map(_is_word, set(items))))


REDACTED_VALUE = f"[redacted:{NAMED}]"


def redact_fields(fields: dict[Any, Any], of_key: Any, of_value: Any) -> dict[str, Any]:
    """Fields with their names: a text is also a secret if its name, or the field beside it, marks it as one."""
    naming = next((fields[name] for name in _NAMING if isinstance(fields.get(name), str)), None)
    made: dict[str, Any] = {}
    for key, item in fields.items():
        name = shown = of_key(str(key))
        number = 1
        while shown in made:
            number += 1
            shown = f"{name} {number}"
        beside = naming is not None and key == "value" and redacted_name(naming, item)
        made[shown] = beside or redacted_name(str(key), item) or of_value(item)
    return made


def given_secrets(items: list[Any] | tuple[Any, ...]) -> set[int]:
    """The places of secrets in a list of arguments (`--token`, `…`) or in a pair of name and value."""
    return {
        at
        for at, (name, value) in enumerate(pairwise(items), 1)
        if type(name) is str
        and type(value) is str
        and not value.startswith("-")
        and (name.startswith("-") or (len(items) == 2 and any(map(str.isdigit, value))))
        and is_secret_under(name, value)
    }


redact_key = lru_cache(16_384)(redact)
"""Names of fields and cases come again and again."""
_NAME = 100
"""Characters up to which a text may be a name."""


def redact_named(name: str, value: Any) -> Any:
    """A value with its name: a text is also a secret if its name marks it as one."""
    return redacted_name(name, value) or redact_tree(value)


def redacted_name(name: str, value: Any) -> str:
    """The replacement of a value whose name marks it as a secret; empty if it is none."""
    return REDACTED_VALUE if isinstance(value, str) and is_secret_under(name, value) else ""


def without(text: str, secrets: Iterable[Secret]) -> str:
    """The text with each secret replaced by its kind. They are in order; what overlaps the one before goes with it."""
    pieces, at = [], 0
    for start, end, kind in secrets:
        if start >= at:
            pieces += [text[at:start], f"[redacted:{kind}]"]
        at = max(at, end)
    return "".join((*pieces, text[at:])) if pieces else text


def _secrets(text: str) -> list[Secret]:
    lowered = lower(text)
    shaped = _with_mark(text, lowered)
    if _EITHER.search(text) is not None:
        shaped = chain(_shaped(text), shaped)
        cut = _cut_off(text)
    else:
        cut = iter(())
    secrets = [(*match.span(match.lastindex or 0), shape.order, shape.kind) for shape, match in shaped]
    secrets += [(*match.span(), LAST, shape.kind) for shape, match in cut]
    secrets += [(start, end, LAST, NAMED) for start, end in named_secrets(text, lowered)]
    if not secrets:
        return []
    secrets.sort(key=lambda one: (one[0], one[2]))
    return [Secret(start, end, kind) for start, end, _, kind in secrets]


def _shaped(text: str) -> Iterator[tuple[Shape, re.Match[str]]]:
    """Secrets whose mark ends in a separator or begins a long word."""
    known = shapes()
    # what begins inside of a secret is skipped: a run of marks would be matched again and again
    begin = after = 0
    for place in _SEPARATOR.finditer(text):
        end = place.end()
        for mark, shape in known.after_separator.get(text[end - 2 : end], ()):
            start = end - len(mark)
            if (start <= begin or start >= after) and (match := _match_at(text, start, mark, shape)):
                begin, after = start, max(after, match.end())
                yield shape, match
    after = 0
    for place in _CAPITAL.finditer(text):
        start = place.start()
        for mark, shape in known.words.get(text[start : start + 2], ()) if start >= after else ():
            if match := _match_at(text, start, mark, shape):
                after = max(after, match.end())
                yield shape, match


def _with_mark(text: str, lowered: str) -> Iterator[tuple[Shape, re.Match[str]]]:
    known = shapes()
    for sign, marked in known.literal_by_sign.items():
        if sign in text:
            for mark, shape in marked:
                if mark in text:
                    yield from _everywhere(text, text, mark, shape)
    for mark, shape in known.any_case:
        if mark in lowered:
            yield from _everywhere(text, lowered, mark, shape)


# the beginning of a secret that was cut, by errata or by the harness
_CUT_OFF = lazy_regex(r"(?=[A-Za-z+/]{0,60}[0-9])(?:[A-Za-z0-9+/$]{6,400}(?=\u2026|\.\.\.)|[A-Za-z0-9+/]{16,400}\Z)")
_CUT_ENDS = frozenset(string.ascii_letters + string.digits + "+/")
_SHORTEST_MARK = 4


def _cut_off(text: str) -> Iterator[tuple[Shape, re.Match[str]]]:
    if text[-1:] not in _CUT_ENDS and "..." not in text and "\u2026" not in text:
        return  # neither behind what was cut nor at the end
    known = shapes()
    for place in _SEPARATOR.finditer(text):
        for mark, shape in known.after_separator.get(text[place.end() - 2 : place.end()], ()):
            if len(mark) >= _SHORTEST_MARK and text.endswith(mark, 0, place.end()):
                match = _CUT_OFF.match(text, place.end())
                if match:
                    yield shape, match


def _match_at(text: str, start: int, mark: str, shape: Shape) -> re.Match[str] | None:
    return shape.at(text, start) if start >= 0 and text.startswith(mark, start) else None


def _everywhere(text: str, searched: str, mark: str, shape: Shape) -> Iterator[tuple[Shape, re.Match[str]]]:
    at = searched.find(mark)
    while at >= 0:
        match = shape.at(text, at)
        if match:
            yield shape, match
        at = searched.find(mark, max(at + 1, match.end() if match else 0))


_ONES = str.maketrans("023456789", "111111111")
_ENCODES = frozenset("\\%&[")
"""Encoded characters: their digits have a meaning."""


def with_equal_digits(text: str) -> str:
    """The text with every digit made a 1; its length and all positions stay the same."""
    return text.translate(_ONES)


def is_never_redacted(equal: str) -> bool:
    """Whether redaction leaves a text with equal digits as it is, and so every text that has others in their places.

    The pattern of a secret accepts any digit wherever it accepts one. Only marks, with which a secret begins, name
    certain digits; and names, logins and encoded texts are judged by what their value is.
    """
    if not (equal.isascii() and equal.isprintable()) or not _ENCODES.isdisjoint(equal):
        return False
    lowered = lower(equal)
    return not any(word in lowered for word in _judged_by_value()) and redact(equal) == equal


@lru_cache(1)
def _judged_by_value() -> tuple[str, ...]:
    """In lower case: names of secrets, what announces a login, and marks with digits, which are equal here."""
    login = [mark for rule in rules()["shape"] if rule.get("login") for mark in rule["marks"]]
    every = (with_equal_digits(mark) for rule in rules()["shape"] for mark in rule["marks"])
    stems = (stem for stems in names().stems.values() for stem in stems)
    return (*stems, *(mark.lower() for mark in (*login, *(mark for mark in every if "1" in mark))))
