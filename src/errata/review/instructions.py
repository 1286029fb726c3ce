"""Text in a packet that talks to the reviewer: it is data all the same, but nothing in it is evidence.

The patterns are in `phrases.toml`; `views` undoes obfuscation. A pattern is tried only near words that
it can't do without, so that long logs cost little, and every pattern takes time in proportion to the text.
"""

import json
import re
import tomllib
import unicodedata
from array import array
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

import msgspec

from errata.model import Packet, Signal
from errata.model.codec import json_text
from errata.text.clean import one_line
from errata.text.lazy_regex import lazy_regex

Reach = Literal["line", "block", "object"]
FARTHEST = 900
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
    window = max(0, start - FARTHEST // 3)
    first = max((one.end() for one in _BEGINS.finditer(text, window, start)), default=window)
    ends = _ENDS[reach].search(text, end, end + FARTHEST)
    last = ends.end() if ends else min(len(text), end + FARTHEST)
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
    for first in range(start - 1, max(-1, start - FARTHEST), -1):
        depth += (text[first] == "{") - (text[first] == "}")
        if depth == 1:
            break
    else:
        return None
    for last in range(start, min(len(text), end + FARTHEST)):
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
    at = -1 if is_over else text.find(closing, end, end + FARTHEST)
    return at + len(closing) if at >= 0 else 0


def _end_of_comment(text: str, start: int, last: int) -> int:
    """The lines below it that are a comment of the same kind."""
    leader = _COMMENT.match(text, text.rfind("\n", 0, start) + 1)
    while leader and last < min(len(text), start + FARTHEST) and text[last - 1] == "\n":
        line = _COMMENT.match(text, last)
        if not line or line[1] != leader[1]:
            break
        end = text.find("\n", last)
        last = len(text) if end < 0 else end + 1
    return last


# what shows nothing: zero-width and soft characters, variation selectors, fillers
_INVISIBLE = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff"
)
# letters of other scripts that look like Latin ones
_LOOK_ALIKES = dict(zip("аеорсухіјѕԁԛԝһӏвкмтгαεορνικτυχıɡɑ", "aeopcyxijsdqwhlbkmtraeopviktuxiga", strict=True))
_STYLED = "\u0300-\u036f\u1d00-\u1dbf\u2100-\u214f\u2460-\u24ff\uff01-\uff5e\U0001d400-\U0001d7ff"
_DISGUISED = lazy_regex(f"[{_INVISIBLE}{_STYLED}{''.join(_LOOK_ALIKES)}à-ÿ]")
_HIDDEN = lazy_regex(f"[{_INVISIBLE}]")
_TAGS = lazy_regex("[\U000e0020-\U000e007e]{4,}")
_ESCAPED_SPACES = tuple(
    (escape, " " * len(escape)) for escape in (r"\n", r"\r", r"\t", "%20", "%0a", "&nbsp;", "&#32;", "&#10;")
)
_LETTER = r"(?:4[1-9a-f]|5[0-9a]|6[1-9a-f]|7[0-9a])"
_ESCAPED_LETTERS = (rf"\\u00({_LETTER})", rf"\\x({_LETTER})", rf"%({_LETTER})", rf"&\#x({_LETTER});")
_ESCAPED_LETTERS_DECIMAL = r"&\#(6[5-9]|[789]\d|1[01]\d|12[0-2]);"
_ESCAPED_LETTER = lazy_regex("|".join((*_ESCAPED_LETTERS, _ESCAPED_LETTERS_DECIMAL)))
# one by one they begin with plain text, which is looked for much faster
_ONE_BY_ONE = tuple(lazy_regex(one) for one in (*_ESCAPED_LETTERS, _ESCAPED_LETTERS_DECIMAL))
# digits for letters, in the words that it is worth hiding
_DIGITS_IN = lazy_regex(
    "ign0r|1gn[o0]r|d1sr|disr3|f0rg|prev1|previ0|pr3v|pri0r|instructi0|instruct1|1nstr|rev1e|r3v|grad3r|jud9e|0verr|0verl"
)
_DIGITS = tuple(zip("0134579", "oieastg", strict=True))
_BASE64 = lazy_regex(r"[A-Za-z0-9+/_-]{28,}+")
_HEX = lazy_regex(r"[0-9a-fA-F]+\Z")
_LONGEST = 20_000
SIGNAL = "speaks_to_reviewer"
QUOTE = 200
BEFORE, AFTER = 200, 500
"""How far around a stem a pattern may reach."""
LARGEST = 200_000
"""Characters of a text that is remembered."""
REMEMBERED = 128
"""Texts: the places of a packet are looked at when its verdict is made and again when that is marked."""
UNLESS = 60
OPENING = 5
"""Letters that tell whether a word may be there at all."""
_LETTERS = lazy_regex("[a-z]{3,}")
_OPENING = lazy_regex("([a-z]{3,5}+)[a-z]*+")
_BETWEEN = r"(?:[\W_]{1,20}+)"
_WORDS = r"(?:[^\W_]{1,30}+[\W_]{1,20}+){0,%s}"


