"""Whether a recommendation has been carried out already, so that it is reported as done and not made again."""

from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from errata.memory.effects import same_case
from errata.memory.spelling import ends_alike, segments
from errata.model import Action
from errata.model.prior_report import PriorRecommendation, PriorReport
from errata.text.lazy_regex import lazy_regex

SHARE = 0.5
"""The share of the significant words that two texts need in common, if nothing else shows that they are the same."""
SHARE_OF_A_CASE = 0.4
"""Less, where both are about the same case or file."""
FEWEST = 2
_WORD = lazy_regex(r"[^\W\d_]{3,}")
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
    text: str, actions: Iterable[Action], *, cases: Sequence[str] = (), path: str = ""
) -> Action | None:
    """The newest action that is the recommended change: two of the same case, the same file and the same words."""
    for action in sorted(actions, key=lambda one: one.date, reverse=True):
        shared = word_overlap(text, f"{action.what} {action.path}")
        is_its_case = any(same_case(case, other) for case in cases for other in action.addresses)
        is_its_file = bool(path) and _same_file(path, action.path)
        if is_its_case and (is_its_file or shared >= SHARE_OF_A_CASE):
            return action
        may_be_it = not cases or not action.addresses
        if may_be_it and ((is_its_file and shared >= SHARE_OF_A_CASE) or shared >= SHARE):
            return action
    return None


def times_recommended(text: str, reports: Iterable[PriorReport], *, cases: Sequence[str] = ()) -> int:
    """In how many reports the same was recommended."""
    return sum(any(_is_same(text, cases, one) for one in report.recommendations) for report in reports)


def _is_same(text: str, cases: Sequence[str], other: PriorRecommendation) -> bool:
    is_its_case = any(ends_alike(segments(case), segments(name)) for case in cases for name in other.cases)
    if cases and other.cases and not is_its_case:
        return False
    return word_overlap(text, other.text) >= (SHARE_OF_A_CASE if is_its_case else SHARE)


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
