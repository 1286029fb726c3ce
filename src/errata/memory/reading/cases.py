"""Names of cases in what people write: paths, identifiers, `turn 24`; in front of a line, in a cell, in a sentence."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple

from errata.memory.reading.markdown import Words
from errata.memory.spelling import Segments, segments

LONGEST = 300
RANGE = 100
_TOKEN = re.compile(r"(?<![\w/.@-])[A-Za-z0-9_][\w./@+-]*")
_FILE = re.compile(
    r"(?i)\.(?:[cm]?[jt]sx?|json[lc]?|py|md|toml|ya?ml|txt|log|sh|css|html?|csv|tsv|lock|rs|go|java|rb|sql|xml|zip|db|env)$"
)
_TURNS = re.compile(r"(?i)\bturns?[\s#]+(\d{1,6}(?:\s*(?:,|&|and|[-–—]|to)\s*#?\d{1,6})*)")
_NUMBER = re.compile(r"(\d{1,6})(?:\s*(?:[-–—]|to)\s*(\d{1,6}))?")
_NUMBERS = re.compile(r"(?:\d|[\s,&–—-]|and)+")
_FRONT = re.compile(
    r"^(?:[\s>]|\[[ xX]\]|[#№]?\d{1,4}[.):]\s|#\d{1,4}\b|[^\w\s`\"'(\[/.-]"
    r"|(?:eval|case|task|test|failure|scenario)\s*(?:\d{1,4})?\s*[:–—-]\s)*",
    re.IGNORECASE,
)
_REMARK = re.compile(r"\([^()]*\)")


class Lead(NamedTuple):
    """A name at the start of a line, and the text after it."""

    name: str
    sure: bool
    """Whether it is like no other word; if not, something else has to show that it is a case."""
    rest: Words


def lead_of(words: Words) -> Lead | None:
    start = _FRONT.match(words.text)
    at = start.end() if start else 0
    for begin, end in words.codes:
        if begin == at:
            name = words.text[begin:end].strip()
            return Lead(name, likeness(name) > 1, words.cut(end)) if _may_be_name(name) else None
    turn = _TURNS.match(words.text, at)
    if turn and turn[1].isdigit():
        return Lead(f"turn {turn[1]}", True, words.cut(turn.end()))
    token = _TOKEN.match(words.text, at)
    name = _trimmed(token[0]) if token else ""
    if token and likeness(name):
        return Lead(name, likeness(name) > 1, words.cut(at + len(name)))
    return None


def names_in_cell(words: Words, column: str) -> list[str]:
    """Every case that a cell or field for cases holds. `column` names it: numbers below `turn` are turns."""
    marked = [name for name in map(str.strip, words.code_texts) if _may_be_name(name)]
    if marked:
        return marked
    text, kind = _without_remarks(words.text).strip(), column.strip().lower().removesuffix("s")
    if kind == "turn" or _NUMBERS.fullmatch(text):
        return _numbered(text, kind)
    parts = [part.strip(" .*`\"'") for part in re.split(r"[,;\n]|\s(?:and|&)\s", text)]
    several = [part for part in parts if part]
    if len(several) > 1 and all(" " not in part or _TURNS.fullmatch(part) for part in several):
        return several
    bare = _FRONT.sub("", text, count=1).strip(" .*`\"'")
    return [bare[:LONGEST]] if re.search(r"\w", bare) else []


def names_in(words: Words, known: "Vocabulary") -> Iterator[tuple[int, str]]:
    """Where cases stand in a sentence: those that are known, and those that are like no other word."""
    codes = set(words.codes)
    for turns in _TURNS.finditer(words.text):
        for number in _numbers(turns[1]):
            yield turns.start(), f"turn {number}"
    for begin, end in words.codes:
        name = words.text[begin:end].strip()
        if likeness(name) > 1 or known.has(name):
            yield begin, name
    for token in _TOKEN.finditer(words.text):
        if any(begin <= token.start() < end for begin, end in codes):
            continue
        name = _trimmed(token[0])
        if known.has(name) or (likeness(name) > 1 and ("/" in name or name[0].isdigit())):
            yield token.start(), name


class Vocabulary:
    """Names that are known to be cases, by their last parts; those of another one besides its own."""

    def __init__(self, names: Iterable[str] = (), *, within: "Vocabulary | None" = None) -> None:
        self._within = within
        self._endings: set[Segments] = set()
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        parts = segments(name)
        self._endings.update(parts[at:] for at in range(min(len(parts), 4)))

    def has(self, name: str) -> bool:
        parts = segments(name)
        return (len(parts) > 1 or "-" in "".join(parts)) and self._has(parts)

    def _has(self, parts: Segments) -> bool:
        return parts in self._endings or (self._within is not None and self._within._has(parts))


@lru_cache(maxsize=20_000)
def likeness(token: str) -> int:
    """How much a word is like the name of a case: 2 like nothing else, 1 perhaps, 0 not."""
    if not _may_be_name(token) or not _TOKEN.fullmatch(token) or not re.search(r"[A-Za-z]", token):
        return 0
    parts = token.split("/")
    digit, joined = any(letter.isdigit() for letter in token), re.search(r"[_-]", token) is not None
    if len(parts) > 1:
        return 0 if not all(parts) else 2 if digit or joined else 1
    inner = re.search(r"\w[._-]\w", token) is not None
    return 2 if inner and digit else 1 if inner else 0


def _may_be_name(text: str) -> bool:
    bare = text.partition(":")[0]
    return (
        0 < len(text) <= LONGEST
        and "://" not in text
        and not _FILE.search(bare)
        and not text.startswith(("/", ".", "_"))
    )


def _trimmed(token: str) -> str:
    return token.rstrip(".,:;-/+@")


def _numbered(name: str, column: str) -> list[str]:
    """Below `turn` they are turns, below `id` and the like they are names, elsewhere they count something."""
    if column == "turn":
        return [f"turn {number}" for number in _numbers(name)]
    return list(_numbers(name)) if column in ("id", "eval", "case", "task", "item", "question", "sample") else []


def _numbers(name: str) -> Iterator[str]:
    """`11, 22` and `25–29`, with the zeros that stand in front of them."""
    for match in _NUMBER.finditer(name):
        first, last = int(match[1]), int(match[2] or match[1])
        for number in range(first, min(max(last, first), first + RANGE) + 1):
            yield f"{number:0{len(match[1])}d}"


def _without_remarks(text: str) -> str:
    for _ in range(3):
        text = _REMARK.sub("", text)
    return text