class View(NamedTuple):
    """In lower case; maps each character, and the end, to its position in the original."""

    text: str
    at: Sequence[int]
    """Of what is decoded only where all of it begins and ends."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        return (self.at[start], self.at[end]) if len(self.at) > len(self.text) else (self.at[0], self.at[1])


def views(text: str) -> Iterator[View]:
    plain = View(_lowered(text), range(len(text) + 1))
    yield plain
    if not text.isascii() and _DISGUISED.search(plain.text):
        yield _rewritten(plain.text, _DISGUISED, lambda found: _bare(found[0]))
    if _DIGITS_IN.search(plain.text):
        yield View(_as_letters(plain.text), plain.at)
    if any(one.search(plain.text) for one in _ONE_BY_ONE):
        yield _rewritten(plain.text, _ESCAPED_LETTER, _letter)
    for start, end, decoded in _encoded(text):
        if len(decoded) > 1:
            yield View(decoded.lower(), (start, end))


def _as_letters(text: str) -> str:
    for digit, letter in _DIGITS:
        text = text.replace(digit, letter)
    return text


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
    for match in pattern.finditer(text):
        shown = to(match)
        pieces += [text[done : match.start()], shown]
        at.extend(range(done, match.start()))
        at.extend([match.start()] * len(shown))
        done = match.end()
    at.extend(range(done, len(text) + 1))
    return View("".join((*pieces, text[done:])), at)


def _bare(char: str) -> str:
    if _HIDDEN.match(char):
        return ""
    folded = unicodedata.normalize("NFKD", _LOOK_ALIKES.get(char, char))
    return "".join(one for one in folded if not unicodedata.combining(one)).lower()


def _letter(match: re.Match[str]) -> str:
    code = match[match.lastindex or 1]
    return chr(int(code, 10 if match.lastindex == 5 else 16)).lower()


def _encoded(text: str) -> Iterator[tuple[int, int, str]]:
    if not text.isascii():
        for match in _TAGS.finditer(text):
            yield *match.span(), "".join(chr(ord(one) - 0xE0000) for one in match[0])
    for match in _BASE64.finditer(text):
        run = match[0][:_LONGEST]
        yield *match.span(), _from_hex(run) if _HEX.match(run) else _from_base64(run)


def _from_base64(text: str) -> str:
    text = text.replace("-", "+").replace("_", "/")
    return _decoded(b64decode(text[: len(text) // 4 * 4]))


def _from_hex(text: str) -> str:
    return _decoded(bytes.fromhex(text[: len(text) // 2 * 2]))


def _decoded(data: bytes) -> str:
    """Nothing where it is not text; the last character may be cut."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        return data[: error.start].decode("utf-8") if error.start >= len(data) - 3 else ""


class InstructionSpan(NamedTuple):
    start: int
    end: int
    why: str


class Phrase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    why: str
    stems: tuple[str, ...]
    pattern: str
    unless: str = ""
    reach: Reach = "line"
    capitals: bool = False
    """Only where it is written in capitals."""


class _Rule(NamedTuple):
    phrase: Phrase
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None
    stems: tuple[tuple[frozenset[str], str], ...]
    """Each with the openings of its words, without which it can't be there."""
    plain_stems: tuple[tuple[frozenset[str], str], ...]
    """Those in plain letters: a plain text can hold no others."""


class _Rules(NamedTuple):
    every: tuple[_Rule, ...]
    by_opening: dict[str, tuple[int, ...]]
    """Which of them a plain text with a word of this opening may hold; without any it need not be looked at."""


class _Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    parts: dict[str, str]
    """What patterns have in common, by name."""
    phrase: tuple[Phrase, ...]


@lru_cache(maxsize=16)
def _rules(labels: tuple[str, ...]) -> _Rules:
    phrases = _phrases()
    own = [re.escape(label.lower()) for label in labels if not label.isalpha()]  # `other` may mean anything
    parts = phrases.parts | {"label": f"(?:{'|'.join((phrases.parts['label'], *own))})"}
    every = tuple(_rule(one, parts) for one in phrases.phrase)
    by_opening: dict[str, list[int]] = {}
    for number, rule in enumerate(every):
        for opening in {max(needed, key=len, default="") for needed, _ in rule.plain_stems}:
            by_opening.setdefault(opening, []).append(number)
    return _Rules(every, {opening: tuple(numbers) for opening, numbers in by_opening.items()})


def _rule(phrase: Phrase, parts: dict[str, str]) -> _Rule:
    unless = _compiled(rf"(?:{phrase.unless})\Z", parts) if phrase.unless else None
    stems = tuple((frozenset(word[:OPENING] for word in _LETTERS.findall(stem)), stem) for stem in phrase.stems)
    plain = tuple(one for one in stems if one[1].isascii())
    return _Rule(phrase, _compiled(phrase.pattern, parts), unless, stems, plain)


@lru_cache(maxsize=1)
def _phrases() -> _Phrases:
    data = (files("errata.review") / "phrases.toml").read_bytes()
    return msgspec.convert(tomllib.loads(data.decode("utf-8")), _Phrases)


