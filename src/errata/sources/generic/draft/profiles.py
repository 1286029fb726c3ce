"""What the columns of an unknown table hold: kinds of values, words, numbers, times, messages."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any

from errata.sources.base import number_or_none
from errata.sources.generic.dates import DateOrder, date_order, moment
from errata.sources.generic.values import (
    NOT_UNDERSTOOD,
    NOTHING,
    plain_number,
    rate,
    seconds,
    structured,
    yes_or_no,
)

DEPTH = 3
KEYS_CAP = 60
CLIP = 1_000
WORD = 40
COLUMNS_CAP = 300
"""The most columns that are looked at, those of the outer objects first."""
LISTED = 12
LABELS = ("name", "metric", "criterion", "scorer", "key", "check")
"""Keys with the name of a check, in a list of checks."""
WORDS_CAP = 40
_PAIRS = (("t", "f"), ("p", "f"), ("y", "n"), ("c", "i"), ("1", "0"), ("1.0", "0.0"))
"""Single letters and digits are a verdict only together."""


def is_nothing(value: Any) -> bool:
    """Whether a cell is empty, also as `null`, `None` or `NaN`."""
    return value is None or value != value or (isinstance(value, str) and value.strip().lower() in NOTHING)


class ColumnProfile:
    """The values of one column in the rows that were looked at."""

    def __init__(self, path: str, values: list[Any], *, comma: bool = False) -> None:
        self.path = path
        self.values = values
        """One for each row; None where the row lacks it."""
        self.filled = [value for value in values if not is_nothing(value)]
        self._comma = comma

    @cached_property
    def kinds(self) -> Counter[str]:
        return Counter(type(value).__name__ for value in self.filled)

    @cached_property
    def distinct(self) -> int:
        return len({_hashable(value) for value in self.filled})

    @cached_property
    def words(self) -> Counter[str]:
        """The short texts, if they are a closed set; else empty."""
        if not self.filled or not all(isinstance(value, str) and len(value) <= WORD for value in self.filled):
            return Counter()
        words = Counter(value.strip() for value in self.filled)
        return words if len(words) <= WORDS_CAP else Counter()

    @cached_property
    def numbers(self) -> list[float]:
        """All values as numbers; empty if any is not a number."""
        made = []
        for value in self.filled:
            try:
                made.append(_number(plain_number(value) if self._comma else value))
            except NOT_UNDERSTOOD:
                return []
        return made

    @property
    def is_scalar(self) -> bool:
        return bool(self.filled) and not (self.kinds.keys() & {"dict", "list"})

    @cached_property
    def is_text(self) -> bool:
        """Free text: not numbers, and not a closed set of words."""
        return bool(self.filled) and self.kinds["str"] >= 0.8 * len(self.filled) and not self.numbers

    @cached_property
    def mean_length(self) -> float:
        texts = [len(value) for value in self.filled if isinstance(value, str)]
        return sum(texts) / len(texts) if texts else 0.0

    @cached_property
    def is_flag(self) -> bool:
        if not self.filled or any(yes_or_no(value) is None for value in self.filled):
            return False
        low = {str(value).strip().lower() for value in self.filled if not isinstance(value, bool)}
        return not low or all(not low <= set(pair) or low == set(pair) or pair[0] in ("1", "1.0") for pair in _PAIRS)

    @cached_property
    def is_verdict(self) -> bool:
        """Words, mostly a yes or a no, also as 1 and 0; the others may be `ERROR` or `TIMEOUT`."""
        words = self._short_values
        known = {word: often for word, often in words.items() if yes_or_no(word) is not None}
        signs = {word.lower() for word in known if (len(word) == 1 and word.isalnum()) or word in ("1.0", "0.0")}
        if len(signs) == len(words):
            return False
        if not known or len(words) > 12 or (signs and not any(signs == set(pair) for pair in _PAIRS)):
            return False
        return 2 * sum(known.values()) > words.total() and not any(map(_is_number, self.odd_words))

    @cached_property
    def _short_values(self) -> Counter[str]:
        """As `words`, even if numbers or true and false are among them."""
        if self.kinds.keys() - {"str", "int", "float", "bool"}:
            return Counter()
        if any(isinstance(value, str) and len(value) > WORD for value in self.filled):
            return Counter()
        words = Counter(str(value).strip() for value in self.filled)
        return words if len(words) <= WORDS_CAP else Counter()

    @property
    def odd_words(self) -> list[str]:
        """What is neither yes nor no."""
        return [word for word in self._short_values if yes_or_no(word) is None]

    @cached_property
    def words_among_numbers(self) -> list[str]:
        """`err` and `timeout` in a column of scores; empty if less than half of the values are numbers."""
        words = [word for word in self._score_words if not _is_number(word)]
        most = 2 * sum(self._score_words[word] for word in words) < self._score_words.total()
        return words if most and len(words) <= 12 and self.kinds.keys() <= {"str", "int", "float"} else []

    @cached_property
    def _score_words(self) -> Counter[str]:
        texts = (str(plain_number(value) if self._comma else value).strip() for value in self.filled)
        return Counter(texts)

    @cached_property
    def is_whole(self) -> bool:
        return bool(self.numbers) and all(number.is_integer() for number in self.numbers)

    def within(self, low: float, high: float) -> bool:
        return bool(self.numbers) and min(self.numbers) >= low and max(self.numbers) <= high

    @cached_property
    def is_count(self) -> bool:
        """Numbered 0, 1, 2 … or 1, 2, 3 … by row, as pandas numbers the rows of a table."""
        numbers = self.numbers
        return (
            len(numbers) > 1
            and numbers[0] in (0, 1)
            and all(number == numbers[0] + at for at, number in enumerate(numbers))
        )

    @cached_property
    def date_order(self) -> DateOrder:
        return date_order(self.filled)

    @cached_property
    def is_time(self) -> bool:
        if not self.filled or self.kinds.keys() & {"dict", "list", "bool"}:
            return False
        if self.numbers:
            return min(self.numbers) > 1e9
        try:
            for value in self.filled[:50]:
                moment(value, self.date_order)
        except NOT_UNDERSTOOD:
            return False
        return True

    @cached_property
    def is_messages(self) -> bool:
        lists = [structured(value) for value in self.filled[:20]]
        return bool(lists) and all(_is_chat(value) for value in lists)

    @property
    def has_answers(self) -> bool:
        """Whether the chat messages include some of the subject."""
        lists = (structured(value) for value in self.filled[:20])
        return any(message.get("role") in ("assistant", "ai", "model") for chat in lists for message in chat)

    @cached_property
    def has_decimal_commas(self) -> bool:
        texts = [value for value in self.filled if isinstance(value, str)]
        return (
            len(texts) == len(self.filled) > 0
            and any("," in text for text in texts)
            and all(plain_number(text) is not text or number_or_none(text) is not None for text in texts)
            and all(number_or_none(plain_number(text)) is not None for text in texts)
        )

    def with_commas(self) -> "ColumnProfile":
        return ColumnProfile(self.path, self.values, comma=True)


def _number(value: Any) -> float:
    """As a score, a cost or a duration would be read: `85 %`, `3/5`, `$0.02`, `350 ms`."""
    share = rate(value)
    return share if share is not None else seconds(value, "s")


def _is_number(value: str) -> bool:
    return rate(value) is not None


def _is_chat(value: Any) -> bool:
    return (
        type(value) is list
        and bool(value)
        and all(type(child) is dict and "role" in child for child in value)
        and any("content" in child or "tool_calls" in child for child in value)
    )


def _hashable(value: Any) -> Any:
    return repr(value) if isinstance(value, (dict, list)) else value


def flatten(row: dict[str, Any], prefix: str = "", depth: int = DEPTH) -> Iterator[tuple[str, Any]]:
    """The columns of a row, and of the objects in it: `usage.prompt_tokens`. Objects are columns, too."""
    for name, value in row.items():
        if prefix and any(sign in str(name) for sign in ".[]"):
            continue  # no path reaches it
        path = f"{prefix}.{name}" if prefix else str(name)
        parsed = structured(value) if isinstance(value, str) else value
        yield path, _clipped(parsed)
        if type(parsed) is list and depth > 1 and _are_named(parsed):
            for at, child in enumerate(parsed):
                yield from flatten(child, f"{path}[{at}]", 1)
        if type(parsed) is dict and depth > 1 and len(parsed) <= KEYS_CAP:
            yield from flatten(parsed, path, depth - 1)


def _are_named(values: list[Any]) -> bool:
    """Whether a list is one of checks by name: `[{"name": "bleu", "score": 0.4}]`."""
    return 0 < len(values) <= LISTED and all(
        type(value) is dict and any(key in value for key in LABELS) and "role" not in value for value in values
    )


def _clipped(value: Any) -> Any:
    if isinstance(value, str) and len(value) > CLIP:
        return f"{value[:CLIP]}#{hash(value)}"
    return value


def profiles_of(rows: Iterable[dict[str, Any]]) -> dict[str, ColumnProfile]:
    flat = [dict(flatten(row)) for row in rows]
    paths = dict.fromkeys(path for row in flat for path in row)
    shallow = sorted(paths, key=lambda path: path.count(".") + path.count("["))[:COLUMNS_CAP]
    kept = set(shallow)
    return {path: ColumnProfile(path, [row.get(path) for row in flat]) for path in paths if path in kept}
