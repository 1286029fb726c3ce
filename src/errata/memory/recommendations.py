"""Whether a recommendation has been carried out already, so that it is reported as done and not made again."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from errata.memory.effects import same_case
from errata.model import Action

SHARE = 0.5
"""The share of the significant words that two texts need in common, if nothing else shows that they are the same."""
SHARE_OF_A_CASE = 0.25
"""Less, where both are about the same case."""
FEWEST = 2
_WORD = re.compile(r"[^\W\d_]{3,}")
_CONFIG = re.compile(r"(?i)lint|config|prettier|\.toml$|\.ya?ml$|\.rc$|tsconfig|runner|harness")
_EVAL = re.compile(r"(?i)task|grader|test|eval|answer|prompt|guideline|fixture")
_KINDS = {"config": _CONFIG, "eval": _EVAL}
_EMPTY = frozenset(
    _WORD.findall(
        "the and for that this with now not its are was has have say says said what when where which who will would "
        "should can could may might must into from than then them they there their these those all any also only one "
        "two more some such very same other another make makes made use uses used add adds added change "
        "changes changed"  # words: quoted
    )
)
"""Words that carry no information about the action."""


def find_action_for(
    text: str, actions: Iterable[Action], *, group: str = "", cases: Sequence[str] = (), path: str = ""
) -> Action | None:
    """The newest action that carries a recommendation out: of the same file, or of the same case and kind or words."""
    for action in sorted(actions, key=lambda one: one.date, reverse=True):
        shared = word_overlap(text, f"{action.what} {action.path}")
        is_its_case = any(same_case(case, other) for case in cases for other in action.addresses)
        if path and _same_file(path, action.path) and (is_its_case or not cases or not action.addresses):
            return action
        if is_its_case and (_is_of_kind(group, action) or shared >= SHARE_OF_A_CASE):
            return action
        if not cases and shared >= SHARE:
            return action
    return None


def word_overlap(left: str, right: str) -> float:
    """How many of the telling words of the shorter text the other has, too; a word inside of another is the same."""
    here, there = sorted((_content_words(left), _content_words(right)), key=len)
    shared = sum(any(_same_word(word, known) for known in there) for word in here)
    return shared / len(here) if shared >= FEWEST else 0.0


def _content_words(text: str) -> set[str]:
    return {word for word in map(str.lower, _WORD.findall(text)) if word not in _EMPTY}


def _same_word(left: str, right: str) -> bool:
    """`lint` and `eslint`, `config` and `configuration`, `ignore` and `ignores`."""
    short, long = sorted((left, right), key=len)
    return short == long or (len(short) >= 4 and short in long)


def _same_file(left: str, right: str) -> bool:
    here, there = PurePosixPath(left).parts, PurePosixPath(right).parts
    size = min(len(here), len(there))
    return size > 0 and here[-size:] == there[-size:]


def _is_of_kind(group: str, action: Action) -> bool:
    kind = _KINDS.get(group)
    return kind is not None and bool(action.path) and kind.search(action.path) is not None
