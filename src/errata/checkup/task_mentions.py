"""Which tasks the checks and ids of a row name, to find rows that carry another task's."""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

import msgspec

from errata.model import Attempt, Case, SourceRef, case_key
from errata.text.lazy_regex import lazy_regex

TEXT = 1_000
_PIECE = lazy_regex(r"[\s:;,()\[\]{}\"'`=|<>]+")
_TEST = lazy_regex(r"^tests?[-_]|[-_]tests?$")
_WORD = 5
_ID_FIELD = lazy_regex(r"(?i)(?:task|instance|problem|question|case|sample|item|example|exercise|eval)[_-]?(?:id|name)")
_BESIDE = ("columns", "metadata", "testCase")


Texts = tuple[tuple[str, tuple[str, ...]], ...]
"""Each text with the words in it that may be the id of a task."""


class TaskMention(msgspec.Struct, frozen=True):
    """What the checks and ids of a row name."""

    case: str
    texts: Texts
    ref: SourceRef | None

    def of_another(self, suite: str, is_case: Callable[[str], bool]) -> tuple[str, str] | None:
        """The key of another task and the text that names it; none where the row names its own task, too."""
        own = self.case.removeprefix(f"{suite}/") if suite else self.case
        for text, words in self.texts:
            key = next((key for word in words if (key := case_key(suite, word)) != self.case and is_case(key)), None)
            if key is not None:
                return None if any(_folded(own) in _folded(text) for text, _ in self.texts) else (key, text)
        return None


def mention_in_row(attempt: Attempt) -> TaskMention | None:
    texts = [(check.name, words) for check in attempt.checks if (words := _words(check.name))]
    if attempt.extra:
        texts += [(f"{name}: {value}", (value,)) for name, value in _ids(attempt.extra)]
    return TaskMention(attempt.case, tuple(texts), attempt.ref) if texts else None


def mention_in_case(case: Case) -> TaskMention | None:
    """The same for what the case itself holds: assertions, and the paths of its grader and reference."""
    # a text is the right answer, not an assertion
    assertions = "" if isinstance(case.expected, str) else repr(case.expected or "")[:TEXT]
    paths = [one.path for one in case.artefacts if one.role in ("grader", "expected")]
    texts = [(text, words) for text in (assertions, *paths) if (words := _words(text))]
    texts += [(f"{name}: {value}", (value,)) for name, value in _ids(case.extra)]
    return TaskMention(case.key, tuple(texts), case.ref) if texts else None


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "-", text.lower())


@lru_cache(maxsize=20_000)
def _words(text: str) -> tuple[str, ...]:
    """Words that may be the id of a task: with a digit or a separator in them, or the name of a test's file."""
    words: dict[str, None] = {}
    for piece in _PIECE.split(text[:TEXT]):
        segments = piece.split("/")
        candidates = [piece, *("/".join(pair) for pair in pairwise(segments)), *segments]
        for word in candidates:
            stem = word.rpartition(".")[0] or word
            for spelt in (word, stem):
                bare = _TEST.sub("", spelt)
                if len(bare) >= _WORD and (bare != spelt or re.search(r"[\d_\-/.]", bare)) and not bare.isdecimal():
                    words |= dict.fromkeys((spelt, bare, bare.replace("_", "-"), bare.replace("-", "_")))
    return tuple(words)


def _ids(extra: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields such as `task_id` that hold the id of a task, as a text: numbers of other things look the same."""
    for fields in (extra, *(extra[name] for name in _BESIDE if isinstance(extra.get(name), dict))):
        for name, value in fields.items():
            if isinstance(value, str) and value and not value.isdecimal() and _ID_FIELD.fullmatch(str(name)):
                yield str(name), value
