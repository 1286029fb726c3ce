"""Mask the parts of a message that vary between occurrences, so that equal failures look equal."""

import re
from functools import lru_cache

from errata.text.clean import clean
from errata.text.lazy_regex import lazy_regex
from errata.text.redact import is_never_redacted, redact, with_equal_digits

_MASKS: tuple[tuple[str, str], ...] = (
    ("<time>", r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"),
    ("<url>", r"\bhttps?://[^\s\"'<>)\]]+"),
    ("<uuid>", r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"),
    ("<ip>", r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b"),
    ("<path>", r"(?<![\w/<])(?:~|\.{1,2}|[A-Za-z]:)?(?:[/\\][\w.@+%~-]+){2,}[/\\]?"),
    ("<hex>", r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"),
    # ids such as `req_011CUx…`, `jh7xyz…`: long, and letters mixed with digits
    ("<id>", r"\b(?=[A-Za-z_-]*\d)(?=[\d_-]*[A-Za-z])(?=(?:[A-Za-z_-]*\d){3})[A-Za-z0-9_-]{16,}\b"),
    ("<str>", r"\"(?:[^\"\\\n]|\\.){1,200}\"|(?<![A-Za-z0-9])'(?:[^'\\\n]|\\.){1,200}'(?![A-Za-z0-9])"),
    ("<n>", r"(?<![A-Za-z0-9<])[-+]?\d+(?:[.,:]\d+)*(?:[eE][-+]?\d+)?"),
)
# nothing above begins in a plain word that a space or a full stop ends: such words are passed over in one go
_WORDS = r"(?<![A-Za-z])(?:[A-Za-z]++[ ,.;]++)+"
_ANY = lazy_regex("|".join((_WORDS, *(f"(?P<m{at}>{shape})" for at, (_, shape) in enumerate(_MASKS)))))
_NAMES = {f"m{at}": name for at, (name, _) in enumerate(_MASKS)}
_STRINGS = "<str>"
_LONG_NUMBER = lazy_regex(r"\d[0-9a-f]{5,}")
_ZEROS = str.maketrans("123456789bcdef", "000000000aaaaa")
LONGEST = 2_000


@lru_cache(maxsize=256)
def steady(text: str) -> str:
    """The text with the digits of long numbers made equal; its length and all positions stay the same."""
    return _LONG_NUMBER.sub(lambda found: found[0].translate(_ZEROS), text)


def mask(text: str, *, strings: bool = True) -> str:
    """The shape of a message: numbers, ids, paths, times and addresses masked, white space folded.

    Without `strings`, quoted text is kept: `'pixi'` may be the whole point of a message.
    """
    shape = mask_of_equal_digits(with_equal_digits(text[:LONGEST]), strings)
    return _mask(steady(text[:LONGEST]), strings) if shape is None else shape


@lru_cache(maxsize=20_000)
def mask_of_equal_digits(equal: str, strings: bool) -> str | None:
    """The mask of all texts that have other digits where this one has a 1; None where it depends on the digits."""
    text = with_equal_digits(steady(equal))
    if "1x" in text or not is_never_redacted(text):  # `0x` begins a hexadecimal number, and no other digit does
        return None
    shape = _shape(" ".join(text.split()), strings)
    return None if _DIGIT.search(shape) else shape


@lru_cache(maxsize=20_000)
def _mask(text: str, strings: bool) -> str:
    folded = " ".join(redact(clean(text)).split())
    # no mask depends on which digits there are, but for the `0x` of a hexadecimal number
    shape = _shape(folded.translate(_ONES), strings)
    return _masked(folded, strings) if _DIGIT.search(shape) else shape


_ONES = str.maketrans("23456789", "11111111")
_DIGIT = lazy_regex(r"[0-9]")


@lru_cache(maxsize=20_000)
def _shape(text: str, strings: bool) -> str:
    """The mask of all texts that differ in digits only, where it leaves none of them."""
    return _masked(text, strings)


def _masked(folded: str, strings: bool) -> str:
    def masked(match: re.Match[str]) -> str:
        name = _NAMES.get(match.lastgroup or "")
        return match[0] if name is None or (name == _STRINGS and not strings) else name

    return _ANY.sub(masked, folded)


# ids, uuids and times are long words with digits; prose has no such words
SHORTEST_TIME, LONG_WORD = 5, 16
DIGITS = 4
WITH_IDS = 2_000
_LONG_WORDS = lazy_regex(r"[\w:.+-]{16,}")
_DATE_OR_TIME = lazy_regex(r"\d{4}-\d\d-\d\d|\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?")


def without_ids(text: str) -> str:
    """The text without times and long ids, which differ where nothing else does; plain numbers are content."""
    if not any(digit in text for digit in "0123456789"):  # faster than a pattern
        return text
    return (
        " ".join([_plain(word) if len(word) >= SHORTEST_TIME else word for word in text[:WITH_IDS].split()])
        + text[WITH_IDS:]
    )


def _plain(word: str) -> str:
    if len(word) >= LONG_WORD:
        return _LONG_WORDS.sub(_without_id, word)
    return "#" if word[0].isdigit() and _DATE_OR_TIME.fullmatch(word.rstrip(",.;)")) else word


def _without_id(match: re.Match[str]) -> str:
    return "#" if sum(map(str.isdigit, match[0])) >= DIGITS else match[0]
