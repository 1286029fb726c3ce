"""The rules of redaction, from `secrets.toml`: secrets by their shape, and what the names of secrets are made of."""

import re
import tomllib
from base64 import urlsafe_b64decode
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

_SEPARATORS = "-_.:="
"""Most marks end in one, and next to no text has one before a long word."""
_START = {"inside": "", "dashed": r"(?<![A-Za-z0-9_-])"}
_PLAIN_START = r"(?<![A-Za-z0-9])"


class Shape:
    """A secret with a known beginning. Patterns are compiled when a text first needs them."""

    def __init__(self, order: int, rule: dict[str, Any]) -> None:
        self.order = order
        self.kind: str = rule["kind"]
        self.marks: tuple[str, ...] = tuple(rule["marks"])
        self.any_case: bool = rule.get("any_case", False)
        self._back: int = rule.get("back", 0)
        self._rule = rule

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """A group marks the secret if the match is longer than it."""
        rule = self._rule
        start = next((text for name, text in _START.items() if rule.get(name)), _PLAIN_START)
        marks = "|".join(map(re.escape, self.marks))
        marks = f"(?i:{marks})" if self.any_case else f"(?:{marks})"
        return re.compile(f"{start}{rule.get('before', '')}{marks}{rule['rest']}")

    def at(self, text: str, mark: int) -> re.Match[str] | None:
        start = mark - self._back
        match = self.pattern.match(text, start) if start >= 0 else None
        return match if match is None or not self._rule.get("login") or _is_login(match[1]) else None

    def follows_separator(self, mark: str) -> bool:
        """Whether the secret begins right after a separator."""
        return mark[-1] in _SEPARATORS and not self.any_case and not self._rule["rest"].startswith(('["', "\\s"))

    def is_word(self, mark: str) -> bool:
        """Whether the mark is the beginning of a long word in capitals."""
        inside = self._rule.get("inside") or self._back
        return mark[0].isupper() and mark.isalnum() and not inside and not self.any_case


_URL_SAFE = str.maketrans("+/", "-_")


def _is_login(encoded: str) -> bool:
    try:
        decoded = urlsafe_b64decode(encoded.translate(_URL_SAFE).rstrip("=") + "=" * (-len(encoded.rstrip("=")) % 4))
    except ValueError:
        return False
    user, colon, password = decoded.partition(b":")
    return bool(user and colon and password) and decoded.isascii()


Marked = tuple[str, Shape]


class Shapes(NamedTuple):
    """The shapes by how a text is searched for their marks."""

    after_separator: dict[str, list[Marked]]
    """By the last two characters of the mark."""
    words: dict[str, list[Marked]]
    """By the first two characters of the mark."""
    literal_by_sign: dict[str, list[Marked]]
    """By the character of the mark that is rarest in texts."""
    any_case: list[Marked]


class NamePatterns(NamedTuple):
    """Patterns for lower-cased text."""

    stems: dict[str, list[str]]
    """Every name has one of these in it; a text without any has no name. By what several of them have in common."""
    name: re.Pattern[str]
    before_key: re.Pattern[str]
    before_pass: re.Pattern[str]
    weak_key: re.Pattern[str]
    """Words that make `key` a secret only as whole words: `app_key`, not `map_key`."""
    types: frozenset[str]
    """How the name of a type ends: `SecretStr`."""


@lru_cache(1)
def rules() -> dict[str, Any]:
    return tomllib.loads(files("errata.text").joinpath("secrets.toml").read_text(encoding="utf-8"))


@lru_cache(1)
def shapes() -> Shapes:
    made = Shapes({}, {}, {}, [])
    for order, rule in enumerate(rules()["shape"]):
        shaped = Shape(order, rule)
        for mark in shaped.marks:
            if shaped.follows_separator(mark):
                made.after_separator.setdefault(mark[-2:], []).append((mark, shaped))
            elif shaped.is_word(mark):
                made.words.setdefault(mark[:2], []).append((mark, shaped))
            else:
                marks = made.any_case if shaped.any_case else made.literal_by_sign.setdefault(_rarest(mark), [])
                marks.append((mark, shaped))
    return made


def _rarest(mark: str) -> str:
    """A text without this character is known at a glance to lack the mark."""
    return max(mark, key=lambda char: (not char.isalnum() and char not in " .", char.isdigit(), char.isupper(), char))


@lru_cache(8)
def shape(kind: str) -> Shape:
    """The first shape of a kind."""
    return next(Shape(order, rule) for order, rule in enumerate(rules()["shape"]) if rule["kind"] == kind)


@lru_cache(1)
def names() -> NamePatterns:
    data = rules()["names"]
    words, keys, whole, passes, endings = (
        "|".join(map(re.escape, data[name])) for name in ("words", "keys", "whole_keys", "passes", "endings")
    )
    every = {*data["words"], "key", "_pass"}
    stems: dict[str, list[str]] = {}
    for stem in sorted(word for word in every if not any(other in word for other in every - {word})):
        stems.setdefault("pass" if "pass" in stem else stem, []).append(stem)
    return NamePatterns(
        stems=stems,
        name=re.compile(rf"(?:{words}|key|_pass)(?:_?[0-9]{{1,2}}|_(?:{endings}))?(?![a-z0-9_])"),
        before_key=re.compile(rf"(?:{keys}|{whole})[ _.-]?\Z"),
        before_pass=re.compile(rf"(?:{passes})\Z"),
        weak_key=re.compile(rf"(?:{whole})[ _.-]?\Z"),
        types=frozenset(data["types"]),
    )
