"""A text as a model may read it: without what hides words from a pattern, and with what is encoded in it."""

import re
import unicodedata
from array import array
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple


class View(NamedTuple):
    """In lower case; each character, and the end, knows where it stands in the original."""

    text: str
    at: Sequence[int]
    """Of what is decoded only where all of it begins and ends."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        return (self.at[start], self.at[end]) if len(self.at) > len(self.text) else (self.at[0], self.at[1])


# what shows nothing: zero-width and soft characters, variation selectors, fillers
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
)
# letters of other scripts that look like Latin ones
_LOOK_ALIKES = dict(zip("аеорсухіјѕԁԛԝһӏвкмтгαεορνικτυχıɡɑ", "aeopcyxijsdqwhlbkmtraeopviktuxiga", strict=True))
_STYLED = "\u0300-\u036f\u1d00-\u1dbf\u2100-\u214f\u2460-\u24ff\uff01-\uff5e\U0001d400-\U0001d7ff"
_DISGUISED = re.compile(f"[{_INVISIBLE}{_STYLED}{''.join(_LOOK_ALIKES)}à-ÿ]")
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_TAGS = re.compile("[\U000e0020-\U000e007e]{4,}")

_ESCAPED_SPACES = tuple(
    (one, " " * len(one)) for one in (r"\n", r"\r", r"\t", "%20", "%0a", "&nbsp;", "&#32;", "&#10;")
)
_LETTER = r"(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])"
_ESCAPED_LETTERS = (rf"\\u00({_LETTER})", rf"\\x({_LETTER})", rf"%({_LETTER})", rf"&\#x({_LETTER});")
_ESCAPED_LETTERS_DECIMAL = r"&\#(6[5-9]|[789]\d|1[01]\d|12[0-2]);"
_ESCAPED_LETTER = re.compile("|".join((*_ESCAPED_LETTERS, _ESCAPED_LETTERS_DECIMAL)))
# one by one they begin with plain text, which is looked for much faster
_ONE_BY_ONE = tuple(re.compile(one) for one in (*_ESCAPED_LETTERS, _ESCAPED_LETTERS_DECIMAL))
# digits for letters, in the words that it is worth hiding
_DIGITS_IN = re.compile(
    "ign0r|1gn[o0]r|d1sr|disr3|f0rg|prev1|previ0|pr3v|pri0r|instructi0|instruct1|1nstr|rev1e|r3v|grad3r|jud9e|0verr|0verl"
)
_DIGITS = str.maketrans("0134579", "oieastg")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{28,}+")
_HEX = re.compile(r"[0-9a-fA-F]+\Z")
_LONGEST = 20_000


def views(text: str) -> Iterator[View]:
    plain = View(_lowered(text), range(len(text) + 1))
    yield plain
    if not text.isascii() and _DISGUISED.search(plain.text):
        yield _rewritten(plain.text, _DISGUISED, lambda found: _bare(found[0]))
    if _DIGITS_IN.search(plain.text):
        yield View(plain.text.translate(_DIGITS), plain.at)
    if any(one.search(plain.text) for one in _ONE_BY_ONE):
        yield _rewritten(plain.text, _ESCAPED_LETTER, _letter)
    for start, end, decoded in _encoded(text):
        if len(decoded) > 1:
            yield View(decoded.lower(), (start, end))


def _lowered(text: str) -> str:
    """At equal length, escaped white space as spaces."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few capitals become two characters
        lowered = "".join(one.lower()[0] for one in text)
    for escaped, spaces in _ESCAPED_SPACES:
        lowered = lowered.replace(escaped, spaces)
    return lowered


def _rewritten(text: str, pattern: re.Pattern[str], to: Callable[[re.Match[str]], str]) -> View:
    pieces: list[str] = []
    at = array("q")
    done = 0
    for found in pattern.finditer(text):
        shown = to(found)
        pieces += [text[done : found.start()], shown]
        at.extend(range(done, found.start()))
        at.extend([found.start()] * len(shown))
        done = found.end()
    at.extend(range(done, len(text) + 1))
    return View("".join((*pieces, text[done:])), at)


def _bare(char: str) -> str:
    if _HIDDEN.match(char):
        return ""
    folded = unicodedata.normalize("NFKD", _LOOK_ALIKES.get(char, char))
    return "".join(one for one in folded if not unicodedata.combining(one)).lower()


def _letter(found: re.Match[str]) -> str:
    code = found[found.lastindex or 1]
    return chr(int(code, 10 if found.lastindex == 5 else 16)).lower()


def _encoded(text: str) -> Iterator[tuple[int, int, str]]:
    if not text.isascii():
        for found in _TAGS.finditer(text):
            yield *found.span(), "".join(chr(ord(one) - 0xE0000) for one in found[0])
    for found in _BASE64.finditer(text):
        run = found[0][:_LONGEST]
        yield *found.span(), _from_hex(run) if _HEX.match(run) else _from_base64(run)


def _from_base64(text: str) -> str:
    text = text.replace("-", "+").replace("_", "/")
    return _told(b64decode(text[: len(text) // 4 * 4]))


def _from_hex(text: str) -> str:
    return _told(bytes.fromhex(text[: len(text) // 2 * 2]))


def _told(data: bytes) -> str:
    """Nothing where it is no text; the last character may be cut."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].decode("utf-8") if error.start >= len(data) - 3 else ""
