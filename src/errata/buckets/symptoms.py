"""What a failure shows, as far as others may show the same: a key that is equal for equals, and words for the like."""

from functools import lru_cache
from typing import Literal, NamedTuple, get_args

from errata.buckets.failure import FailureToGroup
from errata.buckets.rules import OF_ONE_CASE, limit_of, says_all, says_something
from errata.buckets.similarity import masked, with_equal_digits, words_of
from errata.model.words import Phase
from errata.text.clean import one_line

KEY = 160
_PHASES: frozenset[str] = frozenset(filter(None, get_args(Phase)))
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
    coarse, parameters = failure.key.coarse, failure.parameters
    # the names of checks are searched for in the texts, and they may have digits
    texts = failure.texts if _has_digits(coarse) else tuple([with_equal_digits(text) for text in failure.texts])
    if failure.answer is not None:
        shown = _show_texts(coarse, texts)
        if not shown.is_error and (keys := answer_keys(failure, shown.checks)):
            return Symptom(failure.suite, failure.owner, False, failure.signal, keys[-1], "answer", "", ())
    place = (parameters.get("limit", ""), parameters.get("step", ""))
    cause = (failure.suite, failure.owner, failure.signal, failure.cluster)
    return _symptom(*cause, coarse, failure.key.exact, texts, failure.case, *place)


@lru_cache(maxsize=1_000)
def _has_digits(coarse: str) -> bool:
    return any(map(str.isdigit, coarse))


@lru_cache(maxsize=20_000)
def _symptom(
    suite: str,
    owner: str,
    signal: str,
    cluster: str,
    coarse: str,
    exact: str,
    texts: tuple[str, ...],
    case: str,
    limit: str,
    step: str,
) -> Symptom:
    """Failures of a case mostly differ in numbers only: their symptom is made once."""
    shown = _show_texts(coarse, texts)
    words, is_error, shape = shown.words, shown.is_error, shown.shape
    is_compared_by_case = not is_error and owner not in _MACHINERY and case
    kind: Kind
    if cluster:
        kind, key = "cluster", f"cluster:{cluster}"
    elif reached := limit_of(signal, limit):
        kind, key = "signal", f"limit:{reached}"
    elif says_all(signal):
        kind, key = "signal", f"signal:{signal}"
    elif is_error:
        kind, key = "text", exact
    elif shape:
        kind, key = "text", _line(f"{owner}:{coarse}:{shape}")
    elif says_something(signal):
        kind, key = "bare", one_line(f"signal:{signal}{f'@{case}' if signal in OF_ONE_CASE else ''}", KEY)
    else:
        # the texts can't be compared, so only the case identifies it; or there is no text at all
        where = f":@{case}" if shown.is_opaque else ""
        kind, key = "bare", one_line(f"{owner}:{signal}:{step or coarse}{where}", KEY)
    return Symptom(
        suite=suite,
        owner=owner,
        scoring=shown.phase == "scoring",
        signal=signal,
        key=key,
        kind=kind,
        shape=shape,
        words=(*words, f"@{case}") if words and is_compared_by_case else words,
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


def _says_something(texts: tuple[str, ...], checks: tuple[str, ...]) -> bool:
    """More than `tests failed (60%)`, though in no words that could be compared."""
    names = [check.lower() for check in checks if check]
    return any(any(map(str.isalpha, text)) and not any(name in text.lower() for name in names) for text in texts)
