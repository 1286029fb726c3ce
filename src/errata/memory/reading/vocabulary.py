"""The names that a report may use for cases: those of the run, those it has named, and its categories."""

import re
from collections.abc import Iterable

from errata.memory.reading.markdown import MarkdownPiece
from errata.memory.spelling import Segments, segments, without_number
from errata.text.lazy_regex import lazy_regex

_NUMBERED = lazy_regex(r"(\d{2,4})-[A-Za-z]\w*(?:[-.]\w+)*")
_ALONE = lazy_regex(r"(?<![\w/.@-])(0\d{1,3}-[a-z][a-z0-9]*_\w+)(?![\w/-])")
"""`001-react_upload`, the name of a case in any text."""
_PATH = lazy_regex(r"(?<![\w@-])((?:[\w.-]+/)+[\w.-]*\w)")
_CATEGORY_COLUMN = lazy_regex(r"(?i)^\W*(?:categor(?:y|ies)|area|group|topic|section|folder)\W*$")
_IN_BRACKETS = lazy_regex(r"[A-Za-z0-9]\w+`?\s*[(\[]`?(\d{2,4}-[a-z]\w*)`?[)\]]")
_COUNTED = lazy_regex(r"(?i)^\W*(\d{2,4}-[a-z]\w*)\W{1,4}\(?\d+\s*(?:/\s*\d+|fail|eval|case|of\b|pass|model)")


def is_numbered(name: str) -> bool:
    """`009-text_search`: a name that is like no word."""
    return _NUMBERED.fullmatch(name) is not None


class Vocabulary:
    """Names that are known to be cases, by their last parts; those of another one besides its own."""

    def __init__(self, names: Iterable[str] = (), *, within: "Vocabulary | None" = None) -> None:
        self._within = within
        self._endings: set[Segments] = set()
        self._bare: set[Segments] = set()
        """The same without the numbers in front."""
        self._categories: set[str] = set()
        self._widths: set[int] = set()
        """How many digits the numbers of cases have; empty where they have none."""
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        parts = segments(name)
        self._widths |= {len(match[1]) for match in map(_NUMBERED.fullmatch, name.split("/")) if match}
        for at in range(min(len(parts), 4)):
            self._endings.add(parts[at:])
            self._bare.add(tuple(map(without_number, parts[at:])))

    def add_category(self, name: str) -> None:
        self._categories.add(name.casefold())

    def learn_categories(self, pieces: Iterable[MarkdownPiece]) -> None:
        """What comes before the slash in the names of cases, in a column for categories, or before a count."""
        numbered: set[str] = set()
        in_brackets: set[str] = set()
        for piece in pieces:
            for words in piece.cells or (piece.words,):
                numbered.update(_ALONE.findall(words.text))
                for path in _PATH.findall(words.text):
                    self._learn_from(path)
                in_brackets.update(_IN_BRACKETS.findall(words.text))
            counted = _COUNTED.match(piece.text)
            if counted:
                self.add_category(counted[1])
            for title, cell in zip(piece.header, piece.cells, strict=False):
                if _CATEGORY_COLUMN.match(title) and is_numbered(cell.text.strip(" `*")):
                    self.add_category(cell.text.strip(" `*"))
        if not self._categories:
            self._categories |= {name.casefold() for name in in_brackets}
        for name in numbered:
            if not self.is_category(name):
                self.add(name)

    def _learn_from(self, path: str) -> None:
        parts = path.split("/")
        numbered = [at for at, part in enumerate(parts) if is_numbered(part)]
        followed = parts[numbered[0] + 1 : numbered[0] + 2] if numbered else []
        if len(numbered) > 1 or (followed and "." not in followed[0]):
            self.add_category(parts[numbered[0]])
            self._widths |= {len(match[1]) for match in map(_NUMBERED.fullmatch, parts) if match}

    def may_be_category(self, name: str) -> bool:
        """Where categories are known, another name in brackets is a case."""
        return not self._categories or self.is_category(name)

    def is_category(self, name: str) -> bool:
        return name.casefold() in self._categories or (self._within is not None and self._within.is_category(name))

    def category_in_front(self, text: str) -> str:
        """The category that a line or a heading is about; empty where it begins with something else."""
        match = re.match(r"\W*(?:category\W+)?([\w-]+)(?![\w/-])", text, re.IGNORECASE)
        return match[1] if match and is_numbered(match[1]) and self.is_category(match[1]) else ""

    @property
    def categories(self) -> tuple[str, ...]:
        """In lower case."""
        return tuple(self._categories)

    def has(self, name: str, *, is_code: bool = False) -> bool:
        """A single word is one only where it is marked as code: `cron` may be any word."""
        parts = segments(name)
        return (len(parts) > 1 or is_code or "-" in "".join(parts)) and self._has(parts)

    def _has(self, parts: Segments) -> bool:
        if parts in self._endings:
            return True
        bare = tuple(map(without_number, parts))
        is_shortened = any(here == there for here, there in zip(parts, bare, strict=True))
        return (is_shortened and bare in self._bare) or (self._within is not None and self._within._has(parts))

    def is_like_others(self, name: str) -> bool:
        """In a report whose cases are numbered, other names are models, files and rules."""
        widths = self._all_widths()
        if not widths:
            return True
        numbers = [match[1] for match in map(_NUMBERED.fullmatch, name.split("/")) if match]
        return any(len(number) in widths for number in numbers) and not self.is_category(name)

    def _all_widths(self) -> set[int]:
        return self._widths or (self._within._all_widths() if self._within is not None else set())

    def trimmed(self, name: str) -> str:
        """`evals/003-mutations/004-upsert/answer` without the folders around the case."""
        parts = name.split("/")
        numbered = [at for at, part in enumerate(parts) if is_numbered(part)]
        if not numbered or len(parts) == 1:
            return name
        start, end = numbered[0], numbered[0] + 1
        while end in numbered:
            end += 1
        if end - start == 1:  # `tables/001-sort` and `002-queries/text_search` have one number
            start, end = 0, max(end, 2 if "." not in parts[1] else 1)
        return "/".join(parts[start:end])
