"""What a failure shows, as far as others may show the same: a key that is equal for equals, and words for the like."""

from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from errata.buckets.failure import FailureToGroup
from errata.buckets.rules import OF_ONE_CASE, limit_of, says_all, says_something
from errata.buckets.similarity import masked, with_equal_digits, words_of
from errata.model.words import Phase
from errata.text.clean import one_line

KEY = 160
_PHASES: frozenset[str] = frozenset(get_args(Phase))
_ANY_ERROR = frozenset(
    f"{name}Error"
    for name in ("", "Assertion", "Attribute", "IO", "Index", "Key", "Name", "OS", "Runtime", "Type", "Value")
)
"""Error classes that carry no information."""
_MACHINERY = frozenset(("budget", "provider", "environment", "harness", "simulator", "collateral"))


Kind = Literal["cluster", "signal", "text", "answer", "bare"]


class Symptom(NamedTuple):
    suite: str
    owner: str
    scoring: bool
    """It showed while the answer was measured."""
    signal: str
    key: str
    """Later failures are recognised by it."""
    kind: Kind
    """What the key is made of. `answer`: of an answer and the expected one. `bare` ones have no words to compare: what
    they share is only where it happened."""
    shape: str
    """The masked text it is identified by; empty where no text carries information."""
    words: tuple[str, ...]
    """What is compared. What a subject does wrong is mostly wrong in the same way in the same case, so that the case is
    a word, too."""

    @property
    def block(self) -> tuple[str, str, str]:
        """Only groups of the same block are compared."""
        return (self.suite, self.owner, "scoring" if self.scoring else "")

    @property
    def is_compared(self) -> bool:
        """Its key does not say all, and it has words."""
        return self.kind == "text" and bool(self.words)

    @property
    def names_cause(self) -> bool:
        """Its key is a cause by itself, and not only a text or the place where it failed."""
        return self.kind in ("cluster", "signal", "answer")


class _TextsShow(NamedTuple):
    """What the texts of a failure show, whatever its case, owner and answer."""

    phase: str
    is_error: bool
    checks: tuple[str, ...]
    words: tuple[str, ...]
    shape: str
    is_opaque: bool
    """They say something, in no words that could be compared."""


def symptom_of(failure: FailureToGroup) -> Symptom:
    coarse = failure.key.coarse
    # the names of checks are searched for in the texts, and they may have digits
    has_digits = any(map(str.isdigit, coarse))
    texts = failure.texts if has_digits else tuple([with_equal_digits(text) for text in failure.texts])
    shown = _show_texts(coarse, texts)
    words, checks, is_error = shown.words, shown.checks, shown.is_error
    is_compared_by_case = not is_error and failure.owner not in _MACHINERY and failure.case
    if not is_error and (keys := answer_keys(failure, checks)):
        return Symptom(failure.suite, failure.owner, False, failure.signal, keys[-1], "answer", "", ())
    kind_of_key, key = _key(failure, shown.shape, is_error=is_error, opaque=shown.is_opaque)
    return Symptom(
        suite=failure.suite,
        owner=failure.owner,
        scoring=shown.phase == "scoring",
        signal=failure.signal,
        key=key,
        kind=kind_of_key,
        shape=shown.shape,
        words=(*words, f"@{failure.case}") if words and is_compared_by_case else words,
    )


@lru_cache(maxsize=20_000)
def _show_texts(coarse: str, texts: tuple[str, ...]) -> _TextsShow:
    phase, _, kind = coarse.partition(":")
    is_error = phase in _PHASES and bool(kind)
    checks = () if is_error else tuple(coarse.split("+"))
    text, words = next(((text, words) for text in texts if (words := words_of(text, without=checks))), ("", ()))
    if is_error and kind not in _ANY_ERROR:
        words = tuple(sorted({*words, *words_of(kind)}))
    opaque = not words and _says_something(texts, checks)
    return _TextsShow(phase, is_error, checks, words, shape_of(text), opaque)


_COMPARISON = frozenset(("cmp", "comparison", "compar", "compare", "exact", "exactly", "correct", "incorrect", "grade"))
"""Words that say only that two answers were compared."""


def answer_keys(failure: FailureToGroup, checks: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Of a wrong answer that nothing else explains: by the difference, then by the pair itself where it is common."""
    answer = failure.answer
    if answer is None or failure.cluster or failure.signal or failure.owner in _MACHINERY:
        return ()
    known = {*words_of(answer.answered, answer.expected), *_COMPARISON}
    if any(word not in known for text in failure.texts for word in words_of(text, without=checks)):
        return ()
    factor = f" {answer.factor}" if answer.factor else ""
    difference = one_line(f"{failure.owner}:difference:{answer.difference}{factor}", KEY)
    return (difference, pair_key(failure)) if failure.is_common else (difference,)


def pair_key(failure: FailureToGroup) -> str:
    return one_line(f"{failure.owner}:answered:{failure.answer.pair}", KEY) if failure.answer else ""


def shape_of(text: str) -> str:
    return one_line(masked(text), KEY)


@lru_cache(maxsize=20_000)
def _line(text: str) -> str:
    return one_line(text, KEY)


def _key(failure: FailureToGroup, shape: str, *, is_error: bool, opaque: bool) -> tuple[Kind, str]:
    coarse = failure.key.coarse
    if failure.cluster:
        return "cluster", f"cluster:{failure.cluster}"
    if limit := limit_of(failure.signal, failure.parameters.get("limit", "")):
        return "signal", f"limit:{limit}"
    if says_all(failure.signal):
        return "signal", f"signal:{failure.signal}"
    if is_error:
        return "text", failure.key.exact
    if shape:
        return "text", _line(f"{failure.owner}:{coarse}:{shape}")
    if says_something(failure.signal):
        case = f"@{failure.case}" if failure.signal in OF_ONE_CASE else ""
        return "bare", one_line(f"signal:{failure.signal}{case}", KEY)
    # the texts can't be compared, so only the case identifies it; or there is no text at all
    case = f":@{failure.case}" if opaque else ""
    first = failure.parameters.get("step") or coarse
    return "bare", one_line(f"{failure.owner}:{failure.signal}:{first}{case}", KEY)


def _says_something(texts: tuple[str, ...], checks: tuple[str, ...]) -> bool:
    """More than `tests failed (60%)`, though in no words that could be compared."""
    names = [check.lower() for check in checks if check]
    return any(any(map(str.isalpha, text)) and not any(name in text.lower() for name in names) for text in texts)