def _compiled(pattern: str, parts: dict[str, str]) -> re.Pattern[str]:
    for name, part in parts.items():
        pattern = pattern.replace(f"<{name}>", part)
    pattern = re.sub(r"<w(\d)>", lambda found: _WORDS % found[1], pattern)
    return re.compile(pattern.replace("<s>", _BETWEEN))


def spans(text: str, labels: tuple[str, ...] = ()) -> tuple[InstructionSpan, ...]:
    """Where it talks to the reviewer, in order and apart from each other; `labels` are those it may ask for."""
    return _remembered(text, labels) if len(text) <= LARGEST else _spans(text, labels)


def _spans(text: str, labels: tuple[str, ...]) -> tuple[InstructionSpan, ...]:
    matches = [span for view in views(text) for span in _in_view(view, text, _rules(labels))]
    merged: list[InstructionSpan] = []
    for span in sorted(matches):
        if merged and span.start <= merged[-1].end:
            merged[-1] = merged[-1]._replace(end=max(span.end, merged[-1].end))
        else:
            merged.append(span)
    return tuple(merged)


_remembered = lru_cache(maxsize=REMEMBERED)(_spans)


def speaks_to_reviewer(packet: Packet) -> Signal | None:
    """The first place that does, or a text around the places, such as a file name that the subject chose.

    A verdict on such a failure needs a second reviewer. The words of a benchmark's user do not count: some turns are
    traps that try an injection on the subject.
    """
    labels = labels_of(packet)
    texts = (("facts", json_text(packet.facts)), ("packet", "\n\n".join(_around(packet))))
    for where, text in (*_texts_of_places(packet), *texts):
        spans_in_text = spans(text, labels)
        if spans_in_text:
            quote = one_line(text[spans_in_text[0].start : spans_in_text[0].end], QUOTE)
            return Signal(name=SIGNAL, rule=spans_in_text[0].why, where=where, quote=quote)
    return None


def _texts_of_places(packet: Packet) -> Iterator[tuple[str, str]]:
    turn = packet.facts.get("turn")
    is_scripted = turn is not None and packet.case_key.endswith(f"turn-{turn}")
    for place in packet.places:
        if not is_scripted:
            yield place.place, place.text
        elif place.place not in ("input", "task"):
            yield place.place, _without_user(place.text) if place.place.startswith("earlier/") else place.text


def _without_user(text: str) -> str:
    """An earlier turn without the words of its user; the whole text where it was cut."""
    try:
        turn = json.loads(text)
    except ValueError:
        return text
    if not isinstance(turn, dict):
        return text
    return json_text({name: value for name, value in turn.items() if name != "user_text"})


def _around(packet: Packet) -> Iterator[str]:
    """Without the history: it contains labels, written by reviewers and people."""
    yield from (packet.case_key, json_text(packet.run))
    yield from (place.place for place in packet.places)
    yield from (signal.words for signal in packet.signals)
    yield from (one.what for one in packet.left_out)
    yield from packet.timeline
    yield from (one.quote for one in packet.observations)


def labels_of(packet: Packet) -> tuple[str, ...]:
    return tuple(choice.label for choice in packet.question.labels)


def _in_view(view: View, text: str, rules: _Rules) -> Iterator[InstructionSpan]:
    openings, plain = _openings(view.text), view.text.isascii()
    places: dict[str, list[int]] = {}
    for rule in _worth_trying(rules, openings) if plain else rules.every:
        stems = [stem for needed, stem in (rule.plain_stems if plain else rule.stems) if needed <= openings]
        for stem in stems:
            if stem not in places:
                places[stem] = list(_places(view.text, stem))
        for start, end in _windows([at for stem in stems for at in places[stem]]):
            for match in rule.pattern.finditer(view.text, start, end):
                if _holds(rule, view, match, text):
                    yield InstructionSpan(
                        *extent(rule.phrase.reach, text, *view.original(*match.span())), rule.phrase.why
                    )


def _worth_trying(rules: _Rules, openings: set[str]) -> Iterator[_Rule]:
    known = rules.by_opening.keys() & openings
    numbers = {number for opening in known for number in rules.by_opening[opening]}
    return (rules.every[number] for number in sorted(numbers))


def _openings(text: str) -> set[str]:
    openings = set(_OPENING.findall(text))
    return openings | {one[:length] for one in openings for length in (3, 4)} | {""}


def _places(text: str, stem: str) -> Iterator[int]:
    at = text.find(stem)
    while at >= 0:
        yield at
        at = text.find(stem, at + len(stem))


def _windows(places: list[int]) -> list[tuple[int, int]]:
    """The texts around the places, in order and separated."""
    merged: list[tuple[int, int]] = []
    for at in sorted(places):
        if merged and at - BEFORE <= merged[-1][1]:
            merged[-1] = (merged[-1][0], at + AFTER)
        else:
            merged.append((max(0, at - BEFORE), at + AFTER))
    return merged


def _holds(rule: _Rule, view: View, match: re.Match[str], text: str) -> bool:
    if rule.unless and rule.unless.search(view.text, max(0, match.start() - UNLESS), match.start()):
        return False
    if not rule.phrase.capitals:
        return True
    start, end = view.original(*match.span())
    return text[start:end].isupper()
